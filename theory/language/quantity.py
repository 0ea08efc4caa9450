"""What a quantity is: one name, one norm, one unit.

Symbols are real and nothing more (never `positive`: λ = 0 is a case); lengths and sizes are
integers.  The name of the symbol is the name in records.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import sympy
from sympy import Expr

Role: TypeAlias = Literal["parameter", "certified", "measured"]
INTEGERS = ("T", "k", "t", "n", "d", "N", "states", "depth", "k_told", "two_norm_steps_told")


class Symbol(sympy.Symbol):
    """The symbol of a quantity: no plain symbol equals it, so that whatever name a ledger gives to
    what it binds, a quantity of that name is another thing.

    It sorts as a plain symbol does, and after the one of its name.
    """

    __slots__ = ()

    def _hashable_content(self) -> tuple[Any, ...]:
        name, *known, last = super()._hashable_content()
        return (name, *known, (*last, "quantity"))

    def sort_key(self, order: Any = None) -> Any:
        """SymPy's own, and by the class after the name."""
        kind, (_, names), *rest = super().sort_key(order)
        return kind, (1, (*names, "quantity")), *rest


@dataclass(frozen=True)
class Quantity:
    """A named quantity.

    `norm` is the norm or unit; `notation` is LaTeX; `lower` is the least value it can take (None:
    any real); `definition` is the formal term of a measured quantity, which ledgers unfold.
    """

    symbol: Symbol
    role: Role
    meaning: str
    norm: str
    notation: str
    lower: int | None = 0
    definition: Expr | None = None

    @property
    def name(self) -> str:
        """The name in statements and in records."""
        return str(self.symbol.name)


def parameter(name: str, meaning: str, notation: str, lower: int | None = 0) -> Quantity:
    """A number that the check chooses."""
    integer = name in INTEGERS
    symbol = Symbol(name, integer=True) if integer else Symbol(name, real=True)
    return Quantity(symbol, "parameter", meaning, "number", notation, lower)


def certified(name: str, meaning: str, norm_name: str, notation: str) -> Quantity:
    """A constant that the model supplies: a rigorous upper bound."""
    return Quantity(Symbol(name, real=True), "certified", meaning, norm_name, notation)


def measured(
    name: str, meaning: str, notation: str, definition: Expr | None = None, unit: str = "Euclidean"
) -> Quantity:
    """What is seen on a system; `definition` is what the ledgers unfold."""
    symbol = Symbol(name, real=True)
    return Quantity(symbol, "measured", meaning, unit, notation, 0, definition)
