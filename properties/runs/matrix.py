"""The matrix of claims and cells: what each claim comes to on each cell, from what was judged.

Where nothing was judged, the assumptions decide. A claim is tied to some cells by the assumptions
that say so (`ties`), and a cell meets those that `properties.systems.columns.COLUMNS` lists of it:
the first that it does not meet, what the most cells meet coming first, is why the claim is not
applicable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rnnbounds.properties.judging.evidence import CellEvidence, Evidence, add_counts
from rnnbounds.properties.systems.columns import (
    COLUMNS,
    cells_of_kind,
    column_name,
    drawn_cells,
    matrix_columns,
)
from rnnbounds.properties.systems.kind import NO_CELL, STATE
from rnnbounds.properties.systems.kind import Column as Meets
from rnnbounds.reports.records.ledger import LedgerRecord
from rnnbounds.reports.records.matrix import Column, Entry, Matrix, Standing
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.claim import Claim

UNDRAWN_REASON = "this cell is supported, but no attacked kind of system has it"
# How the judge calls a check vacuous for want of a constant.
FINITE_PREFIX = "finite "
MATRIX_ALONE_REASON = "the claim is about a matrix alone, not a cell"
NO_STATE_REASON = "the claim is about cells, not a matrix alone"


def build_matrix(
    claims: Sequence[Claim],
    evidence: Mapping[str, Mapping[str, Evidence]],
    ledgers: Mapping[str, Sequence[LedgerRecord]],
) -> Matrix:
    """An entry for each claim and each column, from the evidence by claim and form."""
    cells = {cell for forms in evidence.values() for e in forms.values() for cell in e.cells}
    all_columns = matrix_columns(sorted(cells))
    return Matrix(
        columns=all_columns,
        entries=tuple(
            matrix_entry(claim, column, evidence.get(claim.id, {}), ledgers.get(claim.id, ()))
            for claim in claims
            for column in all_columns
        ),
    )


def matrix_entry(
    claim: Claim, column: Column, evidence: Mapping[str, Evidence], ledgers: Sequence[LedgerRecord]
) -> Entry:
    """Build a claim's matrix entry for one column from its evidence by form and its ledgers."""
    evidence_by_form = {
        name: evidence_on_column(counts, column) for name, counts in evidence.items()
    }
    evidence_by_form = {name: cells for name, cells in evidence_by_form.items() if cells}
    tallies: dict[str, CellEvidence] = {}
    for cells in evidence_by_form.values():
        for cell, counts in cells.items():
            tallies.setdefault(cell, CellEvidence()).merge(counts)
    held_forms = tuple(
        name
        for name, cells in evidence_by_form.items()
        if any(c.tally.holds for c in cells.values())
    )
    claim_standing = derive_standing(tallies.values(), held_forms, ledgers)
    if claim_standing is not None:
        reason = ""
    elif tallies:
        claim_standing, reason = vacuous_standing(claim, column.name, evidence_by_form)
    else:
        claim_standing, reason = unattacked_standing(claim, column.name)
    return Entry(
        claim=claim.id, column=column.name, standing=claim_standing, reason=reason,
        forms=held_forms,
        tallies={cell: counts.tally for cell, counts in sorted(tallies.items())},
    )  # fmt: skip


def evidence_on_column(evidence: Evidence, column: Column) -> dict[str, CellEvidence]:
    """Select one form's evidence on the cells of a column, by cell; omit cells without checks."""
    return {
        cell: counts
        for cell, counts in evidence.cells.items()
        if column_name(cell) == column.name and counts.tally.total
    }


def derive_standing(
    tallies: Iterable[CellEvidence], held_forms: Iterable[str], ledgers: Sequence[LedgerRecord]
) -> Standing | None:
    """Derive a standing from tallies and the ledgers of forms that passed; None without any."""
    cell_tallies = [found.tally for found in tallies]
    if any(tally.violated for tally in cell_tallies):
        return "VIOLATED"
    if any(tally.undecided for tally in cell_tallies):
        return "UNDECIDED"
    proofs = {ledger.form: ledger for ledger in ledgers}
    held_proofs = [proofs.get(name) for name in held_forms]
    if not held_proofs:
        return None
    if not all(proof and proof.proved for proof in held_proofs):
        return "NOT PROVED"
    return "HOLDS"


def vacuous_standing(
    claim: Claim, column: str, evidence_by_form: Mapping[str, Mapping[str, CellEvidence]]
) -> tuple[Standing, str]:
    """Explain a column with vacuous checks alone, by standing and reason: the cell does not meet an
    assumption, a constant has no finite value, or no drawn system meets the assumptions."""
    tie_text = unmet_tie(claim, column)
    if tie_text:
        return "NOT APPLICABLE", tie_text
    counts: dict[str, int] = {}
    for form, cells in evidence_by_form.items():
        texts = {a.id: a.text for a in claim.form(form).assumptions}
        for cell_evidence in cells.values():
            for reason, count in cell_evidence.vacuous.items():
                counts = add_counts(counts, {texts.get(reason, reason): count})
    constants = {reason: n for reason, n in counts.items() if reason.startswith(FINITE_PREFIX)}
    commonest = max(constants or counts, key=lambda reason: counts[reason])
    if not constants:
        return "NOT TESTED", f"no drawn system meets it: {commonest}"
    name = commonest.removeprefix(FINITE_PREFIX)
    return "NOT YET PROVED", f"no finite {name} is computed: {VOCABULARY[name].meaning}"


def unattacked_standing(claim: Claim, column: str) -> tuple[Standing, str]:
    """Derive standing and reason of a claim on a column without checks, from its assumptions."""
    reachable = {column_name(cell) for form in claim.forms for cell in cells_of_kind(form.about)}
    tie_text = unmet_tie(claim, column)
    if column in reachable and not tie_text:
        return "NOT TESTED", ""
    if column == NO_CELL or reachable == {NO_CELL}:
        return "NOT APPLICABLE", NO_STATE_REASON if column == NO_CELL else MATRIX_ALONE_REASON
    elsewhere = claim.other_cells
    if tie_text and not (elsewhere.open and "contraction" in met_ties(column)):
        return "NOT APPLICABLE", tie_text
    if column not in {column_name(cell) for cell in drawn_cells()}:
        return "NOT ATTACKED", UNDRAWN_REASON
    if elsewhere.shown:
        return "NOT ATTACKED", elsewhere.shown
    return "NOT YET PROVED", elsewhere.open if tie_text else elsewhere.missing


def met_ties(column: str) -> tuple[str, ...]:
    """The ids of the ties that a column meets; those of a cell with states for an unknown one."""
    return COLUMNS.get(column, Meets(column, STATE)).assumptions


def unmet_tie(claim: Claim, column: str) -> str:
    """The text of the first tie of the claim that the column does not meet; empty if some form has
    all of its ties met, or none has any."""
    column_ties, texts = met_ties(column), dict[str, str]()
    for form in claim.forms:
        tied = {a.id: a.text for a in form.assumptions if a.ties}
        if tied and set(tied) <= set(column_ties):
            return ""
        texts |= {id: text for id, text in tied.items() if id not in texts}
    return next((texts[id] for id in sorted(texts, key=tie_rarity) if id not in column_ties), "")


def tie_rarity(tie: str) -> int:
    """The fewer columns meet a tie, the larger."""
    return -sum(tie in column.assumptions for column in COLUMNS.values())
