"""Check redundant fields of a record for consistency: one that contradicts itself is no evidence.

Every count, ratio and verdict that follows from others is compared with them. A contradiction
does not mean that the run fails; it means that not all fields of the record can be true.
"""

from collections.abc import Iterable, Iterator

from rnnbounds.reports.records.checks.tally import Tally
from rnnbounds.reports.records.matrix import Entry, is_consistent_entry
from rnnbounds.reports.records.number import greatest_ratio, is_finite
from rnnbounds.reports.records.possible import impossible_numbers, impossible_times
from rnnbounds.reports.records.record import Check, ClaimRecord, Run, VariantRecord

OTHER_PARTS = ("proof", "sabotage")  # the parts of a claim beside its attacks


def find_contradictions(run: Run) -> list[str]:
    """Every contradiction in a record, one line each."""
    lines = [
        *_duplicate_lines("claims", (claim.id for claim in run.claims)),
        *_duplicate_lines("attacks", run.attacks),
        *_duplicate_lines("axioms", (axiom.name for axiom in run.axioms)),
        *_part_lines(run),
        *impossible_times(run.environment),
    ]
    axioms = {axiom.name for axiom in run.axioms}
    for claim in run.claims:
        claim_lines = [
            *find_claim_contradictions(claim),
            *_unlisted_lines(claim, run.attacks, axioms),
        ]
        lines += [f"{claim.id}: {line}" for line in claim_lines]
    return lines + list(_matrix_lines(run))


def find_claim_contradictions(claim: ClaimRecord) -> Iterator[str]:
    """The contradictions within what is told of one claim."""
    names = [form.name for form in claim.forms]
    yield from _duplicate_lines("forms", names)
    yield from _duplicate_lines("ledgers", (ledger.form for ledger in claim.ledgers))
    yield from _duplicate_lines("false variants", (variant.id for variant in claim.variants))
    for part, forms in (
        ("ledger", (ledger.form for ledger in claim.ledgers)),
        ("false variant", (variant.form for variant in claim.variants)),
    ):
        yield from (f"a {part} is of the form {f}, which the claim does not list"
                    for f in forms if f not in names)  # fmt: skip
    yield from _basis_lines(claim)
    yield from _count_lines(claim)
    yield from _ratio_lines(claim)
    yield from _example_lines(claim)
    yield from _check_lines(claim)
    yield from impossible_numbers(claim)
    for variant in claim.variants:
        yield from _variant_lines(variant, claim)


def _basis_lines(claim: ClaimRecord) -> Iterator[str]:
    """Yield a line for each form whose basis contradicts its proof or its assumptions."""
    ids = {form.name: form.ids for form in claim.forms}
    for ledger in claim.ledgers:
        if ledger.basis and not ledger.proved:
            yield f"the form {ledger.form} is not proved, and yet {ledger.basis}"
        if (ledger.basis in ("inclusion assumed", "restates")) != bool(ledger.presupposed):
            yield f"the form {ledger.form} does not name what it presupposes"
        if assumed := ids.get(ledger.form, ()):
            yield from (f"the form {ledger.form} presupposes {name!r}, which it does not assume"
                        for name in ledger.presupposed if name not in assumed)  # fmt: skip


def _count_lines(claim: ClaimRecord) -> Iterator[str]:
    sum_of_forms = Tally()
    for form in claim.forms:
        sum_of_forms = sum_of_forms.merge(form.tally)
    if claim.forms and sum_of_forms != claim.tally:
        yield (
            f"the forms count {_tally_text(sum_of_forms)}, but the tally {_tally_text(claim.tally)}"
        )
    attacks = claim.attacks.values()
    histogram = sum(claim.histogram.counts) + claim.histogram.unmeasured
    for field, actual, expected in (
        ("checks", claim.tally.total, claim.checks),
        ("checks of attacks", sum(attack.checks for attack in attacks), claim.checks),
        ("systems of attacks", sum(attack.systems for attack in attacks), claim.systems),
        ("pairs of attacks", sum(attack.pairs for attack in attacks), claim.pairs),
        ("escalations of forms", sum(form.escalated for form in claim.forms), claim.escalated),
        ("judged checks", claim.tally.total - claim.tally.vacuous, histogram),
        ("vacuous checks", claim.tally.vacuous, sum(claim.vacuous_by_assumption.values())),
    ):
        if actual != expected:
            yield f"{actual} {field}, but {expected} elsewhere"


