"""Random instances of the laws' variables, and what the formal terms mean there.

Each takes a source of chance and a world, to which it adds meanings, and returns the values of the
law's variables.  Where a law requires another, `world["each"]` draws what that is said of.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from flint import arb, fmpq
from networks import RHOS, STEP, matrix, number, of_run, vector
from term_values import (
    Op,
    column,
    diagonal,
    eigenvalues,
    induced,
    largest,
    op,
    root,
    row_sums,
    spectral,
)

from rnnbounds.theory.language.terms import jets as of_jets
from rnnbounds.theory.language.terms import networks as of_gates
from rnnbounds.theory.language.terms import networks as of_gradients
from rnnbounds.theory.language.terms import vectors as terms
from rnnbounds.theory.language.terms.variables import eye

World = dict[Any, Any]
Draw = Callable[[Random, World], tuple[Any, ...]]


def inputs(random: Random, d: int) -> list[list[fmpq]]:
    """x_0, x_1, …"""
    return [[number(random) for _ in range(d)] for _ in range(10)]


def natural(random: Random) -> fmpq:
    """0 to 2."""
    return fmpq(random.randrange(3))


def sizes(random: Random, count: int) -> list[int]:
    """0 to 3, of spaces."""
    return [random.randrange(4) for _ in range(count)]


def like(random: Random, world: World) -> tuple[Any, ...]:
    """Two vectors or matrices of one shape, of states or not, at times equal."""
    (p, q), to, of = sizes(random, 2), random.choice("ES"), random.choice("ES")
    first = matrix(random, p, q, to, of)
    return first, first if random.randrange(6) == 0 else matrix(random, p, q, to, of)


def scaled(random: Random, world: World) -> tuple[Any, ...]:
    """A number, and a vector or matrix."""
    return number(random), like(random, world)[0]


def nearest_one(random: Random, world: World) -> tuple[Any, ...]:
    """One of its points."""
    return nearest(random, world)[:1]


def vectors(random: Random, world: World) -> tuple[Any, ...]:
    """Two vectors, at times equal."""
    (n,) = sizes(random, 1)
    first = vector(random, n)
    return first, first if random.randrange(5) == 0 else vector(random, n)


def in_product(random: Random, world: World) -> tuple[Any, ...]:
    """Two operators, the second into the space of the first."""
    p, q, r = sizes(random, 3)
    one, two, three = (random.choice("ES") for _ in range(3))
    return matrix(random, p, q, one, two), matrix(random, q, r, two, three)


def transposed_product(random: Random, world: World) -> tuple[Any, ...]:
    """Two operators into one space."""
    p, q, r = sizes(random, 3)
    return matrix(random, p, q), matrix(random, p, r)


def on_vector(random: Random, world: World) -> tuple[Any, ...]:
    """An operator and a vector."""
    p, q = sizes(random, 2)
    return matrix(random, p, q), vector(random, q)


def time(*names: str) -> Draw:
    """A run, and naturals or states of it."""

    def draw(random: Random, world: World) -> tuple[Any, ...]:
        net = of_run(random, world)
        xs = inputs(random, net.d)
        known = {"x": lambda: xs, "h": lambda: vector(random, net.n, "S")}
        known |= {"u": lambda: vector(random, net.d), "j": lambda: natural(random)}
        return tuple(known[name]() for name in names)

    return draw


def lipschitz(space: str, of: str = "own") -> Draw:
    """A constant of φ in the state, in either norm, or in the input: the least one or more."""

    def draw(random: Random, world: World) -> tuple[Any, ...]:
        net = of_run(random, world)
        own = world["weights"][of]
        bound = induced(own.W, world["weights of units"]) if space == "S" else spectral(own.W)
        bound = spectral(own.U) if space == "U" else bound
        constant = abs(net.rho.c) * bound * random.choice((1, 1, 2))
        p, q = (net.d, net.n) if space == "U" else (net.n, net.d)
        world["each"] = lambda: (vector(random, p), vector(random, p), vector(random, q))
        return constant, vector(random, net.n, "S"), vector(random, net.d)

    return draw


def expanding(random: Random, world: World) -> tuple[Any, ...]:
    """φ(h, x) = W h with ‖W h‖ ≥ L‖h‖, L the least singular value."""
    n = random.randrange(1, 4)
    W = matrix(random, n, n)
    world[terms.phi] = lambda h, x: W * h
    world[of_gradients.d_state] = lambda h, x: W
    world[of_gradients.differentiable] = lambda h, x: 1
    least = root(max(min(eigenvalues(W.transposed * W), key=float), arb(0), key=float))
    world["each"] = lambda: (vector(random, n), vector(random, n), None)
    return least * random.choice((1, 1, fmpq(1, 2))), vector(random, n), None, matrix(random, n, 2)


def layer(random: Random, world: World) -> tuple[Any, ...]:
    """φ(h, x) = ρ(A h + B x + b)."""
    net = of_run(random, world)
    own = world["weights"]["own"]
    world["each"] = lambda: (vector(random, net.n, "S"), vector(random, net.d))
    return own.W, own.U, own.b, vector(random, net.n, "S"), vector(random, net.d)


def preactivations(random: Random, world: World) -> tuple[Any, ...]:
    """Two, at times equal, of a network whose activation may have kinks or be flat."""
    net = of_run(random, world)
    first = vector(random, net.n, "S")
    return first, first if random.randrange(5) == 0 else vector(random, net.n, "S")


def jumping(random: Random, world: World) -> tuple[Any, ...]:
    """The same, of an activation that is flat but for a jump at 0."""
    net = of_run(random, world, replace(STEP, c=fmpq(1, 100)))
    return vector(random, net.n, "S"), vector(random, net.n, "S")


def commuting(random: Random, world: World) -> tuple[Any, ...]:
    """The same, a vector, and a diagonal matrix, or one that is none."""
    first, second = preactivations(random, world)
    n = first.m.nrows()
    A = diagonal([number(random) for _ in range(n)])
    return A, first, second, vector(random, n)


def loss(random: Random, world: World) -> tuple[Any, ...]:
    """p(h) = hᵀQh/2 + Σ ∫ρ: its second derivative is Q + diag ρ'."""
    net = of_run(random, world, replace(RHOS[2], c=number(random)))
    half = matrix(random, net.n, net.n)
    Q = half + half.transposed
    world[of_gradients.gradient] = lambda h: Q * h + world[of_gradients.activation](h)
    world[of_gradients.hessian] = lambda h: Q + world[of_gradients.slopes](h, h)
    bound = spectral(Q) + abs(net.rho.c)
    world["each"] = lambda: (vector(random, net.n, "S"),)
    return bound, vector(random, net.n, "S"), vector(random, net.n, "S")


