"""A record that contradicts itself is not taken for a pass, since that could hide a failure.

A contradiction does not say that the run fails; it says that not all of the record can be true.
"""

from collections.abc import Iterable, Iterator

from rnnbounds.reports.records.checks.tally import Tally
from rnnbounds.reports.records.number import is_finite
from rnnbounds.reports.records.record import Check, ClaimRecord, Run, VariantRecord

OTHER_PARTS = ("proof", "sabotage")  # the parts of a claim beside its attacks


def find_contradictions(run: Run) -> list[str]:
    """Every contradiction in a record, one line each."""
    lines = [*_duplicate_lines("claims", (claim.id for claim in run.claims)), *_part_lines(run)]
    for claim in run.claims:
        lines += [f"{claim.id}: {line}" for line in find_claim_contradictions(claim)]
    return [*lines, *_matrix_lines(run)]


def find_claim_contradictions(claim: ClaimRecord) -> Iterator[str]:
    """The contradictions within what is told of one claim."""
    yield from _duplicate_lines("forms", (form.name for form in claim.forms))
    yield from _duplicate_lines("ledgers", (ledger.form for ledger in claim.ledgers))
    yield from _duplicate_lines("false variants", (variant.id for variant in claim.variants))
    total = Tally()
    for form in claim.forms:
        total = total.merge(form.tally)
    if claim.forms and total != claim.tally:
        yield f"the forms count {_tally_text(total)}, but the tally {_tally_text(claim.tally)}"
    if claim.tally.total != claim.checks:
        yield f"{claim.tally.total} checks, but {claim.checks} elsewhere"
    yield from _check_lines(claim)
    for variant in claim.variants:
        yield from _variant_lines(variant, claim)


def _check_lines(claim: ClaimRecord) -> Iterator[str]:
    """Checks, ratios and a histogram that fail, where the tally counts no failure."""
    nearest = [check for form in claim.forms for check in form.nearest]
    worst = [] if claim.worst is None else [claim.worst]
    checks = [*claim.tightest, *claim.failing, *nearest, *worst]
    tally = claim.tally
    for verdict, count in (("VIOLATED", tally.violated), ("UNDECIDED", tally.undecided)):
        if not count and any(check.verdict == verdict for check in checks):
            yield f"a check is {verdict}, but the tally counts none"
    relations = {form.name: _only_relation(form.text) for form in claim.forms}
    if not all(_can_hold(check, relations.get(check.form, "")) for check in checks):
        yield "a check HOLDS without finite numbers, or with the larger side on the left"
    histogram = claim.histogram
    bins = zip(histogram.edges, histogram.counts[1:], strict=True)
    if sum(count for edge, count in bins if edge >= 1) > tally.violated:
        yield "more checks have a ratio above 1 than are VIOLATED"
    reached = [ratio for form in claim.forms for ratio in (form.best_ratio, *form.reached.values())]
    ratios = [*reached, *(attack.best_ratio for attack in claim.attacks.values())]
    if not all(ratio is None or float(ratio) <= 1 for ratio in ratios):
        yield "a greatest ratio of checks that hold is above 1"


def _variant_lines(variant: VariantRecord, claim: ClaimRecord) -> Iterator[str]:
    if variant.convicted and variant.attack is None:
        yield f"the false variant {variant.id} is refuted, but by no attack"
    found = variant.counterexample
    if found is not None and (found.verdict, found.claim) != ("VIOLATED", claim.id):
        yield f"the counter-example to {variant.id} does not violate it"


def _part_lines(run: Run) -> Iterator[str]:
    if not run.expected_parts:
        return
    works = (*OTHER_PARTS, *run.attacks)
    if set(run.expected_parts) != {f"{claim.id}/{work}" for claim in run.claims for work in works}:
        yield "the expected parts are not those of the claims and attacks"
    for claim in run.claims:
        reported = {"sabotage", *claim.attacks, *(("proof",) if claim.ledgers else ())}
        yield from (
            f"{claim.id}/{work} has no results, and is not said to be missing"
            for work in works
            if work not in reported and f"{claim.id}/{work}" not in run.missing_parts
        )


def _matrix_lines(run: Run) -> Iterator[str]:
    entries = () if run.matrix is None else run.matrix.entries
    failing = {e.claim for e in entries if e.tally.violated or e.tally.undecided}
    for claim in run.claims:
        if claim.id in failing and not claim.tally.violated + claim.tally.undecided:
            yield f"the matrix counts checks of {claim.id} that fail, but its tally none"


def _duplicate_lines(collection: str, names: Iterable[str]) -> Iterator[str]:
    all_names = list(names)
    yield from (f"{name} is twice among the {collection}"
                for name in dict.fromkeys(all_names) if all_names.count(name) > 1)  # fmt: skip


def _only_relation(statement: str) -> str:
    """The relation that a statement is, if it names one alone; else empty."""
    relations = [symbol for symbol in ("<=", "<", "==", "!=") if f" {symbol} " in statement]
    return relations[0] if len(relations) == 1 else ""


def _tally_text(tally: Tally) -> str:
    counts = (tally.holds, tally.violated, tally.undecided, tally.vacuous)
    return "/".join(map(str, counts))


def _can_hold(check: Check, relation: str) -> bool:
    """True unless a check HOLDS against its own numbers, each known to within its error."""
    if check.verdict != "HOLDS":
        return True
    sides = (check.lhs, check.lhs_error, check.rhs, check.rhs_error)
    if not all(map(is_finite, sides)):
        return False
    lhs, lhs_error, rhs, rhs_error = map(float, sides)
    if relation in ("<=", "<") and lhs - lhs_error > rhs + rhs_error:
        return False
    return check.ratio is None or (is_finite(check.ratio) and float(check.ratio) <= 1)
