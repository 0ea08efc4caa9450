"""Small random networks over the rationals, and their derivatives by dual numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from flint import fmpq
from term_values import Op, column, diagonal, op

from rnnbounds.theory.axioms.activations import L_rho, beta_rho
from rnnbounds.theory.language.terms import networks as of_gradients
from rnnbounds.theory.language.terms import unitary as of_unitary
from rnnbounds.theory.language.terms import vectors as terms
from rnnbounds.theory.language.terms.variables import eye, w_other

SMALL = (-2, -1, 0, 0, 1, 2)


def number(random: Random) -> fmpq:
    """A small rational, often a whole number and often 0."""
    return fmpq(random.choice(SMALL), random.choice((1, 1, 2, 3)))


def vector(random: Random, size: int, to: str = "E") -> Op:
    """A vector, often 0."""
    zero = random.randrange(6) == 0
    return column([0 if zero else number(random) for _ in range(size)], to)


def matrix(random: Random, rows: int, columns: int, to: str = "E", of: str = "E") -> Op:
    """A matrix, often singular."""
    lines = [[number(random) for _ in range(columns)] for _ in range(rows)]
    if rows > 1 and random.randrange(3) == 0:
        lines[-1] = [random.randrange(3) * x for x in lines[0]]
    return op(lines, rows, columns, to, of)


@dataclass(frozen=True)
class Dual:
    """x + x′ε."""

    x: fmpq
    slope: fmpq

    def __add__(self, other: Dual) -> Dual:
        return Dual(self.x + other.x, self.slope + other.slope)

    def __mul__(self, other: Dual) -> Dual:
        return Dual(self.x * other.x, self.x * other.slope + self.slope * other.x)


def duals(values: list[fmpq], slopes: list[fmpq]) -> list[Dual]:
    """With these slopes, or with none."""
    slopes = slopes or [fmpq(0)] * len(values)
    return [Dual(p, q) for p, q in zip(values, slopes, strict=True)]


@dataclass(frozen=True)
class Rho:
    """An activation c f(z), f′ and f″; the steepest slopes of f and f′, None where they jump."""

    c: fmpq
    f: Callable[[fmpq], fmpq]
    first: Callable[[fmpq], fmpq]
    second: Callable[[fmpq], fmpq]
    kinks: tuple[int, ...]
    steep: int | None
    bent: int | None

    def at(self, z: fmpq, order: int = 0) -> fmpq:
        """The derivative of this order; at a kink, one from its left."""
        return self.c * (self.f, self.first, self.second)[order](z)

    def secant(self, y: fmpq, z: fmpq, order: int = 0) -> fmpq:
        """(f(y) − f(z))/(y − z), and f′(y) for z = y."""
        if y == z:
            return self.at(y, order + 1)
        return (self.at(y, order) - self.at(z, order)) / (y - z)

    def steepness(self, z: fmpq, order: int = 0) -> fmpq:
        """limsup |f(y) − f(z)|/|y − z|; a jump is one of the world's largest numbers."""
        limit = (self.steep, self.bent)[order]
        if limit is None and z in self.kinks and self.c != 0:
            return fmpq(10**9)
        near = (z - fmpq(1, 10**6), z, z + fmpq(1, 10**6))
        return max(abs(self.at(y, order + 1)) for y in near)


def _zero(z: fmpq) -> fmpq:
    return fmpq(0)


def _on(z: fmpq) -> fmpq:
    return fmpq(z > 0)


RHOS = (
    Rho(fmpq(1), lambda z: z, lambda z: fmpq(1), _zero, (), 1, 0),
    Rho(fmpq(1), lambda z: max(z, fmpq(0)), _on, _zero, (0,), 1, None),
    Rho(  # ∫ of a ramp from 0 to 1: its slope has kinks, and it has none
        fmpq(1),
        lambda z: fmpq(0) if z <= 0 else z * z / 2 if z <= 1 else z - fmpq(1, 2),
        lambda z: min(max(z, fmpq(0)), fmpq(1)),
        lambda z: fmpq(0 < z <= 1),
        (),
        1,
        1,
    ),
)
STEP = Rho(fmpq(1), _on, _zero, _zero, (0,), None, None)  # flat but for a jump at 0


@dataclass(frozen=True)
class Weights:
    """W, U and b."""

    W: Op
    U: Op
    b: Op

    @property
    def flat(self) -> list[fmpq]:
        """All weights in one list."""
        return [x for part in (self.W, self.U, self.b) for line in part.lines for x in line]


