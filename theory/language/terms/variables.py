"""Bound variables of laws and steps, and symbols of vectors: what formal terms are written in.

A symbol has the sort of its class; the kernel's terms know the sorts of sums and products.
"""

import re
from typing import Any

from sympy import E, Symbol, pi, symbols

from rnnbounds.theory.language.constants import SILU_PEAK

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
NAMED: dict[str, list[Symbol]] = {"pi": [pi], "E": [E], "z_silu": [SILU_PEAK]}


def is_name(text: object) -> bool:
    """True for ASCII letters, digits and underscores alone: none looks like another."""
    return type(text) is str and _NAME.fullmatch(text) is not None


def primes(symbol: Symbol) -> int:
    """How many primes tell the symbol from those of its name that were there before."""
    known = NAMED.setdefault(symbol.name, [])
    if symbol not in known:
        known.append(symbol)
    return known.index(symbol)


class SortedSymbol(Symbol):
    """A non-commutative symbol of another sort than vectors; it is ordered as they are."""

    __slots__ = ()

    @classmethod
    def class_key(cls) -> tuple[Any, ...]:
        """SymPy's class key of plain symbols, so that both sort alike."""
        return Symbol.class_key()  # type: ignore[no-any-return]


class OperatorSymbol(SortedSymbol):
    """A symbol of operators: one takes what stands to its right."""

    __slots__ = ()


class EitherSymbol(SortedSymbol):
    """A variable of a law that is true of vectors and of operators."""

    __slots__ = ()


def vector(name: str) -> Symbol:
    """A fresh vector symbol."""
    return Symbol(name, commutative=False)


def operator(name: str) -> Symbol:
    """A fresh operator symbol."""
    return OperatorSymbol(name, commutative=False)


def either(name: str) -> Symbol:
    """A variable that ranges over vectors and over operators."""
    return EitherSymbol(name, commutative=False)


# Vectors, operators, vectors or operators, naturals, reals.
a, b, c, v = symbols("a b c v", commutative=False)
A, B = operator("A"), operator("B")
X, Y = either("X"), either("Y")
i, j, m, s = symbols("i j m s", integer=True)
y, z = symbols("y z", real=True)
# Input sequences: the given one, ones that differ from it, and another one altogether.
x, x_past = symbols("x x_past", commutative=False)
x_other = symbols("x_other", commutative=False)
w, w_other = symbols("w w_other", commutative=False)  # weights
eye = operator("I")  # the identity of the states, of which there is at least one
for _symbol in (a, b, c, v, A, B, X, Y, i, j, m, s, y, z, x, x_past, x_other, w, w_other, eye):
    primes(_symbol)
