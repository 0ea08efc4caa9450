"""Bound variables of laws and steps, and symbols of vectors: what formal terms are written in."""

from sympy import Symbol, symbols

from rnnbounds.theory.language.sorts import EitherSymbol, OperatorSymbol


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
x, x_past, x_edge, x_zeroed = symbols("x x_past x_edge x_zeroed", commutative=False)
x_other = symbols("x_other", commutative=False)
w, w_other = symbols("w w_other", commutative=False)  # weights
eye = operator("I")  # the identity of the states, of which there is at least one
