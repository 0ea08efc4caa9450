"""A run in a screenful of Markdown: the summary of a job, a comment on a change."""

from rnnbounds.reports.pages.text import NOTHING, ratio
from rnnbounds.reports.records.changes import Changes, cut, escaped
from rnnbounds.reports.records.outcome import problems
from rnnbounds.reports.records.record import ClaimRecord, Run
from rnnbounds.reports.words import count, plural

SHOWN = 20  # problems; the record has all
HEADS = ("claim", "proof", "holds", "violated", "undecided", "tightest lhs/rhs", "refuted")


def markdown(run: Run, changes: Changes | None = None) -> str:
    """The verdict, what changed since a baseline, what fails, and a row for each claim."""
    found = problems(run)
    verdict = "all bounds hold" if not found else plural(len(found), "problem")
    if changes is not None and changes.failing:
        verdict += f"{', but' if not found else ','} {plural(len(changes.failing), 'regression')}"
    checks = plural(sum(claim.checks for claim in run.claims), "check")
    about = f"profile {run.profile}, seed {run.seed}"
    lines = [
        f"## rnnbounds: {verdict}",
        "",
        f"{plural(len(run.claims), 'claim')}, {checks}, {escaped(about)}.",
        "",
    ]
    if changes is not None:
        lines += ["### What changed", "", changes.markdown]
    if found:
        lines += ["### What fails", "", *(f"- {escaped(cut(line))}" for line in found[:SHOWN])]
        lines += [f"- and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
        lines.append("")
    lines += [f"| {' | '.join(HEADS)} |", "|" + "---|" * len(HEADS)]
    lines += [f"| {' | '.join(map(escaped, _row(claim)))} |" for claim in run.claims]
    return "\n".join((*lines, ""))


def _row(claim: ClaimRecord) -> tuple[str, ...]:
    tally, best = claim.tally, claim.best_ratio
    convicted = sum(variant.convicted for variant in claim.variants)
    return (
        cut(claim.id),
        claim.basis,
        *map(count, (tally.holds, tally.violated, tally.undecided)),
        NOTHING if best is None else ratio(best),
        f"{convicted} of {len(claim.variants)}",
    )