def loss_that_jumps(random: Random, world: World) -> tuple[Any, ...]:
    """p(h) = Σ max(h_i, 0), whose second derivative is 0 but where its gradient jumps."""
    net = of_run(random, world, STEP)
    world[of_gradients.gradient] = world[of_gradients.activation]
    world[of_gradients.hessian] = lambda h: world[of_gradients.slopes](h, h)
    world["each"] = lambda: (vector(random, net.n, "S") * fmpq(0),)
    return fmpq(0), vector(random, net.n, "S"), vector(random, net.n, "S")


def linear(random: Random, world: World) -> tuple[Any, ...]:
    """An operator and a bound on its norm."""
    p, q = sizes(random, 2)
    A = matrix(random, p, q)
    world["each"] = lambda: (vector(random, q),)
    return spectral(A) * random.choice((1, 1, 2)), A


def symmetric(random: Random, size: int) -> Op:
    """A symmetric matrix."""
    half = matrix(random, size, size)
    return half + half.transposed


def rayleigh(random: Random, world: World) -> tuple[Any, ...]:
    """A symmetric matrix and a bound on its eigenvalues."""
    (n,) = sizes(random, 1)
    A = symmetric(random, n)
    world["each"] = lambda: (vector(random, n),)
    return largest([arb(0), *map(abs, eigenvalues(A))]) * random.choice((1, 1, 2)), A


def block(A: Op, size: int) -> Op:
    """The first rows and columns."""
    return op([line[:size] for line in A.lines[:size]], size, size, A.to, A.of)


