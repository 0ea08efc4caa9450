"""The table of claims of a run, small enough to travel with the package: `reports/claims.json`.

It holds what is claimed, how it was proved, how tight it was seen to be and the matrix, so that
nothing needs proving again to be shown. ``python tests/documents/test_claims_record.py RUN.json``
writes it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from rnnbounds.reports.pages.text import NOTHING, ratio_text
from rnnbounds.reports.records.basis import Standing, basis_summary, count_bases
from rnnbounds.reports.records.ledger import LedgerRecord
from rnnbounds.reports.records.matrix import Matrix
from rnnbounds.reports.records.number import Number
from rnnbounds.reports.records.record import ClaimRecord, Run

TABLE_FILE = Path(__file__).with_name("claims.json")


class Proof(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The ledgers of a claim together; `forms` says of each form what it rests on, which
    older tables lack."""

    steps: int
    axioms: tuple[str, ...]
    proved: bool
    forms: dict[str, Standing] = {}

    @classmethod
    def of(
        cls, ledgers: Sequence[LedgerRecord], proved: bool, forms: dict[str, Standing]
    ) -> "Proof":
        """Combine the ledgers of a claim: number of steps, axioms."""
        return cls(
            steps=sum(len(ledger.steps) for ledger in ledgers),
            axioms=tuple(sorted({axiom for ledger in ledgers for axiom in ledger.axioms})),
            proved=proved,
            forms=forms,
        )

    @property
    def words(self) -> str:
        """Number of forms by standing; in older tables, `proved` or `not proved`."""
        if self.forms:
            return basis_summary(count_bases(self.forms.values()))
        return "proved" if self.proved else "not proved"


class Tightest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The greatest lhs/rhs, and the first attack that reached it."""

    ratio: Number
    attack: str


class ClaimRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
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
        tightest = self.tightest
        return NOTHING if tightest is None else f"{ratio_text(tightest.ratio)}, {tightest.attack}"


class ClaimsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The claims of a run in reading order, and its matrix, which older runs lack."""

    schema: Literal["rnnbounds/claims/2"] = "rnnbounds/claims/2"
    profile: str
    seed: int
    claims: tuple[ClaimRow, ...]
    matrix: Matrix | None


def build_table(run: Run) -> ClaimsTable:
    """The table of a run; what nothing proved is not proved."""
    rows = tuple(_claim_row(claim, run.attacks) for claim in run.claims)
    return ClaimsTable(profile=run.profile, seed=run.seed, claims=rows, matrix=run.matrix)


def packaged_table() -> ClaimsTable:
    """The table that the package carries."""
    return msgspec.json.decode(TABLE_FILE.read_bytes(), type=ClaimsTable)


def encode_table(table: ClaimsTable) -> bytes:
    """As it is carried: JSON, one line a value."""
    return msgspec.json.format(msgspec.json.encode(table), indent=1) + b"\n"


def _claim_row(claim: ClaimRecord, attacks: tuple[str, ...]) -> ClaimRow:
    names = [a for a in attacks if a in claim.attacks]
    names = [name for name in names if claim.attacks[name].best_ratio == claim.best_ratio]
    best = claim.best_ratio
    return ClaimRow(
        id=claim.id, title=claim.title, source=claim.source, relation=claim.relation,
        statement=claim.forms[0].text if claim.forms else "",
        needs={text: text for form in claim.forms for text in form.assumptions},
        false_variants=tuple(variant.id for variant in claim.variants),
        proof=Proof.of(claim.ledgers, claim.proved, claim.standings),
        tightest=Tightest(ratio=best, attack=names[0]) if best and names else None,
    )  # fmt: skip