def _ratio_lines(claim: ClaimRecord) -> Iterator[str]:
    for form in claim.forms:
        if form.reached and form.best_ratio != greatest_ratio(*form.reached.values()):
            yield f"the form {form.name} reached another ratio than its attacks"
    for name, attack in claim.attacks.items():
        reached = [form.reached[name] for form in claim.forms if name in form.reached]
        if reached and attack.best_ratio != greatest_ratio(*reached):
            yield f"the {name} attack reached another ratio than on the forms"
    if claim.worst != (claim.tightest[0] if claim.tightest else None):
        yield "the worst check is not the first of the tightest"
    worst = None if claim.worst is None else claim.worst.ratio
    if (claim.best_ratio or 0) != (worst or 0):  # no ratio, 0/0 say, is shown as readily as 0
        yield "the worst check has another ratio than the attacks"
    ratios = [check.ratio for check in claim.tightest if is_finite(check.ratio)]
    if ratios != sorted(ratios, key=lambda ratio: -float(ratio or 0)):
        yield "the tightest checks are not in order"


def _example_lines(claim: ClaimRecord) -> Iterator[str]:
    bins = len(claim.histogram.counts)
    for form in claim.forms:
        if any(len(counts) != bins for counts in form.examples.values()):
            yield f"the examples of the form {form.name} are in other bins than its checks"
        if any(sum(counts) > form.tally.total for counts in form.examples.values()):
            yield f"the form {form.name} has more examples than checks"


def _check_lines(claim: ClaimRecord) -> Iterator[str]:
    nearest = [check for form in claim.forms for check in form.nearest]
    shown_checks = [*claim.tightest, *nearest, *claim.failing]
    forms = {form.name for form in claim.forms}
    if any(check.claim != claim.id or check.form not in forms for check in shown_checks):
        yield "a check is of another claim or form"
    if claim.drawn is not None and claim.drawn.check not in (*claim.tightest, *claim.failing):
        yield "the instance that is drawn is none of the tightest or failing checks"
    if any(check.verdict != "HOLDS" for check in (*claim.tightest, *nearest)):
        yield "a check is among the tightest that does not hold"
    if any(check.verdict not in ("VIOLATED", "UNDECIDED") for check in claim.failing):
        yield "a check is among the failing that does not fail"
    all_checks = [*shown_checks, *([] if claim.worst is None else [claim.worst])]
    if any(check.verdict == "HOLDS" and not _can_hold(check) for check in all_checks):
        yield "a check HOLDS without finite numbers, or with a ratio above 1"
    counts = {"VIOLATED": claim.tally.violated, "UNDECIDED": claim.tally.undecided}
    for verdict, count in counts.items():
        if not count and any(check.verdict == verdict for check in all_checks):
            yield f"a check is {verdict}, but the tally counts none"
        elif sum(check.verdict == verdict for check in claim.failing) > count:
            yield f"more checks are {verdict} than the tally counts"
    if sum(counts.values()) and not claim.failing:
        yield "checks fail, but none is shown"


def _variant_lines(variant: VariantRecord, claim: ClaimRecord) -> Iterator[str]:
    counterexample = variant.counterexample
    if not variant.convicted and (counterexample is not None or variant.attack is not None):
        yield f"the false variant {variant.id} is not refuted, but has a counter-example"
    if variant.convicted and variant.attack is None:
        yield f"the false variant {variant.id} is refuted, but by no attack"
    if counterexample is not None and (
        counterexample.verdict != "VIOLATED" or counterexample.claim != claim.id
    ):
        yield f"the counter-example to {variant.id} does not violate it"


