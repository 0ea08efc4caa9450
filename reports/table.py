"""The table of claims of a run, small enough to travel with the package: `reports/claims.json`.

It holds what is claimed, how it was proved, how tight it was seen to be and the matrix, so that
nothing needs proving again to be shown. ``python tests/documents/test_claims_record.py RUN.json``
writes it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from rnnbounds.reports.pages.text import NOTHING, ratio
from rnnbounds.reports.records.basis import Standing, counted, short
from rnnbounds.reports.records.ledger import LedgerRecord
from rnnbounds.reports.records.matrix import Matrix
from rnnbounds.reports.records.number import Number
from rnnbounds.reports.records.record import ClaimRecord, Run

CARRIED = Path(__file__).with_name("claims.json")


class Proof(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The ledgers of a claim together; `human` are the steps in prose, by name, and `forms` says of
    each form what it rests on, which older tables lack."""

    steps: int
    axioms: tuple[str, ...]
    human: tuple[str, ...]
    proved: bool
    forms: dict[str, Standing] = {}

    @classmethod
    def of(
        cls, ledgers: Sequence[LedgerRecord], proved: bool, forms: dict[str, Standing]
    ) -> "Proof":
        """Combine the ledgers of a claim: number of steps, axioms, steps in prose."""
        return cls(
            steps=sum(len(ledger.steps) for ledger in ledgers),
            axioms=tuple(sorted({axiom for ledger in ledgers for axiom in ledger.axioms})),
            human=tuple(step for ledger in ledgers for step in ledger.human),
            proved=proved,
            forms=forms,
        )

    @property
    def words(self) -> str:
        """Number of forms by standing; in older tables, `proved` or `not proved`."""
        if self.forms:
            return short(counted(self.forms.values()))
        return "proved" if self.proved else "not proved"


class Tightest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The greatest lhs/rhs, and the first attack that reached it."""

    ratio: Number
    attack: str


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One claim; `tightest` is None if it was not attacked.

    `needs` are the assumptions of its forms, with their ids; a run tells the texts alone.
    """

    id: str
    title: str
    source: str
    relation: str
    statement: str
    needs: dict[str, str]
    false_variants: tuple[str, ...]
    proof: Proof
    tightest: Tightest | None = None

    @property
    def reached(self) -> str:
        """How tight it was seen to be, and by which attack."""
        found = self.tightest
        return NOTHING if found is None else f"{ratio(found.ratio)}, {found.attack}"


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The claims of a run in reading order, and its matrix, which older runs lack."""

    schema: Literal["rnnbounds/claims/2"] = "rnnbounds/claims/2"
    profile: str
    seed: int
    claims: tuple[Row, ...]
    matrix: Matrix | None


def table_of(run: Run) -> Table:
    """The table of a run; what nothing proved is not proved."""
    rows = tuple(_row(claim, run.attacks) for claim in run.claims)
    return Table(profile=run.profile, seed=run.seed, claims=rows, matrix=run.matrix)


def carried() -> Table:
    """The table that the package carries."""
    return msgspec.json.decode(CARRIED.read_bytes(), type=Table)


def encode_table(table: Table) -> bytes:
    """As it is carried: JSON, one line a value."""
    return msgspec.json.format(msgspec.json.encode(table), indent=1) + b"\n"


def _row(claim: ClaimRecord, attacks: tuple[str, ...]) -> Row:
    by = [a for a in attacks if a in claim.attacks]
    by = [name for name in by if claim.attacks[name].best_ratio == claim.best_ratio]
    best = claim.best_ratio
    return Row(
        id=claim.id, title=claim.title, source=claim.source, relation=claim.relation,
        statement=claim.forms[0].text if claim.forms else "",
        needs={text: text for form in claim.forms for text in form.assumptions},
        false_variants=tuple(variant.id for variant in claim.variants),
        proof=Proof.of(claim.ledgers, claim.proved, claim.standings),
        tightest=Tightest(ratio=best, attack=by[0]) if best and by else None,
    )  # fmt: skip
