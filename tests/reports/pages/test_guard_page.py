"""The page of a guard: a verdict for each model, what changed since its baseline, the remedy."""

from rnnbounds.reports.pages.experiment import Code, Table
from rnnbounds.reports.pages.guard_page import guard_page, render_guard
from rnnbounds.reports.records.changes import Changes, change
from rnnbounds.reports.records.guarded import Guarded, Outcome

CHANGES = Changes(old="a", new="b", rows=(change("regressed", "lstm", "λ", "0.5", "0.75"),))
FINE = Outcome(name="fine", line="certified", lam=0.5, k=3, verdict="certified")
WORSE = Outcome(
    name="worse & slower", line="certified", lam=0.75, k=9, verdict="certified", changes=CHANGES,
    problems=("since main.json: lstm: λ: 0.5 → 0.75", "ε = 0.1 needs the last 9 inputs"),
    advice=("if this is intended, write it anew: rnnbounds guard worse --update",),
)  # fmt: skip


def page_of(*outcomes):
    """The page of these outcomes, which renders."""
    found = Guarded(finished="2026-11-21T10:00:00+00:00", outcomes=outcomes)
    return guard_page(found), render_guard(found).decode()


def test_a_failing_model_leads():
    """In colour, before those that pass; what changed is a table and is said once."""
    page, html = page_of(FINE, WORSE)
    assert (page.verdict.word, page.verdict.tone, page.failed) == (
        "1 of 2 models fails",
        "bad",
        True,
    )
    overview, worse, fine = page.sections
    assert [(row[0], row[1].tone) for row in overview.blocks[0].rows] == [
        ("worse & slower", "bad"), ("fine", "good"),
    ]  # fmt: skip
    assert html.count("0.5 → 0.75") == 0
    assert "ε = 0.1 needs the last 9 inputs." in html
    assert next(one for one in worse.blocks if isinstance(one, Table)).rows[0][0].tone == "bad"
    assert [one.text for one in worse.blocks if isinstance(one, Code)] == [
        "rnnbounds guard worse --update"
    ]
    assert "If this is intended, write it anew:" in html
    assert '<a href="fine/index.html">fine</a>' in html
    assert "worse &amp; slower" in html
    assert fine.title == "fine"


def test_a_model_that_is_not_read_has_no_page():
    """It fails, and no link leads to what was not written."""
    gone = Outcome(name="gone", line="m is not judged", problems=("m: no file",), unread=True)
    page, html = page_of(FINE, gone)
    assert page.failed
    assert page.sections[0].blocks[0].rows[0][1].word == "not read"
    assert "gone/index.html" not in html
    assert "m: no file." in html


def test_all_pass():
    """Green, and the date of the run."""
    page, html = page_of(FINE)
    assert (page.verdict.word, page.verdict.tone, page.failed) == ("all pass", "good", False)
    assert page.kicker.endswith("2026-11-21")
    assert 'class="masthead fails"' not in html


def test_names_are_text():
    """Of a model, in a link, too."""
    page_of(FINE)
    name = '"><script>alert(1)</script>'
    _, html = page_of(Outcome(name=name, line="x"))
    assert html.count("<script>") == 1
    assert "%22%3E%3Cscript" in html
