"""The summary of a run in Markdown."""

import re

from msgspec.structs import replace

from rnnbounds.reports.pages.run import markdown, render_run
from rnnbounds.reports.records.changes import Changes, make_change
from rnnbounds.reports.records.checks import Tally
from rnnbounds.reports.records.outcome import run_problems

HOSTILE = (
    "<script>alert(1)</script>|\n# \x1b[31m[x](javascript:alert(1)) `_*"
    " https://evil.example WWW.evil.example a@b.example"
)


def test_a_run_that_holds_and_regresses(run):
    """The head says so, here and on the page."""
    row = make_change("regressed", "truncation", "proof", "proved", "not proved")
    changes = Changes(old="a", new="b", rows=(row,))
    head = "## rnnbounds: all bounds hold, but 1 regression\n"
    assert markdown(run, changes).startswith(head)
    page = render_run(run, changes).decode()
    reason = "regressed: truncation: proof: proved → not proved"
    assert f"<title>FAILS · rnnbounds: This run fails: {reason}.</title>" in page
    assert f"<li>{reason}" in page
    improved = replace(changes, rows=(replace(row, kind="improved"),))
    assert markdown(run, improved).startswith("## rnnbounds: all bounds hold\n")
    holds = render_run(run, improved).decode()
    assert "FAILS" not in holds
    checks = sum(claim.tally.total - claim.tally.vacuous for claim in run.claims)
    verdict = f"All 3 bounds hold: {checks // 10**5 / 10} million checks, none violated, every"
    assert f"{verdict} planted mistake was found.</h1>" in holds


def test_a_run_that_fails(run):
    """What fails, cut at a screenful; and what changed since the baseline."""
    claims = tuple(
        replace(run.claims[0], id=f"claim-{number}", tally=Tally(holds=1, violated=1), forms=())
        for number in range(30)
    )
    bad = replace(run, claims=claims)
    row = make_change("regressed", "claim-1", "verdict", "holds", "violated")
    told = markdown(bad, Changes(old="a", new="b", rows=(row,)))
    assert f"{len(run_problems(bad))} problems" in told
    assert "- claim-0: 1 check VIOLATED" in told
    assert f"- and {len(run_problems(bad)) - 20} more" in told
    assert "| regressed | claim-1: verdict | holds | violated |" in told


def test_hostile_strings_are_text(run):
    """No tag, no link, no cell and no line more."""
    claim = replace(run.claims[0], id=HOSTILE, tally=Tally(violated=1))
    bad = replace(run, claims=(claim,), profile=HOSTILE, missing_parts=(HOSTILE,))
    told = markdown(bad)
    assert not set("<[`\x1b@") & set(told)
    assert not re.search(r"(?i)://|www\.", told)
    assert "https&#58;//evil.example WWW&#46;evil.example" in told
    assert "missing://x" not in markdown(run, Changes(old="missing://x", new="b"))
    assert told.splitlines()[-1].count("|") == 8
    assert len(markdown(replace(bad, claims=(replace(claim, id="x" * 10**6),)))) < 20_000