def gram(random: Random, world: World) -> tuple[Any, ...]:
    """A matrix with a column and a number; at times the states have fewer coordinates."""
    n = random.randrange(1, 4)
    states = random.randrange(1, n + 1)
    world[eye] = diagonal([1] * states + [0] * (n - states))
    world[terms.least] = lambda A: min(eigenvalues(block(A, states)), key=float)
    A = matrix(random, random.randrange(4), n)
    return random.choice((A, A * world[eye])), number(random)


def identities(random: Random, world: World) -> tuple[Any, ...]:
    """The identity of the states, of which there is one at least."""
    world[eye] = diagonal([1] * random.randrange(1, 4))
    return ()


def reals(random: Random, world: World) -> tuple[Any, ...]:
    """Two numbers."""
    return number(random), number(random)


def lipschitz_gate(least: fmpq) -> Draw:
    """A bound on the slope, and two points, close ones too."""

    def draw(random: Random, world: World) -> tuple[Any, ...]:
        first = number(random)
        return (
            least * random.choice((1, 2)),
            first,
            first + number(random) / 10 ** random.randrange(9),
        )

    return draw


def nearest(random: Random, world: World) -> tuple[Any, ...]:
    """Onto a box, at times a point or a half-space, of 0 to 3 dimensions."""
    (n,) = sizes(random, 1)
    low = [number(random) for _ in range(n)]
    high = [p + abs(number(random)) * random.choice((0, 1, 1000)) for p in low]

    def clipped(p: Op) -> Op:
        return column([min(max(p.entry(r), low[r]), high[r]) for r in range(n)])

    world[of_gradients.project] = clipped
    world[of_gradients.projects] = lambda p: 1
    world[of_gradients.feasible] = lambda p: int(clipped(p).m == p.m)
    first, second = vector(random, n), vector(random, n)
    return first, clipped(second) if random.randrange(2) else second


def boxed_states(random: Random, world: World) -> tuple[Any, ...]:
    """Two vectors, and which entry."""
    (n,) = sizes(random, 1)
    world[of_gates.boxed] = lambda p: column([min(max(q[0], fmpq(-1)), fmpq(1)) for q in p.lines])
    return vector(random, n), vector(random, n), natural(random)


def entries(random: Random, world: World) -> tuple[Any, ...]:
    """A vector, and which entry."""
    (n,) = sizes(random, 1)
    return vector(random, n), natural(random)


def bound_of_entries(random: Random, world: World) -> tuple[Any, ...]:
    """A vector and a bound on its entries."""
    (n,) = sizes(random, 1)
    first = vector(random, n)
    return row_sums(first) + random.choice((0, 0, 1)), first


def counted_entries(random: Random, world: World) -> tuple[Any, ...]:
    """A vector and how many entries it has, or not."""
    first, _ = entries(random, world)
    return first, fmpq(random.randrange(5))


def dominated(random: Random, world: World) -> tuple[Any, ...]:
    """|a_i| ≤ |b_i|."""
    (n,) = sizes(random, 1)
    second = vector(random, n)
    shares = [fmpq(random.choice((-2, -1, 0, 1, 2)), 2) for _ in range(n)]
    return column([s * second.entry(r) for r, s in enumerate(shares)]), second


def equal_entries(random: Random, world: World) -> tuple[Any, ...]:
    """Two vectors, at times with equal entries."""
    first, second = vectors(random, world)
    return first, random.choice((first, column([r[0] for r in first.lines]), second))


def rows_of_states(random: Random, world: World) -> tuple[Any, ...]:
    """An operator into states, and the largest of its rows over v_i."""
    p, q = sizes(random, 2)
    of = random.choice("ES")
    A = matrix(random, p, q, "S", of)
    world[of_jets.in_largest] = fmpq(1)
    world[of_jets.row] = lambda B, i: op(B.lines[int(i) : int(i) + 1] or [[0] * q], 1, q, "E", of)
    world[of_jets.unit_weight] = lambda i: world["weights of units"][int(i)]
    each = [arb(induced(world[of_jets.row](A, r), world["weights of units"])) for r in range(p)]
    least = largest(
        [arb(0), *(n / w for n, w in zip(each, world["weights of units"], strict=False))]
    )
    return least * random.choice((1, 1, 2)), A
