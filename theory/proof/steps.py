"""How ledgers are written: steps by z3 or by induction, and forms that their statement ends."""

from dataclasses import dataclass
from typing import TypeAlias

from sympy import Symbol

from rnnbounds.theory.language import Assumption, Statement, Use
from rnnbounds.theory.language.terms.variables import j
from rnnbounds.theory.proof.claim import Form
from rnnbounds.theory.proof.methods import GIVEN, HYPOTHESIS, Direct, Induction, Smt
from rnnbounds.theory.proof.proof import Proof, Step

Uses: TypeAlias = Use | tuple[Use, ...]


def premises(given: tuple[Statement, ...]) -> tuple[str, ...]:
    """Names under which a step uses its premises: "given 1", "given 2", …."""
    return tuple(f"{GIVEN} {index}" for index, _ in enumerate(given, start=1))


@dataclass(frozen=True)
class StepStatement:
    """Conclusion of a step, for all values of the variables for which the premises hold."""

    id: str
    conclusion: Statement
    forall: tuple[Symbol, ...] = ()
    given: tuple[Statement, ...] = ()

    def by(self, *uses: Use, method: type[Direct] = Smt) -> Step:
        """Step proved (by z3 unless said otherwise) from its premises and the uses."""
        proof = method(*premises(self.given), *uses)
        return Step(self.id, self.conclusion, proof, self.forall, self.given)

    def by_induction(
        self, base: Uses = (), step: Uses = (), over: Symbol = j, method: type[Direct] = Smt
    ) -> Step:
        """Step proved by induction: at 0, and from `over` to `over` + 1."""
        base_uses, step_uses = (
            uses if isinstance(uses, tuple) else (uses,) for uses in (base, step)
        )
        step_method = method(HYPOTHESIS, *premises(self.given), *step_uses)
        proof = Induction(over, method(*base_uses), step_method)
        return Step(self.id, self.conclusion, proof, self.forall, self.given)

    def inductively(
        self,
        base: tuple[Use, ...],
        step: tuple[Use, ...],
        over: Symbol = j,
        others: tuple[Symbol, ...] = (),
    ) -> Step:
        """Step proved by induction with all uses listed; the hypothesis is for all of `others`.

        The hypothesis carries the premises if they contain a variable of the induction.
        """
        varying = {over, *others}
        premises_vary = any(not varying.isdisjoint(premise.symbols) for premise in self.given)
        carried = self.given if premises_vary else ()
        proof = Induction(over, Smt(*base), Smt(*step), carried, others)
        return Step(self.id, self.conclusion, proof, self.forall, self.given)


step = StepStatement


@dataclass(frozen=True)
class FormStatement:
    """A form of a claim, and the steps that come before its statement itself."""

    name: str
    statement: Statement
    assumptions: tuple[Assumption, ...]
    about: str
    steps: tuple[Step, ...] = ()
    note: str = ""

    def by(self, *uses: Use) -> Form:
        """The statement, as the last step, by z3 from the uses."""
        proof = Proof((*self.steps, step("claim", self.statement).by(*uses)))
        return Form(self.name, self.statement, self.assumptions, self.about, proof, self.note)


theorem = FormStatement