def _unlisted_lines(
    claim: ClaimRecord, attacks: tuple[str, ...], axioms: set[str]
) -> Iterator[str]:
    """Yield a line if a claim refers to an attack or an axiom that the run does not list."""
    if not set(claim.attacks) <= set(attacks):
        yield "an attack is not among those of the run"
    if not {name for ledger in claim.ledgers for name in ledger.axioms} <= axioms:
        yield "an axiom is not among those of the run"


def _part_lines(run: Run) -> Iterator[str]:
    yield from _duplicate_lines("expected parts", run.expected_parts)
    yield from _duplicate_lines("missing parts", run.missing_parts)
    if not run.expected_parts:
        return
    works = {claim.id: (*OTHER_PARTS, *run.attacks) for claim in run.claims}
    if set(run.expected_parts) != {f"{id}/{work}" for id, all in works.items() for work in all}:
        yield "the expected parts are not those of the claims and attacks"
    for claim in run.claims:
        reported_works = set(claim.attacks) | ({"proof"} if claim.ledgers else set())
        reported_works |= {"sabotage"} if claim.variants else set()
        for work in works[claim.id]:
            missing = f"{claim.id}/{work}" in run.missing_parts
            if missing == (work in reported_works) and not (work == "sabotage" and not missing):
                yield f"{claim.id}/{work} has results but is listed as missing, or the reverse"


def _matrix_lines(run: Run) -> Iterator[str]:
    if run.matrix is None:
        return
    claims = {claim.id: claim for claim in run.claims}
    columns = {column.name: column for column in run.matrix.columns}
    yield from _duplicate_lines("columns", (column.name for column in run.matrix.columns))
    places = [f"{entry.claim} on {entry.column}" for entry in run.matrix.entries]
    yield from _duplicate_lines("entries of the matrix", places)
    for entry in run.matrix.entries:
        subject = f"the matrix's entry for {entry.claim} on {entry.column}"
        claim, column = claims.get(entry.claim), columns.get(entry.column)
        if claim is None or column is None:
            yield f"{subject} is of no claim or column of the run"
            continue
        if not is_consistent_entry(entry) or not _standing_fits(entry, claim):
            yield f"{subject} is {entry.standing} against its own counts or proofs"
        if not set(entry.tallies) <= set(column.cells):
            yield f"{subject} counts on cells of another column"
        if not set(entry.forms) <= {form.name for form in claim.forms}:
            yield f"{subject} names a form of another claim"
    for id, claim in claims.items():
        row = [entry for entry in run.matrix.entries if entry.claim == id]
        sum_of_row = Tally()
        for entry in row:
            sum_of_row = sum_of_row.merge(entry.tally)
        if len(row) == len(columns) and sum_of_row != claim.tally:
            yield (
                f"the matrix counts {_tally_text(sum_of_row)} of {id}, not "
                f"{_tally_text(claim.tally)}"
            )


def _standing_fits(entry: Entry, claim: ClaimRecord) -> bool:
    """True unless an entry that no check contradicts has another standing than its ledgers give."""
    if entry.standing not in ("HOLDS", "ARGUED", "NOT PROVED"):
        return True
    ledgers = {ledger.form: ledger for ledger in claim.ledgers}
    form_ledgers = [ledgers.get(name) for name in entry.forms]
    if not all(ledger is not None and ledger.stands for ledger in form_ledgers):
        return entry.standing == "NOT PROVED"
    proved = all(ledger is not None and ledger.proved for ledger in form_ledgers)
    return entry.standing == ("HOLDS" if proved else "ARGUED")


def _duplicate_lines(collection: str, names: Iterable[str]) -> Iterator[str]:
    all_names = list(names)
    yield from (f"{name} is twice among the {collection}"
                for name in dict.fromkeys(all_names) if all_names.count(name) > 1)  # fmt: skip


def _tally_text(tally: Tally) -> str:
    counts = (tally.holds, tally.violated, tally.undecided, tally.vacuous)
    return "/".join(map(str, counts))


def _can_hold(check: Check) -> bool:
    sides = all(map(is_finite, (check.lhs, check.lhs_error, check.rhs, check.rhs_error)))
    return sides and (check.ratio is None or (is_finite(check.ratio) and float(check.ratio) <= 1))
