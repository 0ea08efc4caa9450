"""Heads of terms: of each symbol one record, which says what is built in of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

Range: TypeAlias = Literal["real", "natural", "vector", "operator", "either"]
NUMBERS = frozenset(("number", "scalar", "real", "norm"))  # the kinds whose values are numbers


@dataclass(frozen=True)
class Head:
    """Root symbol of a term: a function, an operation, a variable or a number.

    kind: `number`, `variable`, `sum`, `product`, `power`, or a function by its values:
    `scalar`, `norm`, `vector`, `operator`; `real` for the functions of reals that statements are
    written in, of which `theory.kernel.functions` knows more.
    """

    name: str
    kind: str
    range: Range = "real"
    least: int | None = None  # a lower bound on all values of a variable
    interval: tuple[Fraction, Fraction] | None = None  # of a constant with no closed form
    mark: int = 0  # tells variables of one name apart
    is_of_numbers: bool = False
    is_of_one: bool = False  # it takes one argument
    is_odd: bool = False
    value: tuple[int, int] | None = None  # an argument, and the value there

    @property
    def is_formal(self) -> bool:
        """True if the head is an uninterpreted scalar: known by laws alone."""
        return self.kind == "scalar" and self.interval is None


def _real(name: str, is_odd: bool = False, value: tuple[int, int] | None = None) -> Head:
    """A function of one real."""
    at = (0, 0) if is_odd else value
    return Head(name, "real", is_of_numbers=True, is_of_one=True, is_odd=is_odd, value=at)


NUMBER, SUM, PRODUCT, POWER = (Head(kind, kind) for kind in ("number", "sum", "product", "power"))
ABS, LOG = _real("abs"), _real("log", value=(1, 0))
EXP, COS = (_real(name, value=(0, 1)) for name in ("exp", "cos"))
TANH, SIN, ATAN, ERF = (_real(name, is_odd=True) for name in ("tanh", "sin", "atan", "erf"))
MAX, MIN = (Head(name, "real", is_of_numbers=True) for name in ("max", "min"))
REAL_FUNCTIONS = {head.name: head for head in (ABS, MAX, MIN, LOG, TANH, EXP, SIN, COS, ATAN, ERF)}
# The functions of formal terms of which rules know something.
TRANSPOSE = Head("transpose", "operator", is_of_one=True)
EXPONENTIAL = Head("exponential", "scalar", is_of_numbers=True, is_of_one=True)
