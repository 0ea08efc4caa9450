"""Records of proofs: the steps of a ledger, and the axioms that ledgers rest on."""

from typing import Literal

import msgspec

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
    """The proof of one form, and the axioms that it rests on.

    `presupposed` names the inclusions that the form assumes; without any it is derived from
    hypotheses alone. `ranges` are the least values that its quantities are declared to have. `met`
    is false where no test has a system that meets all assumptions.
    """

    form: str
    steps: tuple[LedgerStep, ...]
    axioms: tuple[str, ...]
    proved: bool
    definitions: tuple[Definition, ...] = ()
    presupposed: tuple[str, ...] = ()
    ranges: tuple[str, ...] = ()
    met: bool = True

    @property
    def standing(self) -> str:
        """How the form is proved, in words."""
        if not self.proved:
            return "not proved"
        return "derived from an assumed inclusion" if self.presupposed else "derived"


class Axiom(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A textbook theorem, which is taken without proof."""

    name: str
    text: str
    source: str
