"""Comparison of two runs: one row for each result that is better, worse, new or missing."""

from collections.abc import Iterator

from msgspec.structs import replace

from rnnbounds.reports.gate.compare import (
    compare_burdens,
    compare_names,
    compare_ranks,
    compare_ratios,
    compare_texts,
)
from rnnbounds.reports.gate.thresholds import Thresholds
from rnnbounds.reports.records.changes import Change, Changes, list_names, make_change, shorten
from rnnbounds.reports.records.checks.tally import Tally
from rnnbounds.reports.records.matrix import STANDING_WORDS, Matrix
from rnnbounds.reports.records.outcome import claim_problems
from rnnbounds.reports.records.record import ClaimRecord, FormRecord, Run, VariantRecord
from rnnbounds.reports.words import plural

VERDICTS = ("holds", "never tested", "undecided", "violated")
PROOFS = ("proved", "not proved")
BASES = ("derived", "inclusion assumed", "restates")
CONVICTIONS = ("refuted", "survives")
STANDINGS = tuple(
    STANDING_WORDS[name]
    for name in (
        "HOLDS", "NOT PROVED", "NOT TESTED", "NOT YET PROVED", "NOT ATTACKED",
        "NOT APPLICABLE", "UNDECIDED", "VIOLATED",
    )
)  # fmt: skip


def compare_runs(old: Run, new: Run, allowed: Thresholds) -> Changes:
    """All changes from one run to another, whatever their seeds and profiles."""
    before = {claim.id: claim for claim in old.claims}
    after = {claim.id: claim for claim in new.claims}
    rows = [*compare_names("the run", "claims", before, after)]
    for name, claim in after.items():
        if name in before:
            rows += _claim_changes(before[name], claim, allowed)
        elif failures := list(claim_problems(claim)):
            rows.append(
                make_change("regressed", name, "new, and fails", after=list_names(failures))
            )
    rows += compare_burdens(
        "the run", "parts that never reported", old.missing_parts, new.missing_parts
    )
    shared = [name for name in after if name in before]
    rows += _axiom_changes(old, new)
    rows += _matrix_changes(old.matrix, new.matrix, set(shared))
    unchanged_names = set(shared) - {row.subject.split(" ")[0].rstrip(",") for row in rows}
    return Changes(
        old=run_title(old), new=run_title(new), rows=tuple(rows), fails=allowed.fails,
        unchanged=f"{len(unchanged_names)} of {plural(len(shared), 'claim')} unchanged",
    )  # fmt: skip


def restrict_run(run: Run, ids: tuple[str, ...]) -> Run:
    """Restrict a run to the claims of these ids: claims, matrix entries and missing parts."""
    matrix = run.matrix
    if matrix is not None:
        entries = tuple(entry for entry in matrix.entries if entry.claim in ids)
        matrix = replace(matrix, entries=entries)
    return replace(
        run, claims=tuple(claim for claim in run.claims if claim.id in ids), matrix=matrix,
        missing_parts=tuple(p for p in run.missing_parts if p.partition("/")[0] in ids),
    )  # fmt: skip


def run_title(run: Run) -> str:
    """A run in a few words: "quick, seed 0, 2026-11-21T10:00:00Z, commit 0123abc"."""
    environment = run.environment
    words = (
        f"{run.profile}, seed {run.seed}",
        environment.started,
        f"commit {environment.commit[:12]}",
    )
    return shorten(", ".join(words[: 3 if environment.commit else 2]).rstrip(", "))


def _claim_changes(old: ClaimRecord, new: ClaimRecord, allowed: Thresholds) -> Iterator[Change]:
    id = new.id
    yield from compare_ranks(
        id, "verdict", VERDICTS, tally_verdict(old.tally), tally_verdict(new.tally)
    )
    yield from compare_ranks(id, "proof", PROOFS, proof_state(old), proof_state(new))
    for field, names_of in (
        ("textbook theorems", used_axioms),
        ("definitions", defined_names),
    ):
        yield from compare_burdens(id, field, names_of(old), names_of(new))
    attacks = [[a for a, record in claim.attacks.items() if record.checks] for claim in (old, new)]
    yield from compare_names(id, "attacks", *attacks)
    before, after = ({form.name: form for form in claim.forms} for claim in (old, new))
    yield from _form_changes(id, before, after, allowed)
    yield from _proof_changes(old, new)
    yield from _variant_changes(
        id, *({variant.id: variant for variant in claim.variants} for claim in (old, new))
    )


def _form_changes(
    id: str, old: dict[str, FormRecord], new: dict[str, FormRecord], allowed: Thresholds
) -> Iterator[Change]:
    yield from compare_names(id, "forms", old, new)
    for name in (name for name in new if name in old):
        before, after = old[name], new[name]
        subject = f"{id} ({name})"
        yield from compare_texts(subject, "statement", before.text, after.text)
        yield from compare_burdens(subject, "assumptions", before.assumptions, after.assumptions)
        if len(old) > 1:
            words = (tally_verdict(before.tally), tally_verdict(after.tally))
            yield from compare_ranks(subject, "verdict", VERDICTS, *words)
        ratios = (before.best_ratio, after.best_ratio)
        yield from compare_ratios(subject, "tightest lhs/rhs", allowed.tightness, *ratios)


