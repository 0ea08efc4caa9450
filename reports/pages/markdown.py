"""A run in a screenful of Markdown: the summary of a job, a comment on a change."""

from rnnbounds.reports.pages.text import NOTHING, ratio_text
from rnnbounds.reports.records.changes import Changes, escape_markdown, shorten
from rnnbounds.reports.records.outcome import run_problems
from rnnbounds.reports.records.record import ClaimRecord, Run
from rnnbounds.reports.words import count, plural

SHOWN = 20  # problems; the record has all
HEADS = ("claim", "proof", "holds", "violated", "undecided", "tightest lhs/rhs", "refuted")


def markdown(run: Run, changes: Changes | None = None) -> str:
    """The verdict, what changed since a baseline, what fails, and a row for each claim."""
    failures = run_problems(run)
    verdict = "all bounds hold" if not failures else plural(len(failures), "problem")
    if changes is not None and changes.failing:
        verdict += (
            f"{', but' if not failures else ','} {plural(len(changes.failing), 'regression')}"
        )
    checks = plural(sum(claim.checks for claim in run.claims), "check")
    conditions = f"profile {run.profile}, seed {run.seed}"
    lines = [
        f"## rnnbounds: {verdict}",
        "",
        f"{plural(len(run.claims), 'claim')}, {checks}, {escape_markdown(conditions)}.",
        "",
    ]
    if changes is not None:
        lines += ["### What changed", "", changes.markdown]
    if failures:
        lines += [
            "### What fails",
            "",
            *(f"- {escape_markdown(shorten(line))}" for line in failures[:SHOWN]),
        ]
        lines += [f"- and {len(failures) - SHOWN} more"] if len(failures) > SHOWN else []
        lines.append("")
    lines += [f"| {' | '.join(HEADS)} |", "|" + "---|" * len(HEADS)]
    lines += [f"| {' | '.join(map(escape_markdown, _claim_row(claim)))} |" for claim in run.claims]
    return "\n".join((*lines, ""))


def _claim_row(claim: ClaimRecord) -> tuple[str, ...]:
    tally, best = claim.tally, claim.best_ratio
    refuted = sum(variant.convicted for variant in claim.variants)
    return (
        shorten(claim.id),
        claim.standing,
        *map(count, (tally.holds, tally.violated, tally.undecided)),
        NOTHING if best is None else ratio_text(best),
        f"{refuted} of {len(claim.variants)}",
    )
