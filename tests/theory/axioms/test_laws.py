"""Every law that is taken without proof, tried at random instances of its sorts.

Sizes 0 and 1, zero vectors, equal arguments, singular matrices, kinks and slopes of 0 occur.
All is exact but for roots, which are enclosed; a law fails where it is false beyond all rounding.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from operator import mul
from random import Random
from typing import Any

import instances as draw
import pytest
import special
from flint import arb, ctx, fmpq
from structures import decomposed, of_unit
from sympy import Abs, Rational
from term_values import BITS, Op, eigenvalues, induced, largest, op, row_sums, spectral, violated

from rnnbounds.theory.axioms import base, entries, functions, gradients, jets, unitary
from rnnbounds.theory.axioms.activations import L_rho
from rnnbounds.theory.axioms.analytic import ANALYTIC_AXIOMS
from rnnbounds.theory.axioms.base import AXIOMS
from rnnbounds.theory.axioms.powers import POWER_AXIOMS
from rnnbounds.theory.axioms.ranks import RANK_AXIOMS
from rnnbounds.theory.language import Axiom, Clause, Statement, eq, law, le
from rnnbounds.theory.language.functions import LambertRoot, gamma_function
from rnnbounds.theory.language.terms import unitary as of_unitary
from rnnbounds.theory.language.terms import vectors as terms
from rnnbounds.theory.language.terms.networks import derivative, hessian, sensitivity
from rnnbounds.theory.language.terms.variables import a, b, c, s, w_other, x, z
from rnnbounds.theory.language.terms.vectors import inner

TRIES, ENOUGH = 60, 8
# What the formal terms mean in every world.  An empty matrix has the least eigenvalue 0.
EVERYWHERE: draw.World = {
    terms.norm: spectral,
    terms.gain: lambda A: spectral(seen(A)),
    terms.max_norm: row_sums,
    terms.frobenius: lambda A: sum((x * x for x in A.m.entries()), fmpq(0)),
    terms.row_norm: lambda A: largest([arb(spectral(draw.column(line))) for line in A.lines]),
    terms.inner: lambda p, q: sum(map(mul, p.m.entries(), q.m.entries()), fmpq(0)),
    terms.transpose: lambda A: A.transposed,
    terms.diagonal: lambda p: draw.diagonal(p.m.entries(), p.to),
    terms.is_diagonal: lambda A: int(all(i == j or not A.m[i, j] for i, j in places(A))),
    terms.is_symmetric: lambda A: int(A.m == A.m.transpose()),
    terms.least: lambda A: min(eigenvalues(A), key=float, default=fmpq(0)),
    terms.exponential: lambda z: arb(z).exp(),
    of_unitary.part: lambda p, i: p.entry(int(i)),
    of_unitary.rows: lambda p: fmpq(max((i + 1 for i, j in places(p) if p.m[i, j]), default=0)),
}


def seen(A: Op) -> Op:
    """All rows but the last, where there are more than two."""
    lines = A.lines[:-1] if len(A.lines) > 2 else A.lines
    return op(lines, len(lines), A.m.ncols(), A.to, A.of)


def places(A: Op) -> Iterator[tuple[int, int]]:
    """The indices of the entries."""
    return product(range(A.m.nrows()), range(A.m.ncols()))


LAWS: dict[Axiom, draw.Draw] = {
    **dict.fromkeys(
        (base.TRIANGLE, base.TRIANGLE_GAIN, base.TRIANGLE_MAX, base.TRIANGLE_WEIGHTED), draw.like
    ),
    **dict.fromkeys(
        (base.HOMOGENEITY, base.HOMOGENEITY_GAIN, base.HOMOGENEITY_WEIGHTED), draw.scaled
    ),
    base.SUBMULTIPLICATIVE: draw.in_product,
    base.SUBMULTIPLICATIVE_GAIN: draw.on_vector,
    base.SUBMULTIPLICATIVE_MAX: draw.in_product,
    base.SUBMULTIPLICATIVE_WEIGHTED: draw.in_product,
    gradients.SUBMULTIPLICATIVE_FROBENIUS: draw.on_vector,
    gradients.SUBMULTIPLICATIVE_TRANSPOSED: draw.transposed_product,
    gradients.CAUCHY_SCHWARZ: draw.vectors,
    base.CHAIN_RULE_START: draw.time("x", "j"),
    base.CHAIN_RULE: draw.time("x", "j", "j"),
    gradients.WEIGHTS_START: draw.time("x", "j"),
    gradients.WEIGHTS_START_OTHER: draw.time("x", "j"),
    gradients.CHAIN_RULE_WEIGHTS: draw.time("x", "j", "j"),
    gradients.CHAIN_RULE_OTHER: draw.time("x", "j", "j"),
    unitary.STATES_START: draw.time("x", "j"),
    unitary.CHAIN_RULE_STATES: draw.time("x", "j", "j"),
    gradients.CHAIN_RULE_LAYER: draw.layer,
    **{axiom: of_unit(kind) for kind, axiom in jets.CHAIN_RULE_UNITS.items()},
    base.DERIVATIVE_IN_INPUT: draw.lipschitz("U"),
    gradients.DERIVATIVE_IN_STATE: draw.lipschitz("E"),
    gradients.DERIVATIVE_IN_STATE_OTHER: draw.lipschitz("E", "other"),
    gradients.LINEAR_MAP: draw.linear,
    gradients.DERIVATIVE_NO_LESS: draw.expanding,
    base.MEAN_VALUE: draw.preactivations,
    base.MEAN_VALUE_SLOPES: draw.preactivations,
    gradients.MEAN_VALUE_GRADIENT: draw.loss,
    entries.TANH_LIPSCHITZ: draw.lipschitz_gate(fmpq(1)),
    base.DIAGONAL_NORM: draw.preactivations,
    base.DIAGONAL_BENDS: draw.preactivations,
    base.DIAGONAL_COMMUTES: draw.commuting,
    base.DIAGONAL_COMMUTES_MAX: draw.commuting,
    gradients.DIAGONAL_ROWS: draw.on_vector,
    unitary.MONOTONE_NORM: draw.dominated,
    unitary.IDENTITY_NORM: draw.identities,
    entries.LARGEST_ENTRY: draw.entries,
    entries.LEAST_BOUND: draw.bound_of_entries,
    entries.DEFINITE: draw.vectors,
    entries.ENTRY_EUCLIDEAN: draw.boxed_states,
    entries.EUCLIDEAN_BY_LARGEST: draw.counted_entries,
    unitary.EXTENSIONAL: draw.equal_entries,
    jets.LARGEST_ROW: draw.rows_of_states,
    base.LEAST_EIGENVALUE: draw.gram,
    gradients.RAYLEIGH: draw.rayleigh,
    unitary.SINGULAR_VALUES: decomposed,
    unitary.COSINES: decomposed,
    base.EXPONENTIAL: draw.reals,
    base.LOGARITHM: lambda random, world: (draw.number(random),),
    base.PROJECTION: draw.nearest,
    base.PROJECTION_INSIDE: draw.nearest_one,
    functions.GAMMA: special.positive,
    functions.LAMBERT_ROOT: special.above_one,
    functions.PEAK_EQUATION: special.peak,
    functions.TANH: special.real,
    entries.ENTRIES: special.product_and_sum,
    entries.DIFFERENCES: special.two_vectors,
    entries.ROWS_OF_DIFFERENCE: special.two_operators,
    entries.INNER_PRODUCT: special.three_vectors,
}
NAMES = [f"{axiom.id}-{number}" for number, axiom in enumerate(LAWS)]


def world_of(random: Random) -> draw.World:
    """What formal terms mean, with random weights of the maximum norm."""
    weights = [fmpq(random.choice((1, 2, 3)), random.choice((1, 2))) for _ in range(20)]
    found = dict(EVERYWHERE)
    found["weights of units"] = weights
    found[terms.weighted] = lambda A: induced(A, weights)
    return found


def required(axiom: Axiom, world: draw.World) -> bool:
    """Whether what the law requires holds wherever it is looked at, kinks included."""
    for needed in axiom.requires:
        alone = needed.variables if len(needed.variables) == 1 else ()
        kinds = {(variable.is_commutative, variable.is_integer) for variable in alone}
        whole = [(fmpq(k),) for k in range(5)]
        points = [(fmpq(k, 2),) for k in range(-6, 7)]
        each = whole if (True, True) in kinds else points if (True, None) in kinds else []
        for values in each or [world["each"]() for _ in range(6)]:
            here = {**world, **dict(zip(needed.variables, values, strict=True))}
            if any(violated(clause, here) for clause in needed.clauses):
                return False
    return True


def judged(axiom: Axiom, chance: draw.Draw, clauses: tuple[Clause, ...], seed: int) -> list[bool]:
    """Of each clause at each instance where its premises hold, whether it fails."""
    random, found = Random(seed), []
    for _ in range(TRIES):
        with ctx.workprec(BITS):
            world = world_of(random)
            values = chance(random, world)
            world |= dict(zip(axiom.variables, values, strict=True))
            if required(axiom, world):
                verdicts = (violated(clause, world) for clause in clauses)
                found += [verdict for verdict in verdicts if verdict is not None]
    return found


def test_every_law_is_tried() -> None:
    """Here, in `test_ranks` or in `test_analytic`, and none twice."""
    elsewhere = (*RANK_AXIOMS, *ANALYTIC_AXIOMS, *POWER_AXIOMS)
    assert {*LAWS, *elsewhere} == set(AXIOMS)
    assert len(LAWS) + len(elsewhere) == len(AXIOMS)


@pytest.mark.slow
@pytest.mark.parametrize("axiom", LAWS, ids=NAMES)
def test_a_law_holds(axiom: Axiom) -> None:
    """At more than a hundred instances, at enough of which something is said, clause by clause."""
    for number, clause in enumerate(axiom.clauses):
        verdicts = judged(axiom, LAWS[axiom], (clause,), number)
        assert not any(verdicts), (axiom.text, clause)
        assert len(verdicts) >= ENOUGH, axiom.text


_less = base.PROJECTION.clauses[0]
OTHERWISE = {  # where the right side is 0, or far
    gradients.WEIGHTS_START: Clause(eq(sensitivity(x, s, 1), 0)),
    gradients.WEIGHTS_START_OTHER: Clause(eq(sensitivity(x, s, 1, w_other), 0)),
    base.PROJECTION: replace(_less, conclusion=le(0, _less.conclusion.lhs)),
    functions.GAMMA: Clause(eq(gamma_function(z + 1), gamma_function(z))),
    functions.LAMBERT_ROOT: Clause(eq(LambertRoot(z), z)),
    entries.INNER_PRODUCT: Clause(eq(inner(a - b, c), inner(a, c))),
}


def with_slope(chance: draw.Draw, slope: int) -> draw.Draw:
    """The same with this second derivative where the gradient jumps."""

    def chosen(random: Random, world: draw.World) -> tuple[Any, ...]:
        values = chance(random, world)
        world[hessian] = lambda h: draw.diagonal([slope * (x == 0) for x in h.m.entries()], h.to)
        return values

    return chosen


def distorted(axiom: Axiom, clause: Clause) -> Clause:
    """A tenth less on the right, or a tenth more where sides are equal."""
    told = clause.conclusion
    factor = Rational(11 if told.relation == "==" else 9, 10)
    false = replace(clause, conclusion=Statement(told.lhs, told.relation, factor * told.rhs))
    return OTHERWISE.get(axiom, false)


@pytest.mark.slow
@pytest.mark.parametrize("axiom", LAWS, ids=NAMES)
def test_a_false_variant_falls(axiom: Axiom) -> None:
    """Each clause is met with equality, so that a tenth is too much."""
    for number, clause in enumerate(axiom.clauses):
        assert any(judged(axiom, LAWS[axiom], (distorted(axiom, clause),), number)), clause


def test_a_jump_is_no_slope() -> None:
    """1 for z > 0 and 0 else has ρ' = 0 but at its jump: secant slopes are larger, yet no law says
    that they are not, for nowhere steeper than L it is not."""
    axiom = base.DIAGONAL_NORM
    assert judged(axiom, draw.jumping, axiom.clauses, 0) == []
    naive = law("", (z,), le(Abs(derivative(z)), L_rho))
    assert any(judged(replace(axiom, requires=(naive,)), draw.jumping, axiom.clauses, 0))


@pytest.mark.parametrize(
    ("axiom", "chance"),
    [
        (base.LEAST_EIGENVALUE, draw.gram),  # U = (0 2), z = 4: the states have one coordinate
        (gradients.MEAN_VALUE_GRADIENT, draw.loss_that_jumps),
    ],
    ids=lambda part: part.text if isinstance(part, Axiom) else "",
)
def test_a_law_falls_without_what_it_asks(axiom: Axiom, chance: draw.Draw) -> None:
    """That the matrix is of the states, and that ∞ is the slope of a jump."""
    said = (clause.conclusion for clause in axiom.clauses)
    assert any(judged(axiom, chance, tuple(map(Clause, said)), 0))
    if axiom is gradients.MEAN_VALUE_GRADIENT:
        chance = with_slope(chance, 10**6)
    assert not any(judged(axiom, chance, axiom.clauses, 0))