def _proof_changes(old: ClaimRecord, new: ClaimRecord) -> Iterator[Change]:
    """Definitions that say something else; forms that rest on more."""
    texts = [_definition_texts(claim) for claim in (old, new)]
    for name in (name for name in texts[1] if name in texts[0]):
        yield from compare_texts(
            new.id, f"definition of {name}", *(by_name[name] for by_name in texts)
        )
    before = {ledger.form: ledger for ledger in old.ledgers}
    for ledger in (ledger for ledger in new.ledgers if ledger.form in before):
        old_ledger = before[ledger.form]
        if old_ledger.basis and ledger.basis:
            words = (old_ledger.basis, ledger.basis)
            yield from compare_ranks(f"{new.id} ({ledger.form})", "basis", BASES, *words)


def _definition_texts(claim: ClaimRecord) -> dict[str, str]:
    """The texts of each function that is defined, in all ledgers, each text once."""
    all_definitions = [d for ledger in claim.ledgers for d in ledger.definitions]
    return {
        name: "; ".join(dict.fromkeys(d.text for d in all_definitions if d.name == name))
        for name in defined_names(claim)
    }


def _variant_changes(
    id: str, old: dict[str, VariantRecord], new: dict[str, VariantRecord]
) -> Iterator[Change]:
    yield from compare_names(id, "false variants", old, new)
    for name, after in new.items():
        subject = f"{id}, false variant {name}"
        before = old.get(name)
        records = (before, after)
        words = [
            "survives" if variant and not variant.convicted else "refuted" for variant in records
        ]
        yield from compare_ranks(subject, "attacks", CONVICTIONS, *words)
        if before is not None:
            yield from compare_texts(subject, "statement", before.statement, after.statement)
        words = [
            "proves it" if variant and not variant.ledger_fails else "fails" for variant in records
        ]
        yield from compare_ranks(subject, "ledger", ("fails", "proves it"), *words)


def _axiom_changes(old: Run, new: Run) -> Iterator[Change]:
    """Textbook theorems of which more laws, or more clauses of them, are taken without proof."""
    before = {axiom.name: axiom for axiom in old.axioms}
    for axiom in new.axioms:
        old_axiom = before.get(axiom.name)
        if old_axiom is not None:
            yield from compare_texts(axiom.name, "textbook theorem", old_axiom.text, axiom.text)
        if old_axiom is not None and (old_axiom.laws, old_axiom.clauses) != (
            axiom.laws,
            axiom.clauses,
        ):
            pair = (old_axiom, axiom)
            counted = [f"{plural(a.laws, 'law')}, {plural(a.clauses, 'clause')}" for a in pair]
            takes_more = axiom.laws > old_axiom.laws or axiom.clauses > old_axiom.clauses
            yield make_change(
                "regressed" if takes_more else "improved",
                axiom.name,
                "laws taken without proof",
                *counted,
            )


def _matrix_changes(old: Matrix | None, new: Matrix | None, ids: set[str]) -> Iterator[Change]:
    if old is None or new is None:
        names = [() if matrix is None else ("matrix",) for matrix in (old, new)]
        yield from compare_names("the run", "claims by cells", *names)
        return
    columns = [{column.name: column.title for column in matrix.columns} for matrix in (old, new)]
    yield from compare_names("the matrix", "columns", *columns)
    cells = [{column.name: column.cells for column in matrix.columns} for matrix in (old, new)]
    for name in (name for name in cells[1] if name in cells[0]):
        cell_lists = (cells[0][name], cells[1][name])
        yield from compare_names("the matrix", f"cells of {columns[1][name]}", *cell_lists)
    standings = [
        {f"{entry.claim} on {entry.column}": entry.words for entry in matrix.entries
         if entry.claim in ids and entry.column in columns[0] and entry.column in columns[1]}
        for matrix in (old, new)
    ]  # fmt: skip
    yield from compare_names("the matrix", "entries", *standings)
    for place in (place for place in standings[0] if place in standings[1]):
        words = [entries[place] for entries in standings]
        yield from compare_ranks(place, "entry of the matrix", STANDINGS, *words)


def tally_verdict(tally: Tally) -> str:
    """Overall verdict of a tally, the worst first: violated, undecided, holds, never tested."""
    if tally.violated:
        return "violated"
    return "undecided" if tally.undecided else "holds" if tally.holds else "never tested"


def proof_state(claim: ClaimRecord) -> str:
    """How a claim is proved."""
    return "proved" if claim.proved else "not proved"


def used_axioms(claim: ClaimRecord) -> list[str]:
    """The textbook theorems that its ledgers take without proof."""
    return list(dict.fromkeys(name for ledger in claim.ledgers for name in ledger.axioms))


def defined_names(claim: ClaimRecord) -> list[str]:
    """The functions that its ledgers define."""
    return list(dict.fromkeys(d.name for ledger in claim.ledgers for d in ledger.definitions))
