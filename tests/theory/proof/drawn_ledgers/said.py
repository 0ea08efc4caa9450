"""What a family draws: a step, what comes before it, and whether it is true."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from random import Random
from typing import TypeAlias

from sympy import Expr, Integer, Rational, Symbol

from drawn_ledgers.models import NO_VALUE, S_0, Model, R, V, W, eye, k, lam, none, steps, u, v
from rnnbounds.theory.language import Statement
from rnnbounds.theory.language.definitions import Definition
from rnnbounds.theory.language.terms.variables import EitherSymbol, OperatorSymbol
from rnnbounds.theory.proof import Step
from rnnbounds.theory.proof.methods import GIVEN, Direct, Method, Smt, Words

DIRECT: tuple[type[Direct], ...] = (Smt, Smt, Words)
REALS = (*map(Integer, (0, -1, 1)), lam, Rational(1, 2), *map(Integer, (2, -3, 10)), S_0,
         *map(Integer, (-8, 1000, -1000)))  # fmt: skip
NATURALS = (*map(Integer, (0, 1, 2, 3)), steps, k)
VECTORS, OPERATORS = (Integer(0), u, v), (Integer(0), W, V, R, eye, none)
POINTS = 40


@dataclass(frozen=True)
class Said:
    """A step s; it is `true` by its making, or else to be refuted at some point."""

    conclusion: Statement
    forall: tuple[Symbol, ...]
    method: Method
    given: tuple[Statement, ...] = ()
    true: bool = False
    before: tuple[Step, ...] = ()
    defined: Definition | None = None
    model: Model | None = None  # with what is new, where something is

    @property
    def step(self) -> Step:
        """The step."""
        return Step("s", self.conclusion, self.method, self.forall, self.given, location="drawn")


Family: TypeAlias = Callable[[Random, Model], Said | None]


def premises(given: Sequence[Statement]) -> tuple[str, ...]:
    """The names of what is given."""
    return tuple(f"{GIVEN} {n}" for n, _ in enumerate(given, start=1))


def method(chance: Random, likely: type[Direct]) -> type[Direct]:
    """The likely one, or sometimes any."""
    return likely if chance.choice(range(6)) else chance.choice(DIRECT)


def pool(symbol: Symbol) -> tuple[Expr, ...]:
    """Terms to put for a variable, edges first."""
    if isinstance(symbol, OperatorSymbol):
        return OPERATORS
    if isinstance(symbol, EitherSymbol):
        return VECTORS + OPERATORS
    if not symbol.is_commutative:
        return VECTORS
    return NATURALS if symbol.is_integer else REALS


def points(forall: Sequence[Symbol]) -> Iterator[tuple[Expr, ...]]:
    """Terms for the variables: all where these are few, else some."""
    pools = [pool(one) for one in forall]
    if len(pools) < 3:
        return iter(product(*pools))
    chance = Random(len(pools))
    return (tuple(map(chance.choice, pools)) for _ in range(POINTS))


def witness(model: Model, step: Step) -> tuple[Expr, ...] | None:
    """Terms at which the step is certainly false, if there are some among those looked at."""
    for terms in islice(points(step.forall), 2 * POINTS):
        try:
            ends = zip(step.forall, terms, strict=True)
            here = model.at({one: model.of(term) for one, term in ends})
            if all(map(here.grants, step.given)) and here.refutes(step.conclusion):
                return terms
        except NO_VALUE:
            continue
    return None