@dataclass(frozen=True)
class Network:
    """h⁺ = ρ(W h + U x + b)."""

    n: int
    d: int
    rho: Rho

    def step(self, w: list[Any], h: list[Any], x: list[Any], dual: bool) -> list[Any]:
        """One step, over rationals or over dual numbers."""
        n, d = self.n, self.d
        found = []
        for r in range(n):
            z = w[n * n + n * d + r]
            for k in range(n):
                z = z + w[r * n + k] * h[k]
            for k in range(d):
                z = z + w[n * n + r * d + k] * x[k]
            if dual:
                found.append(Dual(self.rho.at(z.x), self.rho.at(z.x, 1) * z.slope))
            else:
                found.append(self.rho.at(z))
        return found

    def run(self, w: list[fmpq], start: list[fmpq], xs: list[list[fmpq]]) -> list[fmpq]:
        """The state after these inputs."""
        for x in xs:
            start = self.step(w, start, x, dual=False)
        return start

    def derivative(
        self, w: list[fmpq], start: list[fmpq], xs: list[list[fmpq]], which: str, at: int = 0
    ) -> Op:
        """Of the last state in the weights, in the start, or in the input of one step."""
        moved = {"w": w, "h": start, "x": xs[at] if which == "x" else []}[which]
        columns = []
        for index in range(len(moved)):
            seeds = [fmpq(k == index) for k in range(len(moved))]

            h = duals(start, seeds if which == "h" else [])
            for time, x in enumerate(xs):
                inputs = duals(x, seeds if which == "x" and time == at else [])
                h = self.step(duals(w, seeds if which == "w" else []), h, inputs, dual=True)
            columns.append([dual.slope for dual in h])
        lines = [[c[r] for c in columns] for r in range(self.n)]
        of = "S" if which == "h" else "E"
        return op(lines, self.n, len(moved), "S", of)


def network(random: Random, rho: Rho | None = None) -> tuple[Network, Weights, Weights]:
    """A network of 0 to 3 states and 0 to 2 inputs, and two sets of weights."""
    n, d = random.randrange(4), random.randrange(3)
    chosen = rho or replace(random.choice(RHOS), c=number(random))
    weights = [
        Weights(matrix(random, n, n, "S", "S"), matrix(random, n, d, "S"), vector(random, n, "S"))
        for _ in range(2)
    ]
    return Network(n, d, chosen), weights[0], weights[1]


def of_run(random: Random, world: dict[Any, Any], rho: Any = None) -> Any:
    """A network, and what the formal terms of runs mean of it."""
    net, own, other = network(random, rho)
    flats = {"own": own.flat, "other": other.flat}
    weights = {"own": own, "other": other}

    def flat(w: tuple[str, ...]) -> list[fmpq]:
        return flats[w[0] if w else "own"]

    def listed(h: Any) -> list[fmpq]:
        return [h.entry(r) for r in range(h.m.nrows())] if isinstance(h, Op) else [fmpq(0)] * net.n

    def derived(which: str) -> Callable[..., Op]:
        return lambda h, x, *w: net.derivative(flat(w), listed(h), [listed(x)], which)

    def run(xs: Any, s: fmpq, j: fmpq, *w: str) -> Op:
        zero = [fmpq(0)] * net.n
        return column(net.run(flat(w), zero, xs[int(s) + 1 : int(s + j) + 1]), "S")

    def smooth(h: Any, x: Any, *w: str) -> int:
        of = weights[w[0] if w else "own"]
        inner = of.W * column(listed(h), "S") + of.U * column(listed(x)) + of.b
        return int(all(z not in net.rho.kinks for z in listed(inner)))

    def start(xs: Any, s: fmpq) -> list[fmpq]:
        return listed(run(xs, fmpq(0), s))

    def blocks(h: Op, x: Op) -> Op:
        """(δW, δU, δb) ↦ δW h + δU x + δb."""
        n, one = net.n, [fmpq(1)]
        rows = [[fmpq(0)] * (n * n + n * net.d + n) for _ in range(n)]
        for r in range(n):
            rows[r][r * n : r * n + n] = listed(h)
            rows[r][n * n + r * net.d : n * n + (r + 1) * net.d] = listed(x)
            rows[r][n * n + n * net.d + r : n * n + n * net.d + r + 1] = one
        return op(rows, n, n * n + n * net.d + n, "S")

    def secants(p: Op, q: Op, order: int) -> Op:
        pairs = zip(listed(p), listed(q), strict=True)
        return diagonal([net.rho.secant(y, z, order) for y, z in pairs], "S")

    world |= {w_other: "other", L_rho: abs(net.rho.c), beta_rho: abs(net.rho.c)}
    world |= {
        terms.entry: lambda xs, t: column(xs[int(t)]),
        terms.state: run,
        terms.phi: lambda h, x, *w: column(net.run(flat(w), listed(h), [listed(x)]), "S"),
        of_gradients.d_state: derived("h"),
        of_gradients.d_input: derived("x"),
        of_gradients.d_weights: derived("w"),
        of_gradients.differentiable: smooth,
        of_gradients.lift: blocks,
        of_gradients.activation: lambda p: column([net.rho.at(z) for z in listed(p)], "S"),
        of_gradients.slopes: lambda p, q: secants(p, q, 0),
        of_gradients.bends: lambda p, q: secants(p, q, 1),
        of_gradients.derivative: lambda z: net.rho.at(z, 1),
        of_gradients.steepness: net.rho.steepness,
        of_gradients.curvature: lambda z: net.rho.steepness(z, 1),
        of_gradients.jacobian: lambda xs, T, t: net.derivative(
            flat(()), [fmpq(0)] * net.n, xs[1 : int(T) + 1], "x", int(t) - 1
        ),
        of_gradients.sensitivity: lambda xs, s, j, *w: net.derivative(
            flat(w), [fmpq(0)] * net.n, xs[int(s) + 1 : int(s + j) + 1], "w"
        ),
        of_unitary.d_run: lambda xs, s, j: net.derivative(
            flat(()), start(xs, s), xs[int(s) + 1 : int(s + j) + 1], "h"
        ),
    }
    world[eye] = diagonal([1] * net.n, "S")
    world["weights"] = weights
    return net
