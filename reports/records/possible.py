"""Numbers that no run can have seen: time that runs backwards, an error below 0, bins in no order.

As in `reports.records.consistency`, nothing here says that a run fails.
"""

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise

from rnnbounds.reports.records.number import is_finite
from rnnbounds.reports.records.record import Check, ClaimRecord, Environment, FormRecord, Histogram

CLOCK_TOLERANCE = 1.0  # seconds: both times are told without their fractions


def impossible_times(environment: Environment) -> Iterator[str]:
    """Yield a line for each duration or time that no clock can show; empty times are unknown."""
    for part, seconds in (("the run", environment.seconds), *environment.durations.items()):
        if not 0 <= seconds < math.inf:
            yield f"{part} took {seconds} seconds"
    times = [parse_time(text) for text in (environment.started, environment.finished)]
    for text, time in zip((environment.started, environment.finished), times, strict=True):
        if text and time is None:
            yield f"{text[:40]!r} is no time"
    start, end = times
    if start is None or end is None:
        return
    elapsed = (end - start).total_seconds()
    if elapsed < 0:
        yield f"it finished at {environment.finished}, before it started"
    elif not abs(elapsed - environment.seconds) <= CLOCK_TOLERANCE:
        yield f"it took {environment.seconds} seconds, but ended {elapsed:g} after its start"


def impossible_numbers(claim: ClaimRecord) -> Iterator[str]:
    """Yield a line for each number of a claim's checks that no measurement can give."""
    shown_checks = [
        *claim.tightest,
        *claim.failing,
        *(c for form in claim.forms for c in form.nearest),
    ]
    counterexamples = [variant.counterexample for variant in claim.variants]
    relations = {form.name: _only_relation(form.text) for form in claim.forms}
    for check in (*shown_checks, *([] if claim.worst is None else [claim.worst])):
        yield from _side_lines(check, relations.get(check.form, ""))
    for check in (check for check in counterexamples if check is not None):
        yield from _side_lines(check, "")  # of a statement that is another one
    yield from _bin_lines(claim.histogram, claim)
    for form in claim.forms:
        yield from _form_lines(form, claim.histogram)
    for name, attack in claim.attacks.items():
        if not attack.systems <= attack.pairs <= attack.checks:
            yield f"the {name} attack saw more systems than pairs, or more pairs than checks"


def _only_relation(statement: str) -> str:
    """The relation that a statement is, if it names one alone; else empty."""
    relations = [symbol for symbol in ("<=", "<", "==", "!=") if f" {symbol} " in statement]
    return relations[0] if len(relations) == 1 else ""


def parse_time(text: str) -> datetime | None:
    """A time as ISO 8601 writes it, UTC unless it says another zone; None for any other text."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _side_lines(check: Check, relation: str) -> Iterator[str]:
    """Each side is within its error of its number: these intervals, and their ratio, are compared
    with the verdict. Rounding is monotone, so that what was so before it is so after it."""
    lhs, lhs_error, rhs, rhs_error = map(
        float, (check.lhs, check.lhs_error, check.rhs, check.rhs_error)
    )
    if lhs_error < 0 or rhs_error < 0:
        yield "a check has an error below 0"
    elif relation in ("<=", "<"):
        if check.verdict == "HOLDS" and lhs - lhs_error > rhs + rhs_error:
            yield "a check HOLDS, but its left side is the larger one"
        if check.verdict == "VIOLATED" and lhs + lhs_error < rhs - rhs_error:
            yield "a check is VIOLATED, but its left side is the smaller one"
    if is_finite(check.ratio) and 0 <= lhs < math.inf and 0 < rhs < math.inf:
        low, high = lhs / (rhs + rhs_error), (lhs + lhs_error) / rhs
        if check.verdict == "HOLDS":  # the upper ends may overlap, as their ratio does not
            low, high = min(low, 1.0), min(high, 1.0)
        if not low <= float(check.ratio or 0) <= high:
            yield "the ratio of a check is not that of its sides"


def _bin_lines(histogram: Histogram, claim: ClaimRecord) -> Iterator[str]:
    edges = histogram.edges
    if not all(a < b for a, b in pairwise((-math.inf, *edges, math.inf))):
        yield "the edges of its histogram are in no order"
    elif _count_above_one(histogram, histogram.counts) > claim.tally.violated:
        yield "more checks have a ratio above 1 than are VIOLATED"
    if histogram.unmeasured < claim.tally.undecided:
        yield "an UNDECIDED check has a ratio"


def _count_above_one(histogram: Histogram, counts: tuple[int, ...]) -> int:
    """How many of the counts, one more than edges, are of ratios above 1."""
    return sum(count for edge, count in zip(histogram.edges, counts[1:], strict=False) if edge >= 1)


def _form_lines(form: FormRecord, histogram: Histogram) -> Iterator[str]:
    form_text = f"of the form {form.name}"
    if form.escalated > form.tally.total:
        yield f"more checks {form_text} were decided beyond float64 than there are"
    for counts in form.examples.values():
        if _count_above_one(histogram, counts) > form.tally.violated:
            yield f"more examples {form_text} have a ratio above 1 than checks are VIOLATED"
    cost = form.cost
    if cost is not None and not 0 <= float(cost.least) <= float(cost.greatest):
        yield f"the least cost {form_text} is above the greatest"
    points = () if form.curve is None else form.curve.points
    if not all(a.at < b.at for a, b in pairwise(points)):
        yield f"the curve {form_text} is not in increasing order"
    if not all(is_finite(side) and float(side) > 0 for p in points for side in (p.lhs, p.rhs)):
        yield f"the curve {form_text} has a side that is not above 0"
