"""Random units of a cell's program, and singular value decompositions over the rationals."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from flint import fmpq
from instances import Draw, World, sizes
from networks import RHOS, Dual, matrix, number, vector
from term_values import Op, diagonal, op

from rnnbounds.theory.axioms import unitary
from rnnbounds.theory.language.terms import jets as of_jets


def of_unit(number_of: int) -> Draw:
    """A unit of this kind over bilinear operands, at a state and weights, and a block of them."""

    def draw(random: Random, world: World) -> tuple[Any, ...]:
        n, k = random.randrange(1, 3), random.randrange(1, 3)
        weights = [number(random) for _ in range(k)]
        kinds = (of_jets.LEAF, of_jets.PRODUCT, of_jets.ACTIVATION, of_jets.SUM, of_jets.MIXTURE)
        forms = [matrix(random, n, k) for _ in range(3)]
        rho = replace(RHOS[2], c=number(random))

        def bilinear(form: Op) -> Callable[[list[Dual], list[Dual]], Dual]:
            def at(s: list[Dual], w: list[Dual]) -> Dual:
                total = Dual(fmpq(1), fmpq(0))
                for r in range(n):
                    for c in range(k):
                        total = total + s[r] * w[c] * Dual(form.m[r, c], fmpq(0))
                return total

            return at

        p, q, g = (bilinear(form) for form in forms)

        def whole(s: list[Dual], w: list[Dual]) -> Dual:
            one, two, three = p(s, w), q(s, w), g(s, w)
            less = Dual(1 - three.x, -three.slope)
            return {
                of_jets.PRODUCT: one * two,
                of_jets.ACTIVATION: Dual(rho.at(one.x), rho.at(one.x, 1) * one.slope),
                of_jets.SUM: one + w[0] * two,
                of_jets.MIXTURE: three * one + less * two,
            }[number_of]

        def slope(unit: Any, s: Op, block: str) -> Op:
            length = n if block == "S" else k
            found = []
            for index in range(length):
                on = [fmpq(r == index) for r in range(length)]
                state = [Dual(s.entry(r), on[r] if block == "S" else fmpq(0)) for r in range(n)]
                point = [Dual(w, on[c] if block != "S" else fmpq(0)) for c, w in enumerate(weights)]
                found.append(unit(state, point).slope)
            return op([found], 1, length, "E", block)

        def at(unit: Any, s: Op) -> fmpq:
            still = [Dual(s.entry(r), fmpq(0)) for r in range(n)]
            return unit(still, [Dual(w, fmpq(0)) for w in weights]).x

        def own(unit: Any, s: Op, block: str) -> Op:
            first = [0] * (n if block == "S" else k)
            first[0] = 0 if block == "S" else at(q, s)
            return op([first], 1, len(first), "E", block)

        world |= {
            of_jets.first: lambda u: p,
            of_jets.second: lambda u: q,
            of_jets.gate: lambda u: g,
        }
        world |= {of_jets.kind: lambda u: kinds[number_of], of_jets.factor: lambda u: weights[0]}
        world |= {of_jets.unit_value: at, of_jets.unit_slope: slope, of_jets.own_slope: own}
        world[of_jets.tangent] = lambda u, s: rho.at(at(p, s), 1)
        return whole, vector(random, n), random.choice("SE")

    return draw


def decomposed(random: Random, world: World) -> tuple[Any, ...]:
    """A = PΣQᵀ of 0 to 3 states, with a norm above 1 at times."""
    (n,) = sizes(random, 1)
    cosines = {fmpq(0): fmpq(1), fmpq(3, 5): fmpq(4, 5), fmpq(5, 13): fmpq(12, 13)}
    values = [random.choice((*cosines, fmpq(1), fmpq(random.choice((1, 1, 2))))) for _ in range(n)]
    low = [r for r in range(n) if values[r] < 1]
    P, S, Q = orthogonal(random, n), diagonal(values), orthogonal(random, n)
    E = op([[int(r == c) for c in low] for r in range(n)], n, len(low))
    meanings = {
        unitary.left: P,
        unitary.singular: S,
        unitary.right: Q,
        unitary.kept: E,
        unitary.low: diagonal([values[r] for r in low]),
        unitary.cosine: diagonal([cosines[values[r]] for r in low]),
    }
    world |= {function: (lambda A, found=found: found) for function, found in meanings.items()}
    return (P * S * Q.transposed,)


def orthogonal(random: Random, n: int) -> Op:
    """A rational rotation of two coordinates after a signed permutation."""
    order = random.sample(range(n), n)
    signs = [random.choice((-1, 1)) for _ in range(n)]
    lines = [[signs[r] if order[r] == c else 0 for c in range(n)] for r in range(n)]
    turn = [[fmpq(r == c) for c in range(n)] for r in range(n)]
    if n > 1:
        turn[0][:2], turn[1][:2] = [fmpq(3, 5), fmpq(4, 5)], [fmpq(-4, 5), fmpq(3, 5)]
    return op(turn, n, n) * op(lines, n, n)
