"""Quantities: each has one name, one norm and one unit.

Symbols are real and nothing more (never `positive`: λ = 0 is a case); lengths and sizes are
integers.  The name of the symbol is the name in records.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import sympy
from sympy import Expr

Role: TypeAlias = Literal["parameter", "certified", "measured"]
# The value that a statement is attacked with, by role.
ROLE_MEANINGS: dict[Role, str] = {
    "parameter": "chosen",
    "certified": "certified upper bound of the model, not the supremum",
    "measured": "measured",
}
INTEGER_NAMES = tuple("T k t n d N states depth k_told".split())


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
        """SymPy's sort key, extended so that a quantity follows a plain symbol of its name."""
        kind, (_, names), *rest = super().sort_key(order)
        return kind, (1, (*names, "quantity")), *rest


_RUN_LENGTH = Symbol("T", integer=True)
_WINDOW_SYMBOLS = frozenset(Symbol(name, integer=True) for name in ("k", "t"))


@dataclass(frozen=True)
class Quantity:
    """A named quantity.

    `norm` is the norm or unit; `notation` is LaTeX; `lower` is the least value it can take (None:
    any real); `definition` is the formal term of a measured quantity, which ledgers unfold, and
    `of_cells` what it is of cells, if that is another one.
    `windowed` says that there is one for each window k; `about` names the kinds of systems that
    have it, or families of kinds, as forms do: none for what models in general have.
    """

    symbol: Symbol
    role: Role
    meaning: str
    norm: str
    notation: str
    lower: int | None = 0
    definition: Expr | None = None
    windowed: bool = False
    about: tuple[str, ...] = ()
    of_cells: Expr | None = None

    @property
    def is_single_step(self) -> bool:
        """True if it is measured on single steps, and not on a run of T steps."""
        return self.definition is not None and _RUN_LENGTH not in self.definition.free_symbols

    @property
    def name(self) -> str:
        """Name of the quantity in statements and in records."""
        return str(self.symbol.name)


def parameter(name: str, meaning: str, notation: str, lower: int | None = 0) -> Quantity:
    """Quantity that the check chooses, as k or T."""
    integer = name in INTEGER_NAMES
    symbol = Symbol(name, integer=True) if integer else Symbol(name, real=True)
    windowed = symbol in _WINDOW_SYMBOLS
    return Quantity(symbol, "parameter", meaning, "number", notation, lower, windowed=windowed)


def certified(
    name: str, meaning: str, norm_name: str, notation: str, windowed: bool = False
) -> Quantity:
    """Quantity that the model supplies: a rigorous upper bound on a constant."""
    symbol = Symbol(name, real=True)
    return Quantity(symbol, "certified", meaning, norm_name, notation, windowed=windowed)


def measured(
    name: str,
    meaning: str,
    notation: str,
    definition: Expr | None = None,
    unit: str = "Euclidean",
    windowed: bool = False,
) -> Quantity:
    """Quantity measured on a system; ledgers unfold its `definition`.

    It is windowed if its definition contains k or t; `windowed` declares it if a term hides them.
    """
    varies = definition is not None and not _WINDOW_SYMBOLS.isdisjoint(definition.free_symbols)
    symbol = Symbol(name, real=True)
    return Quantity(
        symbol, "measured", meaning, unit, notation, 0, definition, windowed=windowed or varies
    )


def tag(kinds: str, *quantities: Quantity) -> tuple[Quantity, ...]:
    """Restrict quantities to these kinds of systems (names separated by blanks)."""
    return tuple(replace(quantity, about=tuple(kinds.split())) for quantity in quantities)
