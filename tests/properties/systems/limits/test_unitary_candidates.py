"""Candidates around an input: built exactly, matched or not in exact rationals."""

import random
from dataclasses import replace as changed
from itertools import product

import pytest
from flint import fmpq, fmpq_mat
from msgspec.structs import replace

from rnnbounds.impl.convert.rational_unitary import RationalRNN
from rnnbounds.impl.numbers.rationals import identity
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.systems.limits import candidates
from rnnbounds.properties.systems.limits.candidates import find_smooth_centre, linearize_run
from rnnbounds.properties.systems.limits.exact_candidates import can_dilate, rational_root
from rnnbounds.properties.systems.limits.near import candidate_member
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import KINDS, make_spec
from rnnbounds.properties.systems.unitary.linear import (
    cayley_from_entries,
    is_contraction,
    join_columns,
    least_squares,
    matrix_entries,
    short_rational,
)

ZERO, ONE = fmpq(0), fmpq(1)
CANDIDATE = make_spec(
    kind="candidate", regime="dilated", n=2, d=2, T=2, lam=0.0,
    states=4,
)  # fmt: skip
MATCHES = ("dilated", "rotated", "scalar")


def sizes(n: int, least: int = 1) -> list[SystemSpec]:
    """Specs of n units and all states from the least to 2n + 1, two seeds each."""
    return [
        replace(CANDIDATE, n=n, d=n, states=m, seed=seed)
        for m in range(least, 2 * n + 2)
        for seed in (0, 1)
    ]


class TestLinear:
    """Exact linear algebra."""

    def test_a_float_stands_for_its_simplest_rational(self) -> None:
        """0.6 is 3/5; what is near a simple rational but rounds elsewhere is not taken for it."""
        assert short_rational(0.6) == fmpq(3, 5)
        assert short_rational(0.375) == fmpq(3, 8)
        assert short_rational(1 - 2.0**-20) == 1 - fmpq(1, 2**20)
        assert short_rational(1 - 2.0**-53) != 1

    def test_cayley_is_orthogonal_of_either_determinant(self) -> None:
        """Signs give the reflections that a Cayley transform alone leaves out."""
        below = [0.375, -2.0, 0.625]
        for signs, det in (((1, 1, 1), 1), ((1, -1, 1), -1)):
            V = cayley_from_entries(below, signs)
            assert V * V.transpose() == identity(3)
            assert V.det() == det

    def test_contractive_is_strict(self) -> None:
        """‖W‖ < 1 is decided, ‖W‖ = 1 is not."""
        W = fmpq_mat([[fmpq(3, 5), fmpq(4, 5)], [ZERO, ZERO]])
        assert not is_contraction(W)
        assert is_contraction(W * fmpq(999, 1000))

    def test_least_squares_solves_what_has_a_solution(self) -> None:
        """E M = B is met where it can be, and the residual is normal to M's rows where not."""
        draw = random.Random(1)
        M = fmpq_mat(3, 5, [fmpq(draw.randint(-4, 4), 3) for _ in range(15)])
        E = fmpq_mat(2, 3, [fmpq(draw.randint(-4, 4)) for _ in range(6)])
        assert least_squares(M, E * M) == E
        B = fmpq_mat(2, 5, [fmpq(draw.randint(-4, 4)) for _ in range(10)])
        residual = B - least_squares(M, B) * M
        assert any(matrix_entries(residual))
        assert not any(matrix_entries(residual * M.transpose()))
        singular = join_columns(M.transpose(), M.transpose()).transpose()
        again = E * M
        assert least_squares(singular, again) * singular == again


