"""How ledgers are written: a step by z3, an induction, a form with its statement as last step."""

from typing import TypeAlias

from sympy import Symbol

from theory.language.claim import Form
from theory.language.law import Assumption, Use
from theory.language.statement import Statement
from theory.language.terms.vectors import j
from theory.proof.methods import Identity, Induction, Smt
from theory.proof.methods.base import GIVEN
from theory.proof.methods.induction import HYPOTHESIS
from theory.proof.proof import Proof, Step

Uses: TypeAlias = Use | tuple[Use, ...]


def premises(given: tuple[Statement, ...]) -> tuple[str, ...]:
    """The names under which a step uses what is given."""
    return tuple(f"{GIVEN} {index}" for index, _ in enumerate(given, start=1))


def step(
    id: str,
    conclusion: Statement,
    *uses: Use,
    forall: tuple[Symbol, ...] = (),
    given: tuple[Statement, ...] = (),
) -> Step:
    """The conclusion by z3, from all that is given and from the uses."""
    return Step(id, conclusion, Smt(*premises(given), *uses), forall, given)


def induction(
    id: str,
    conclusion: Statement,
    base: Uses = (),
    step: Uses = (),
    *,
    forall: tuple[Symbol, ...],
    given: tuple[Statement, ...] = (),
    over: Symbol = j,
    by: type[Smt | Identity] = Smt,
) -> Step:
    """By induction: the base, and the step, which uses the hypothesis; both use what is given."""
    known = premises(given)
    begin, more = (uses if isinstance(uses, tuple) else (uses,) for uses in (base, step))
    method = Induction(over, by(*known, *begin), by(HYPOTHESIS, *known, *more))
    return Step(id, conclusion, method, forall, given)


def theorem(
    name: str,
    statement: Statement,
    assumptions: tuple[Assumption, ...],
    about: str,
    steps: tuple[Step, ...],
    *uses: Use,
    note: str = "",
) -> Form:
    """A form whose proof ends with the statement itself, by z3 from the uses."""
    proof = Proof((*steps, step("claim", statement, *uses)))
    return Form(name, statement, assumptions, about, proof, note)
