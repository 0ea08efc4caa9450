"""Records of proofs: the steps of a ledger, and the axioms that ledgers rest on."""

from typing import Literal

import msgspec

from rnnbounds.reports.records.basis import Basis, Standing

StepVerdict = Literal["proved", "failed"]


class LedgerStep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One step of a proof, stated for what `quantifier` says; `scope` is the quantifier with its
    formulas as MathML."""

    id: str
    statement: str
    method: str
    uses: tuple[str, ...]
    verdict: StepVerdict
    detail: str = ""
    mathml: str = ""
    quantifier: str = ""
    scope: str = ""


class Definition(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Equations that define a new function; `typeset` has them as MathML."""

    name: str
    text: str
    typeset: str = ""


class LedgerRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The proof of one form; `axioms` names the textbook theorems that it takes without proof.

    `basis` says what a proved form rests on, empty in older records, and `presupposed` names the
    assumptions that make it no derivation; `met` is false where no test has a system that meets
    all assumptions.
    """

    form: str
    steps: tuple[LedgerStep, ...]
    axioms: tuple[str, ...]
    proved: bool
    definitions: tuple[Definition, ...] = ()
    basis: Basis = ""
    presupposed: tuple[str, ...] = ()
    met: bool = True

    @property
    def standing(self) -> Standing:
        """Basis of the form if it is proved, else `not proved`."""
        return (self.basis or "proved") if self.proved else "not proved"


class Axiom(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A textbook theorem, and how many laws, in how many clauses, are taken of it without proof."""

    name: str
    text: str
    source: str
    laws: int = 1
    clauses: int = 1
