"""The first sentences of the page claim no more than the run did."""

from msgspec.structs import replace

from rnnbounds.reports.pages.run.headline import lead_paragraph
from rnnbounds.reports.pages.run.summary import summarise_run
from rnnbounds.reports.records.checks.tally import Tally


def test_vacuous_checks_are_no_evidence(run):
    """They are counted apart from those that were judged, in the lead and at a glance."""
    claims = tuple(replace(one, tally=Tally(holds=5, vacuous=1_000)) for one in run.claims)
    passing = replace(run, claims=claims)
    told = lead_paragraph(passing, False)
    assert f"Attack: {5 * len(claims)} checks on " in told
    assert f"{1_000 * len(claims):,} more are vacuous, which is no evidence." in told
    assert f"{5 * len(claims)} checks" in summarise_run(passing).judged
    bare = replace(run, claims=tuple(replace(one, tally=Tally(holds=5)) for one in run.claims))
    assert "vacuous" not in lead_paragraph(bare, False)
