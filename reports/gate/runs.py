"""Comparison of two runs: one row for each result that is better, worse, new or missing."""

from collections.abc import Iterator

from msgspec.structs import replace

from rnnbounds.reports.gate.compare import (
    compare_burdens,
    compare_counts,
    compare_names,
    compare_ranks,
    compare_ratios,
    compare_texts,
)
from rnnbounds.reports.gate.thresholds import Thresholds
from rnnbounds.reports.gate.tightness import (
    compare_directed_attacks,
    compare_example_counts,
    compare_examples,
)
from rnnbounds.reports.records.changes import Change, Changes, list_names, make_change, shorten
from rnnbounds.reports.records.checks.tally import Tally
from rnnbounds.reports.records.matrix import STANDING_WORDS, Matrix, count_covered_cells
from rnnbounds.reports.records.outcome import claim_problems
from rnnbounds.reports.records.record import ClaimRecord, FormRecord, Run, VariantRecord
from rnnbounds.reports.words import plural

VERDICTS = ("holds", "never tested", "undecided", "violated")
PROOFS = ("proved", "argued in prose", "not proved")
BASES = ("derived", "inclusion assumed", "restates")
CONVICTIONS = ("refuted", "survives")
STANDINGS = tuple(
    STANDING_WORDS[name]
    for name in (
        "HOLDS", "ARGUED", "NOT PROVED", "NOT TESTED", "NOT YET PROVED", "NOT ATTACKED",
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
    claim_pairs = [(before[name], claim) for name, claim in after.items() if name in before]
    if (old.profile, old.systems) == (new.profile, new.systems):  # others draw other batches
        rows += compare_example_counts(claim_pairs, allowed.pairs)
        rows += compare_examples(claim_pairs, allowed.chance)
        rows += compare_directed_attacks(claim_pairs, allowed.tightness, allowed.chance)
    rows += compare_burdens(
        "the run", "parts that never reported", old.missing_parts, new.missing_parts
    )
    shared = [name for name in after if name in before]
    pair_changes = {name: abs(before[name].pairs - after[name].pairs) for name in shared}
    most_changed = max(
        shared, key=lambda name: pair_changes[name], default=""
    )  # one claim's may be luck
    other_names = [name for name in shared if name != most_changed]
    counts = [sum(claims[name].pairs for name in other_names) for claims in (before, after)]
    rows += compare_counts("the run", "pairs", allowed.all_pairs, *counts)
    counts = [count_covered_cells(run.matrix, shared) for run in (old, new)]
    rows += compare_counts("the matrix", "cells judged, of all claims", allowed.cells, *counts)
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
        ("steps in prose", lambda claim: list(dict.fromkeys(claim.human))),
    ):
        yield from compare_burdens(id, field, names_of(old), names_of(new))
    ratio_name = "tightest lhs/rhs"
    yield from compare_ratios(id, ratio_name, allowed.luck, old.best_ratio, new.best_ratio)
    attack_names = find_unseeded_attacks(old, new)
    for name in attack_names:
        ratios = (old.attacks[name].best_ratio, new.attacks[name].best_ratio)
        yield from compare_ratios(f"{id}, {name}", ratio_name, allowed.tightness, *ratios)
    yield from compare_counts(id, "pairs", allowed.pairs, old.pairs, new.pairs)
    yield from compare_counts(
        id, "judged checks", allowed.pairs, count_judged(old.tally), count_judged(new.tally)
    )
    attacks = [[a for a, record in claim.attacks.items() if record.checks] for claim in (old, new)]
    yield from compare_names(id, "attacks", *attacks)
    before, after = ({form.name: form for form in claim.forms} for claim in (old, new))
    yield from _form_changes(id, before, after, attack_names, allowed)
    yield from _proof_changes(old, new)
    yield from _variant_changes(
        id, *({variant.id: variant for variant in claim.variants} for claim in (old, new))
    )


def _form_changes(
    id: str, old: dict[str, FormRecord], new: dict[str, FormRecord],
    unseeded_attacks: list[str], allowed: Thresholds,
) -> Iterator[Change]:  # fmt: skip
    yield from compare_names(id, "forms", old, new)
    for name in (name for name in new if name in old):
        before, after = old[name], new[name]
        subject = f"{id} ({name})"
        yield from compare_texts(subject, "statement", before.text, after.text)
        yield from compare_burdens(subject, "assumptions", before.assumptions, after.assumptions)
        if len(old) > 1:
            words = (tally_verdict(before.tally), tally_verdict(after.tally))
            yield from compare_ranks(subject, "verdict", VERDICTS, *words)
            ratio_name = "tightest lhs/rhs"
            is_tight = any(form.best_ratio is not None
                        and float(form.best_ratio) >= 1 - allowed.tightness
                        for form in (before, after))  # fmt: skip
            share = allowed.luck if is_tight else 1  # else one lucky draw may carry it
            yield from compare_ratios(
                subject, ratio_name, share, before.best_ratio, after.best_ratio
            )
            for attack in unseeded_attacks:
                ratios = (before.reached.get(attack), after.reached.get(attack))
                yield from compare_ratios(
                    f"{subject}, {attack}", ratio_name, allowed.tightness, *ratios
                )
            counts = (count_judged(before.tally), count_judged(after.tally))
            yield from compare_counts(subject, "judged checks", allowed.pairs, *counts)


def _proof_changes(old: ClaimRecord, new: ClaimRecord) -> Iterator[Change]:
    """Definitions that say something else; forms that rest on more; steps that are gone though
    nothing more is taken."""
    texts = [_definition_texts(claim) for claim in (old, new)]
    for name in (name for name in texts[1] if name in texts[0]):
        yield from compare_texts(
            new.id, f"definition of {name}", *(by_name[name] for by_name in texts)
        )
    before = {ledger.form: ledger for ledger in old.ledgers}
    for ledger in (ledger for ledger in new.ledgers if ledger.form in before):
        old_ledger = before[ledger.form]
        subject = f"{new.id} ({ledger.form})"
        if old_ledger.basis and ledger.basis:
            yield from compare_ranks(subject, "basis", BASES, old_ledger.basis, ledger.basis)
        same_basis = (old_ledger.axioms, old_ledger.definitions) == (
            ledger.axioms,
            ledger.definitions,
        )
        if same_basis:
            counts = (len(old_ledger.steps), len(ledger.steps))
            yield from compare_counts(subject, "steps of its proof", 0, *counts)


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
    return "proved" if claim.proved else "argued in prose" if claim.argued else "not proved"


def used_axioms(claim: ClaimRecord) -> list[str]:
    """The textbook theorems that its ledgers take without proof."""
    return list(dict.fromkeys(name for ledger in claim.ledgers for name in ledger.axioms))


def defined_names(claim: ClaimRecord) -> list[str]:
    """The functions that its ledgers define."""
    return list(dict.fromkeys(d.name for ledger in claim.ledgers for d in ledger.definitions))


def count_judged(tally: Tally) -> int:
    """The checks that are no vacuous ones."""
    return tally.total - tally.vacuous


def find_unseeded_attacks(old: ClaimRecord, new: ClaimRecord) -> list[str]:
    """Attacks of both that draw nothing now; the schema before said of all that they draw."""
    return [
        name for name, attack in new.attacks.items() if name in old.attacks and not attack.seeded
    ]
