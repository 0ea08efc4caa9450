"""The page of a guard: a verdict for each model, what changed since its baseline, the remedy."""

from rnnbounds.reports.pages.model.guard import guard_page, render_guard_page
from rnnbounds.reports.records.guarded import GuardResults, ModelOutcome

FINE = ModelOutcome(name="fine", line="certified", lam=0.5, k=3, verdict="certified")


def page_of(*outcomes):
    """The page of these outcomes, which renders."""
    found = GuardResults(finished="2026-11-21T10:00:00+00:00", outcomes=outcomes)
    return guard_page(found), render_guard_page(found).decode()


def test_a_model_that_is_not_read_has_no_page():
    """It fails, and no link leads to what was not written."""
    gone = ModelOutcome(name="gone", line="m is not judged", problems=("m: no file",), unread=True)
    page, html = page_of(FINE, gone)
    assert page.failed
    assert page.sections[0].blocks[0].rows[0][1].word == "not read"
    assert "gone/index.html" not in html
    assert "m: no file." in html


def test_names_are_text():
    """Of a model, in a link, too."""
    page_of(FINE)
    name = '"><script>alert(1)</script>'
    _, html = page_of(ModelOutcome(name=name, line="x"))
    assert html.count("<script>") == 1
    assert "%22%3E%3Cscript" in html
