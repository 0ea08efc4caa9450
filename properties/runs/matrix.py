"""The matrix of claims and cells: what each claim comes to on each cell, from what was judged.

Where nothing was judged, the assumptions decide. A claim is tied to some cells by the assumptions
that say so (`ties`), and a cell meets those that `properties.systems.columns.COLUMNS` lists of it:
the first that it does not meet, what the most cells meet coming first, is why the claim is not
applicable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rnnbounds.properties.judging.evidence import CellEvidence, Evidence, added
from rnnbounds.properties.systems.columns import COLUMNS, cells_of, column_of, columns, drawn
from rnnbounds.properties.systems.kind import NO_CELL, STATE
from rnnbounds.properties.systems.kind import Column as Meets
from rnnbounds.reports.records.ledger import LedgerRecord
from rnnbounds.reports.records.matrix import Column, Entry, Matrix, Standing
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.claim import Claim

UNDRAWN = "this cell is supported, but no attacked kind of system has it"
# How the judge calls a check vacuous for want of a constant.
FINITE = "finite "
ALONE = "the claim is about a matrix alone, not a cell"
NO_STATE = "the claim is about cells, not a matrix alone"


def matrix(
    claims: Sequence[Claim],
    evidence: Mapping[str, Mapping[str, Evidence]],
    ledgers: Mapping[str, Sequence[LedgerRecord]],
) -> Matrix:
    """An entry for each claim and each column, from the evidence by claim and form."""
    seen = {cell for forms in evidence.values() for e in forms.values() for cell in e.cells}
    across = columns(sorted(seen))
    return Matrix(
        columns=across,
        entries=tuple(
            entry(claim, column, evidence.get(claim.id, {}), ledgers.get(claim.id, ()))
            for claim in claims
            for column in across
        ),
    )


def entry(
    claim: Claim, column: Column, evidence: Mapping[str, Evidence], ledgers: Sequence[LedgerRecord]
) -> Entry:
    """Build a claim's matrix entry for one column from its evidence by form and its ledgers."""
    here = {name: within(found, column) for name, found in evidence.items()}
    here = {name: cells for name, cells in here.items() if cells}
    tallies: dict[str, CellEvidence] = {}
    for cells in here.values():
        for cell, found in cells.items():
            tallies.setdefault(cell, CellEvidence()).merge(found)
    held = tuple(name for name, cells in here.items() if any(c.tally.holds for c in cells.values()))
    judged = standing(tallies.values(), held, ledgers)
    if judged is not None:
        reason = ""
    elif tallies:
        judged, reason = all_vacuous(claim, column.name, here)
    else:
        judged, reason = unattacked(claim, column.name)
    return Entry(
        claim=claim.id, column=column.name, standing=judged, reason=reason, forms=held,
        tallies={cell: found.tally for cell, found in sorted(tallies.items())},
    )  # fmt: skip


def within(evidence: Evidence, column: Column) -> dict[str, CellEvidence]:
    """Select one form's evidence on the cells of a column, by cell; omit cells without checks."""
    return {
        cell: found
        for cell, found in evidence.cells.items()
        if column_of(cell) == column.name and found.tally.total
    }


def standing(
    tallies: Iterable[CellEvidence], held: Iterable[str], ledgers: Sequence[LedgerRecord]
) -> Standing | None:
    """Derive a standing from tallies and the ledgers of forms that passed; None without any."""
    counts = [found.tally for found in tallies]
    if any(tally.violated for tally in counts):
        return "VIOLATED"
    if any(tally.undecided for tally in counts):
        return "UNDECIDED"
    proofs = {ledger.form: ledger for ledger in ledgers}
    given = [proofs.get(name) for name in held]
    if not given:
        return None
    if not all(proof and proof.stands for proof in given):
        return "NOT PROVED"
    return "HOLDS" if all(proof and proof.proved for proof in given) else "ARGUED"


def all_vacuous(
    claim: Claim, column: str, here: Mapping[str, Mapping[str, CellEvidence]]
) -> tuple[Standing, str]:
    """Explain a column with vacuous checks alone, by standing and reason: the cell does not meet an
    assumption, a constant has no finite value, or no drawn system meets the assumptions."""
    unmet = unmet_ties(claim, column)
    if unmet:
        return "NOT APPLICABLE", unmet
    counts: dict[str, int] = {}
    for form, cells in here.items():
        texts = {a.id: a.text for a in claim.form(form).assumptions}
        for found in cells.values():
            for reason, count in found.vacuous.items():
                counts = added(counts, {texts.get(reason, reason): count})
    constants = {reason: n for reason, n in counts.items() if reason.startswith(FINITE)}
    most = max(constants or counts, key=lambda reason: counts[reason])
    if not constants:
        return "NOT TESTED", f"no drawn system meets it: {most}"
    name = most.removeprefix(FINITE)
    return "NOT YET PROVED", f"no finite {name} is computed: {VOCABULARY[name].meaning}"


def unattacked(claim: Claim, column: str) -> tuple[Standing, str]:
    """Derive standing and reason of a claim on a column without checks, from its assumptions."""
    reach = {column_of(cell) for form in claim.forms for cell in cells_of(form.about)}
    unmet = unmet_ties(claim, column)
    if column in reach and not unmet:
        return "NOT TESTED", ""
    if column == NO_CELL or reach == {NO_CELL}:
        return "NOT APPLICABLE", NO_STATE if column == NO_CELL else ALONE
    here = claim.other_cells
    if unmet and not (here.open and "contraction" in met(column)):
        return "NOT APPLICABLE", unmet
    if column not in {column_of(cell) for cell in drawn()}:
        return "NOT ATTACKED", UNDRAWN
    if here.shown:
        return "NOT ATTACKED", here.shown
    return "NOT YET PROVED", here.open if unmet else here.missing


def met(column: str) -> tuple[str, ...]:
    """The ids of the ties that a column meets; those of a cell with states for an unknown one."""
    return COLUMNS.get(column, Meets(column, STATE)).assumptions


def unmet_ties(claim: Claim, column: str) -> str:
    """The text of the first tie of the claim that the column does not meet; empty if some form has
    all of its ties met, or none has any."""
    here, texts = met(column), dict[str, str]()
    for form in claim.forms:
        tied = {a.id: a.text for a in form.assumptions if a.ties}
        if tied and set(tied) <= set(here):
            return ""
        texts |= {id: text for id, text in tied.items() if id not in texts}
    return next((texts[id] for id in sorted(texts, key=rarity) if id not in here), "")


def rarity(tie: str) -> int:
    """The fewer columns meet a tie, the larger."""
    return -sum(tie in column.assumptions for column in COLUMNS.values())