class TestCandidates:
    """Networks with candidates around an input."""

    @pytest.mark.parametrize("regime", KINDS["candidate"].regimes)
    def test_every_construction_is_what_it_says(self, regime: str) -> None:
        """V is orthogonal, of the spec's size; the network is a contraction with all units on."""
        for spec, lam in product((*sizes(1), *sizes(2), *sizes(3, 3)), (0.0, 0.6)):
            found = candidate_member(replace(spec, regime=regime, lam=lam), 0)
            V = found.urnn.W
            assert V * V.transpose() == identity(spec.states)
            assert is_contraction(found.rnn.W)
            assert all(all(step.pattern) for step in found.centre_runs.network)
            assert found.parameters() == {"states": spec.states}
            assert not any(
                step.is_kinked
                for step in (*found.centre_runs.network, *found.centre_runs.candidate)
            )

    def test_tangents_are_differences(self) -> None:
        """In the cell both networks are affine, with the derivatives of the linearisation."""
        for regime in KINDS["candidate"].regimes:
            found = candidate_member(replace(CANDIDATE, regime=regime, lam=0.6, T=3, seed=5), 0)
            for net, cell in (
                (found.rnn, found.centre_runs.network),
                (found.urnn, found.centre_runs.candidate),
            ):
                at = net.states(found.centre_runs.centre)
                assert at == [step.states for step in cell]
                for t, j in product(range(3), range(2)):
                    moved = [list(x) for x in found.centre_runs.centre]
                    moved[t][j] += found.radius
                    for here, there, step in zip(
                        at, net.states([tuple(x) for x in moved]), cell, strict=True
                    ):
                        change = [q - p for p, q in zip(here, there, strict=True)]
                        slope = [row[2 * t + j] * found.radius for row in step.tangents.tolist()]
                        assert change == slope

    def test_patterns_are_constant_in_the_cell(self) -> None:
        """At all corners of the cell the units are on and off as at its centre."""
        for seed in range(8):
            found = candidate_member(replace(CANDIDATE, regime="unrelated", states=3, seed=seed), 0)
            for signs in product((-1, 1), repeat=4):
                corner = [
                    tuple(v + s * found.radius for v, s in zip(x, part, strict=True))
                    for x, part in zip(
                        found.centre_runs.centre, (signs[:2], signs[2:]), strict=True
                    )
                ]
                there = linearize_run(found.urnn, corner)
                assert [s.pattern for s in there] == [
                    s.pattern for s in found.centre_runs.candidate
                ]

    @pytest.mark.parametrize("regime", MATCHES)
    def test_matches_match_exactly(self, regime: str) -> None:
        """With 2n states and more; the least change of the readout or of a weight shows."""
        for lam, units in product((0.0, 0.6), (1, 2, 3)):
            for spec in sizes(units, 2 * units):
                found = candidate_member(replace(spec, regime=regime, lam=lam, T=4), 0)
                assert found.separation_square == 0
                off = fmpq_mat(found.E)
                read = next(i for i, s in enumerate(found.centre_runs.candidate[0].pattern) if s)
                off[0, read] += fmpq(1, 2**80)
                assert changed(found, E=off).separation_square > 0
                shifted = changed(found, e=(found.e[0] + fmpq(1, 2**80), *found.e[1:]))
                assert shifted.separation_square == fmpq(1, 2**160)

    def test_fewer_states_match_what_is_not_zero(self) -> None:
        """n + 1 states match weighted shifts and what is similar to a block of a V of n + 1."""
        for regime, units in product(("rescaled", "similar"), (2, 3)):
            found = candidate_member(
                replace(CANDIDATE, regime=regime, n=units, d=units, states=units + 1, seed=2), 0
            )
            assert found.separation_square == 0
            assert found.rnn.W.rank() >= units - 1
            assert identity(units) * found.rnn.W[0, 0] != found.rnn.W

    def test_a_readout_is_found_exactly_from_2n_states_on(self) -> None:
        """With drawn V and G, all units active: never with fewer, always with 2n and more."""
        for units in (1, 2, 3):
            for spec in sizes(units):
                seeds = [
                    candidate_member(replace(spec, regime="solved", seed=s), 0) for s in range(6)
                ]
                found = [
                    c
                    for c in seeds
                    if c.pattern_constant and all(c.centre_runs.candidate[0].pattern)
                ]
                assert found
                for one in found:
                    assert (one.separation_square == 0) == (spec.states >= 2 * units)

    def test_near_misses_are_as_near_as_delta(self) -> None:
        """2n − 1 states leave δ times the radius of what one step carries over."""
        for units, delta in product((2, 3), (0.25, 2.0**-40)):
            spec = replace(
                CANDIDATE, regime="approximate", n=units, d=units, states=2 * units - 1,
                distance=delta,
            )  # fmt: skip
            found = candidate_member(spec, 0)
            assert found.separation_square == (short_rational(delta) * found.radius) ** 2

    def test_agreement_at_the_centre_alone_is_none(self) -> None:
        """A candidate with the right value and no derivative is told apart."""
        found = candidate_member(CANDIDATE, 0)
        level = found.centre_runs.network[0].states
        blind = changed(found, E=fmpq_mat(2, 4), e=level)
        assert found.rnn.states(found.centre_runs.centre) == [level, level]
        assert blind.separation_square == found.radius**2

    def test_kinks_move_the_centre(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A unit exactly on its kink moves the centre; one that is 0 all around does not."""
        one = RationalRNN(fmpq_mat([[ZERO]]), fmpq_mat([[ONE]]), (ONE,), (ZERO,))
        kink = RationalRNN(fmpq_mat([[ONE]]), fmpq_mat([[ONE]]), (ZERO,), (ZERO,))
        centre = ((ZERO,), (ZERO,))
        assert find_smooth_centre(one, one, centre).centre == centre
        moved = find_smooth_centre(one, kink, centre).centre
        assert moved != centre
        assert linearize_run(kink, moved)[0].pattern == (True,)
        idle = RationalRNN(fmpq_mat([[ONE]]), fmpq_mat([[ZERO]]), (ZERO,), (ZERO,))
        assert find_smooth_centre(one, idle, centre).centre == centre
        assert linearize_run(idle, centre)[0].pattern == (False,)
        monkeypatch.setattr(candidates, "ATTEMPTS", 1)
        with pytest.raises(SpecError, match="kink"):
            find_smooth_centre(one, kink, centre)

    def test_what_is_said_of_patterns(self) -> None:
        """A multiple of the identity, patterns that change, and the units that are active."""
        found = candidate_member(replace(CANDIDATE, regime="scalar", lam=0.6, T=5), 0)
        assert identity(found.n) * found.rnn.W[0, 0] == found.rnn.W
        assert (found.pattern_constant, found.active_count) == (True, 2)
        changing = next(
            c for c in (candidate_member(replace(CANDIDATE, regime="solved", seed=s),
            0) for s in range(9))
            if not c.pattern_constant
        )  # fmt: skip
        assert len({step.pattern for step in changing.centre_runs.candidate}) == 2

    def test_a_regime_without_room_is_unrelated(self) -> None:
        """Too few states or a weight without a rational dilation: nothing matches or fails."""
        for fields in (
            {"regime": "dilated", "states": 3},
            {"regime": "approximate", "n": 1, "d": 1},
            {"regime": "approximate", "distance": 0.0},
            {"regime": "scalar", "lam": 0.5},
        ):
            assert candidate_member(replace(CANDIDATE, **fields), 0).separation_square > 0
        assert not can_dilate(ONE)
        with pytest.raises(ArithmeticError, match="not rational"):
            rational_root(fmpq(2))
