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
    """The names under which a step uses what is given."""
    return tuple(f"{GIVEN} {index}" for index, _ in enumerate(given, start=1))


@dataclass(frozen=True)
class Stated:
    """Conclusion of a step, for all values of the variables for which the premises hold."""

    id: str
    conclusion: Statement
    forall: tuple[Symbol, ...] = ()
    given: tuple[Statement, ...] = ()

    def by(self, *uses: Use, method: type[Direct] = Smt) -> Step:
        """Proved, by z3 unless said otherwise, from all that is given and from the uses."""
        proof = method(*premises(self.given), *uses)
        return Step(self.id, self.conclusion, proof, self.forall, self.given)

    def by_induction(
        self, base: Uses = (), step: Uses = (), over: Symbol = j, method: type[Direct] = Smt
    ) -> Step:
        """Proved at 0 and, from the hypothesis and what is given, from one to the next."""
        begin, more = (uses if isinstance(uses, tuple) else (uses,) for uses in (base, step))
        further = method(HYPOTHESIS, *premises(self.given), *more)
        proof = Induction(over, method(*begin), further)
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
        moving = {over, *others}
        varies = any(not moving.isdisjoint(premise.symbols) for premise in self.given)
        carried = self.given if varies else ()
        proof = Induction(over, Smt(*base), Smt(*step), carried, others)
        return Step(self.id, self.conclusion, proof, self.forall, self.given)


step = Stated


@dataclass(frozen=True)
class Claimed:
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


theorem = Claimed
