"""Exact decision: balls that rise, rationals that decide, and what neither can."""

import math

import pytest
import sympy
from flint import arb, ctx

from rnnbounds.properties.judging.exact_decision import (
    LARGEST_LAST_PRECISION,
    LARGEST_PRECISION,
    compare_balls,
    decide_by_balls,
    decide_by_rationals,
    decide_exactly,
    first_precision,
    largest_row,
    last_precision,
    precisions,
    signed_square,
)
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.theory.language.parse import parse_statement
from rnnbounds.theory.language.vocabulary import symbols
from rnnbounds.theory.proof.claim import Statement

LINEAR = make_spec(activation="identity", regime="diagonal", T=3, K=2, lam=0.5)
TANH = make_spec(n=2, T=3, K=2, bias=0.5)


@pytest.mark.parametrize(
    ("relation", "below", "same", "above"),
    [
        ("<=", "HOLDS", "HOLDS", "VIOLATED"),
        ("exists", "HOLDS", "HOLDS", "VIOLATED"),
        ("<", "HOLDS", "VIOLATED", "VIOLATED"),
        ("==", "VIOLATED", "HOLDS", "VIOLATED"),
        ("!=", "HOLDS", "VIOLATED", "HOLDS"),
    ],
)
def test_relations_in_balls(relation: str, below: str, same: str, above: str) -> None:
    """Exact balls decide each relation; overlapping ones and NaN decide nothing."""
    assert compare_balls(relation, arb(1), arb(2)) == below
    assert compare_balls(relation, arb(1), arb(1)) == same
    assert compare_balls(relation, arb(2), arb(1)) == above
    assert compare_balls(relation, arb(1, 0.5), arb(1, 0.5)) == "UNDECIDED"
    for bad in (arb("nan"), arb("inf"), arb("-inf")):
        assert compare_balls(relation, bad, arb(1)) == "UNDECIDED"
        assert compare_balls(relation, arb(1), bad) == "UNDECIDED"


@pytest.mark.parametrize("relation", ["<=", "<", "==", "!=", "exists"])
@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_relations_in_rationals(relation: str, offset: int) -> None:
    """Squares decide each relation exactly, at the value and a hair on either side."""
    (h_norm,) = symbols("h_norm")
    pair = build_batch(LINEAR)
    square = signed_square(h_norm, pair, 0, 128)
    assert square is not None
    bound = sympy.sqrt(sympy.Rational(int(square.p), int(square.q))) + sympy.Rational(
        offset, 2**200
    )
    outcome = decide_by_rationals(Statement(h_norm, relation, bound), pair, 0, 128)
    truth = {
        "<=": offset >= 0, "exists": offset >= 0, "<": offset > 0,
        "==": offset == 0, "!=": offset != 0,
    }[relation]  # fmt: skip
    assert outcome is not None
    assert outcome.verdict == ("HOLDS" if truth else "VIOLATED")


def test_rationals_keep_their_hands_off() -> None:
    """No exact verdict where the activation, a logarithm or a sum of norms leaves the rationals."""
    for text, pair in (
        ("h_norm <= 1", TANH),
        ("h_norm <= log(2)", LINEAR),
        ("h_norm + h_gap <= 1", TANH),
        ("h_norm <= sqrt(h_gap)", LINEAR),
        ("h_norm <= sqrt(lam - 1)", LINEAR),
        ("h_norm <= lam**(1/3)", LINEAR),
    ):
        assert decide_by_rationals(parse_statement(text), build_batch(pair), 1, 128) is None, text


def test_sums_of_rational_norms_are_decided() -> None:
    """Rational norms (of scalars) make any expression of them rational."""
    for text, verdict in (
        ("h_norm + h_gap <= 1", "VIOLATED"),
        ("h_gap <= h_norm + h_gap", "HOLDS"),
    ):
        found = decide_by_rationals(parse_statement(text), build_batch(LINEAR), 1, 128)
        assert found is not None
        assert found.verdict == verdict


def test_vanishing_factors_hide_what_is_irrational() -> None:
    """0 times a root is 0: with the identity β_ρ = 0, whatever stands beside it."""
    found = decide_by_rationals(
        parse_statement("h_gap <= (beta_rho*sqrt(lam**3 + 3) + 1)*h_gap"),
        build_batch(LINEAR),
        1,
        128,
    )
    assert found is not None
    assert found.verdict == "HOLDS"


