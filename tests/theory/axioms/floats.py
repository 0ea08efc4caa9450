"""What float64 makes of sums of products, and of Cholesky's factorisation, at random numbers."""

from __future__ import annotations

from math import sqrt
from random import Random
from typing import Any

from flint import fmpq
from formal import Op, diagonal, op

from rnnbounds.theory.axioms.base import u
from rnnbounds.theory.language.terms import vectors as terms
from rnnbounds.theory.language.terms.variables import eye

Lines = list[list[float]]
WIDE = (0.0, 1.0, 1e-3, 1e3, 1e8)


def numbers(random: Random, rows: int, columns: int) -> Lines:
    """Floats of very different sizes."""
    return [[random.gauss(0, 1) * random.choice(WIDE) for _ in range(columns)] for _ in range(rows)]


def exact(lines: Lines, rows: int, columns: int) -> Op:
    """The floats, as they are."""
    return op([[fmpq(*x.as_integer_ratio()) for x in line] for line in lines], rows, columns)


def dot(first: list[float], second: list[float], start: float = 0.0) -> float:
    """One rounding a product and one a sum."""
    for p, q in zip(first, second, strict=True):
        start += p * q
    return start


def one_step(random: Random, world: dict[Any, Any]) -> tuple[Any, ...]:
    """A a + B b + v."""
    rows, k, q = (random.randrange(4) for _ in range(3))
    A, B = numbers(random, rows, k), numbers(random, rows, q)
    p, r, v = numbers(random, k, 1), numbers(random, q, 1), numbers(random, rows, 1)
    flat = [x for (x,) in p], [x for (x,) in r]
    found = [[dot(A[i], flat[0]) + dot(B[i], flat[1]) + v[i][0]] for i in range(rows)]
    world |= {u: fmpq(1, 2**53), terms.in_range: lambda *_: 1}
    world[terms.rounded_step] = lambda *_: exact(found, rows, 1)
    return (
        exact(A, rows, k), exact(p, k, 1), exact(B, rows, q), exact(r, q, 1), exact(v, rows, 1),
        fmpq(k), fmpq(q)
    )  # fmt: skip


def factorises(A: Lines) -> bool:
    """Whether Cholesky's factorisation runs to completion."""
    size = len(A)
    R = [[0.0] * size for _ in range(size)]
    for j in range(size):
        for i in range(j + 1):
            rest = A[i][j] - dot([R[k][i] for k in range(i)], [R[k][j] for k in range(i)])
            if i < j:
                R[i][j] = rest / R[i][i]
            elif rest <= 0:
                return False
            else:
                R[j][j] = sqrt(rest)
    return True


def nearly_singular(random: Random, size: int) -> Lines:
    """BᵀB of a singular B, and a shift of the size of its rounding."""
    B = [[random.gauss(0, 1) for _ in range(size)] for _ in range(max(size - 1, 1))]
    A = [[dot([b[i] for b in B], [b[j] for b in B]) for j in range(size)] for i in range(size)]
    for i in range(size):
        A[i][i] += random.choice((0.0, 0.0, 0.0, 1e-16)) * sum(A[k][k] for k in range(size))
    return A


def cholesky(random: Random, world: dict[Any, Any]) -> tuple[Any, ...]:
    """A symmetric matrix that may or may not factorise."""
    size = random.randrange(1, 4)
    tried = [nearly_singular(random, size) for _ in range(9)]
    A = next(filter(factorises, tried), tried[0])
    world |= {u: fmpq(1, 2**53), terms.completes: lambda *_: int(factorises(A))}
    return exact(A, size, size), fmpq(size)


def gram_step(random: Random, world: dict[Any, Any]) -> tuple[Any, ...]:
    """y² I − AᵀA − z I, of a square A."""
    size = random.randrange(1, 4)
    A = numbers(random, size, size)
    length = sqrt(sum(x * x for line in A for x in line))
    y, z = length * random.choice((1.0, 1.1, 2.0, 10.0)), random.random() * random.choice((0, 1e-9))
    by = list(zip(*A, strict=True))
    found = [[-dot(list(by[i]), list(by[j])) for j in range(size)] for i in range(size)]
    for i in range(size):
        found[i][i] = (y * y + found[i][i]) - z
    done = int(factorises(found))
    world |= {u: fmpq(1, 2**53), eye: diagonal([1] * size)}
    world |= {terms.in_range: lambda *_: 1, terms.completes: lambda *_: done}
    world[terms.rounded_gram] = lambda *_: exact(found, size, size)
    return exact(A, size, size), *(fmpq(*q.as_integer_ratio()) for q in (y, z)), fmpq(size)
