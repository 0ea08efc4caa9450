"""Random instances of the laws of special functions, of entries and of inner products."""

from random import Random
from typing import Any

from flint import arb, fmpq
from instances import World, natural
from networks import matrix, number, vector
from term_values import Op, column

from rnnbounds.theory.language.constants import SILU_PEAK, silu_peak_ball
from rnnbounds.theory.language.functions import LambertRoot, gamma_function
from rnnbounds.theory.language.terms.jets import row
from rnnbounds.theory.language.terms.unitary import line


def positive(random: Random, world: World) -> tuple[Any, ...]:
    """z > 0, where Γ is."""
    world[gamma_function] = lambda z: arb(z).gamma()
    return (fmpq(random.randrange(1, 30), random.randrange(1, 7)),)


def above_one(random: Random, world: World) -> tuple[Any, ...]:
    """z > 1, and the root of u − ln u = z from 1 on."""
    world[LambertRoot] = lambda z: -(-(-arb(z)).exp()).lambertw(-1)
    return (1 + fmpq(random.randrange(1, 30), random.randrange(1, 7)),)


def peak(random: Random, world: World) -> tuple[Any, ...]:
    """Where SiLU is steepest."""
    world[SILU_PEAK] = silu_peak_ball()
    return ()


def real(random: Random, world: World) -> tuple[Any, ...]:
    """z."""
    return (number(random),)


def three_vectors(random: Random, world: World) -> tuple[Any, ...]:
    """Of one size."""
    size = random.randrange(4)
    return tuple(vector(random, size) for _ in range(3))


def two_vectors(random: Random, world: World) -> tuple[Any, ...]:
    """Of one size, and an index."""
    size = random.randrange(4)
    return vector(random, size), vector(random, size), natural(random)


def two_operators(random: Random, world: World) -> tuple[Any, ...]:
    """Of one shape, and an index."""
    world[row] = _line
    rows, columns = random.randrange(4), random.randrange(4)
    return matrix(random, rows, columns), matrix(random, rows, columns), natural(random)


def product_and_sum(random: Random, world: World) -> tuple[Any, ...]:
    """A, two vectors of one size, one that A takes, and an index."""
    world[line] = _line
    columns, size = random.randrange(4), random.randrange(4)
    A = matrix(random, random.randrange(4), columns)
    several = (vector(random, size), vector(random, size), vector(random, columns))
    return A, *several, natural(random)


def _line(A: Op, i: fmpq) -> Op:
    """The i-th row as a vector, 0 beyond the last."""
    lines = A.lines
    return column(lines[int(i)] if int(i) < len(lines) else [fmpq(0)] * A.m.ncols())