def test_products_of_measured_quantities_have_squares() -> None:
    """A side may be a product of norms, roots and constants, with a sign."""
    pair = build_batch(LINEAR)
    h_norm, h_gap, lam = symbols("h_norm h_gap lam")
    one, two = (signed_square(q, pair, 1, 128) for q in (h_norm, h_gap))
    assert signed_square(-3 * h_norm * h_gap * sympy.sqrt(lam), pair, 1, 128) == -9 * one * two / 2
    assert signed_square(sympy.Integer(0), pair, 0, 128) == 0


def test_what_nobody_can_decide_stays_open() -> None:
    """An equality of transcendental numbers is UNDECIDED at the largest precision."""
    statement = parse_statement("h_norm*exp(lam) <= h_norm*exp(lam)")
    (outcome,) = decide_exactly(statement, build_batch(make_spec(T=1, bias=0.5)), [0])
    assert outcome.verdict == "UNDECIDED"
    (edge,) = decide_exactly(parse_statement("field_gap <= 1"), build_batch(TANH), [0])
    assert edge.verdict == "UNDECIDED"
    assert edge.lhs is None


def test_precision_starts_where_powers_are_seen() -> None:
    """The first precision resolves λᵏ, rises with k, and is capped."""
    pair = build_batch(make_spec(lam=2.0**-10, T=3))
    assert first_precision(pair, 0) == 128
    assert first_precision(pair, 100) >= 1073
    assert first_precision(pair, 10**6) == LARGEST_PRECISION
    assert first_precision(build_batch(make_spec(lam=0.0)), 300) >= 373
    assert first_precision(build_batch(make_spec(lam=1.5)), 300) >= 373


@pytest.mark.parametrize("scale", [1.0, 2.0**6, 2.0**10, 2.0**20])
def test_precision_ends_where_saturation_is_seen(scale: float) -> None:
    """At 4096 bits, or where 1 − tanh z is told from 0 for all z that inputs drive a unit to."""
    pair = build_batch(make_spec(T=3, lam=0.5, scale=scale, bias=0.5))
    found = list(precisions(pair, 0, lambda: 0))
    assert found[:4] == [128, 256, 512, LARGEST_PRECISION]
    drive = max(1.0, scale, float(pair.x.abs().max())) * sum(
        map(largest_row, pair.weights.values())
    )
    needed = 2 * drive / math.log(2)
    assert (len(found) == 5) == (needed + 73 > LARGEST_PRECISION)
    if len(found) == 5:
        assert found[-1] == LARGEST_LAST_PRECISION or found[-1] > needed
        with ctx.workprec(found[-1]):
            assert bool(arb(drive).tanh() < 1) == (found[-1] > needed)


@pytest.mark.parametrize("below", [0, 1074, 16_000, 10**6])
def test_precision_ends_where_a_bound_is_told_from_nothing(below: int) -> None:
    """A side just below a bound takes as many bits more; a check decided before is not
    asked how many."""
    pair, asked = build_batch(make_spec(T=3, lam=0.5, scale=2.0**12, bias=0.5)), list[int]()

    def ask() -> int:
        asked.append(below)
        return below

    steps = precisions(pair, 0, ask)
    assert [next(steps) for _ in range(4)][-1] == LARGEST_PRECISION
    assert asked == []
    plain = last_precision(pair, 0)
    assert plain > LARGEST_PRECISION
    assert list(steps) == [min(64 * math.ceil((plain + below) / 64), LARGEST_LAST_PRECISION)]
    assert asked == [below]


def test_the_precision_is_given_back() -> None:
    """A comparison leaves the library's precision as it was, even when it fails."""
    before = ctx.prec
    decide_by_balls(parse_statement("h_norm <= 1"), build_batch(LINEAR), 0, 333)
    assert ctx.prec == before
    with pytest.raises(KeyError):
        decide_by_balls(
            Statement(sympy.Symbol("no_such"), "<=", sympy.Integer(1)), build_batch(LINEAR), 0, 333
        )
    assert ctx.prec == before
