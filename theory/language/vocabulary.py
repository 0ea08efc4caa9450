"""The vocabulary of all statements: every quantity bound once, by its name.

`QUANTITIES` are those of `theory.language.quantities`; a claim may bring its own, by `enter`.

States and outputs are measured in the Euclidean norm unless the name says otherwise, weights in
the Euclidean norm of all trained weights together.
"""

from dataclasses import replace
from functools import lru_cache
from types import NoneType

from sympy import Expr, Symbol

from rnnbounds.theory.errors import InputError, UnknownNameError
from rnnbounds.theory.language.quantities.kinds import CAUSAL, CELLS, GATES, LAYERS, STACKS, UNITARY
from rnnbounds.theory.language.quantities.models import GRADIENTS, MODELS, TRAINING
from rnnbounds.theory.language.quantity import Quantity
from rnnbounds.theory.language.quantity import Symbol as QuantitySymbol
from rnnbounds.theory.language.statement import Statement
from rnnbounds.theory.language.terms.trees import foreign
from rnnbounds.theory.language.terms.variables import is_name, primes

__all__ = [
    "DEFINITIONS", "QUANTITIES", "VOCABULARY", "Quantity", "enter", "quantity", "symbols",
    "unfold",
]  # fmt: skip


QUANTITIES: tuple[Quantity, ...] = (
    *MODELS,
    *GRADIENTS,
    *TRAINING,
    *UNITARY,
    *GATES,
    *CELLS,
    *CAUSAL,
    *LAYERS,
    *STACKS,
)
VOCABULARY: dict[str, Quantity] = {
    quantity.name: quantity for quantity in QUANTITIES if not primes(quantity.symbol)
}
DEFINITIONS: dict[Symbol, Expr] = {
    quantity.symbol: quantity.definition
    for quantity in QUANTITIES
    if quantity.definition is not None
}
# What a quantity is of cells, where that is another thing.
OF_CELLS: dict[Symbol, Expr] = {
    quantity.symbol: quantity.of_cells for quantity in QUANTITIES if quantity.of_cells is not None
}


def enter(*quantities: Quantity) -> tuple[Symbol, ...]:
    """The symbols of the quantities that a claim brings with it, once they are in the vocabulary.

    Raises InputError where another has the name, or a definition speaks of measured quantities.
    """
    unfold.cache_clear()
    for new in quantities:
        if type(new) is not Quantity:
            raise InputError(
                f"{type(new).__name__} is no record of a quantity; use Quantity itself"
            )
        if not is_name(new.symbol.name) or type(new.lower) not in (int, NoneType):
            raise InputError(f"{new.name!r} has no plain name, or a least value that is no number")
        values = [value for value in (new.definition, new.of_cells) if value is not None]
        if other := "".join(map(foreign, values)):
            raise InputError(f"{new.name!r} is defined by a {other}, which is no plain term")
        defined = {new.symbol, *DEFINITIONS}
        if new.definition is not None and not defined.isdisjoint(new.definition.free_symbols):
            raise InputError(f"{new.name!r} is not defined by plain terms; write out what it is")
        if new.definition is not None and any(
            new.symbol in told.free_symbols for told in DEFINITIONS.values()
        ):
            raise InputError(f"{new.name!r} is what another one is defined by; enter it before")
        if type(new.symbol) is not QuantitySymbol:
            raise InputError(f"{new.name!r} is a variable; make it by `parameter` or `measured`")
        taken = {one.notation for one in VOCABULARY.values()}
        if new.name not in VOCABULARY and new.notation in taken:
            raise InputError(f"{new.name!r} has the notation of another one, {new.notation}")
        if VOCABULARY.setdefault(new.name, replace(new)) != new:  # nobody else has this one
            raise InputError(f"two quantities are named {new.name!r}; give one another name")
        primes(new.symbol)
        if new.definition is not None:
            DEFINITIONS[new.symbol] = new.definition
        if new.of_cells is not None:
            OF_CELLS[new.symbol] = new.of_cells
    return tuple(new.symbol for new in quantities)


def quantity(name: str) -> Quantity:
    """The quantity of this name; raises UnknownNameError."""
    if name not in VOCABULARY:
        raise UnknownNameError("quantity", name, VOCABULARY)
    return VOCABULARY[name]


def symbols(names: str) -> tuple[Symbol, ...]:
    """The symbols of several quantities, separated by blanks."""
    return tuple(quantity(name).symbol for name in names.split())


@lru_cache(maxsize=2**16)
def unfold(statement: Statement) -> Statement:
    """The statement with each measured quantity replaced by its formal definition."""
    return statement.replace(DEFINITIONS)
