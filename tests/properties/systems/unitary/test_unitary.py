"""Networks and their unitary equivalents: built, judged and replayed in rationals."""

import numpy as np
import pytest
from flint import ctx, fmpq
from msgspec.structs import replace
from seen import verdicts

from rnnbounds.impl.numbers.rationals import identity
from rnnbounds.properties.attacks.extremal import NAMED_SPECS
from rnnbounds.properties.measures.exact.paths import root_ends
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.read.numbers.sizes import spectral_size
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.table import KINDS, make_spec
from rnnbounds.properties.systems.unitary.exact import (
    nearest_float,
    rational,
    square_norm,
    upper_float,
)
from rnnbounds.properties.systems.unitary.gaps import largest_gap_square
from rnnbounds.properties.systems.unitary.orthogonal import ONE
from rnnbounds.theory.language.parse import parse_statement
from rnnbounds.theory.proof.claim import Assumption

NETWORK = make_spec(
    kind="unitary", regime="pythagorean", inputs="gaussian", n=2, d=2, T=3, K=3,
    bias=0.5, start=2.0, batch=6, sequences=2,
)  # fmt: skip
BLOCK = make_spec(kind="block", regime="dilation", n=2, states=3, batch=4)
CONTRACTIVE = Assumption("contractive", "λ < 1", parse_statement("lam < 1"))


@pytest.mark.parametrize("regime", KINDS["unitary"].regimes)
@pytest.mark.parametrize("units", [0, 1])
def test_networks_are_what_their_constants_say(regime: str, units: int) -> None:
    """‖W‖ = λ and ‖U‖ to the last rational, V orthogonal around W, inputs up to B and at it."""
    spec = replace(NETWORK, regime=regime, units=units, n=3, inputs="saturating", scale=0.75)
    for member in build_batch(spec).exact:
        W, U = member.rnn.W, member.rnn.U
        assert spectral_size(W.tolist()).is_at_most(member.lam)
        assert (identity(3) * member.lam**2 - W.transpose() * W).det() == 0
        assert spectral_size(U.tolist()).is_at_most(member.input_norm)
        assert not spectral_size(U.tolist()).is_at_most(member.input_norm * fmpq(999, 1000))
        V = member.V
        assert V.transpose() * V == identity(V.nrows())
        assert [row[:3] for row in V.tolist()[:3]] == W.tolist()
        assert all(square_norm(x) == fmpq(9, 16) for path in member.x for x in path)
        assert square_norm(member.rnn.initial) == 4
        assert (member.lam == 1) == (units == 1)
        assert rational(member.constants()["lam"]) >= member.lam
        for path in member.states:
            assert all(h.square <= member.state_bound**2 for h in path)


def test_inputs_keep_to_their_bound() -> None:
    """Every regime of inputs has ‖x_t‖ ≤ B, and all but zero ones attain it."""
    for inputs in ("constant", "gaussian", "alternating", "impulse", "resonant", "zero"):
        sizes = [
            square_norm(x)
            for member in build_batch(replace(NETWORK, inputs=inputs, T=6)).exact
            for path in member.x
            for x in path
        ]
        assert max(sizes) == (0 if inputs == "zero" else 1)


def test_a_slow_drive_comes_near_the_bound() -> None:
    """Some state is beyond 99/100 of B_h: a bias for less lets it through."""
    reached = [
        max(h.square for h in member.states[0]) / member.state_bound**2
        for member in build_batch(NAMED_SPECS["slow-drive"]).exact
    ]
    assert fmpq(99, 100) ** 2 < max(reached) <= 1


def test_a_wrong_equivalent_is_seen() -> None:
    """One entry of V off by 10⁻³⁰, and the gap is not 0."""
    member = build_batch(NAMED_SPECS["slow-drive"]).exact[0]
    other = member.equivalent
    other.W[0, 0] += fmpq(1, 10**30)
    assert largest_gap_square(member.C, member.states[0], other.run(member.x[0])) > 0


def test_beyond_the_bound_by_hand() -> None:
    """λ = 3/5, B = 1, X = 5: at the third step the gap is (1 − λ²)(X − B/(1 − λ)) = 8/5."""
    spec = replace(NETWORK, n=1, T=3, K=0, batch=64, sequences=1)
    batch = build_batch(spec)
    beyond = MEASURES["unitary_gap_beyond"]
    seen = 0
    for i, member in enumerate(batch.exact):
        if member.lam == fmpq(3, 5):
            seen += 1
            assert (
                beyond.exact_square(build_batch(spec.select_pair(i, 0)), 0, 64) == fmpq(8, 5) ** 2
            )
    assert seen
    short = build_batch(replace(spec, T=2))
    assert (MEASURES["unitary_gap_beyond"].enclose(short).hi == 0).all()


def test_unit_singular_values_have_no_bound_of_their_own() -> None:
    """λ = 1: what needs 1/(1 − λ) has no reading, and the equivalence speaks of nothing."""
    spec = replace(NETWORK, units=1)
    assert verdicts("unitary_gap <= 0", spec) == {"HOLDS"}
    for name in ("unitary_gap_unstarted", "unitary_gap_beyond"):
        assert verdicts(f"{name} <= 0", spec) == {"UNDECIDED"}
        assert verdicts(f"{name} <= 0", spec, CONTRACTIVE) == {"VACUOUS"}


def test_readings_of_other_kinds_are_none() -> None:
    """A plain system has no exact reading, and an exact one none of another kind's."""
    plain = build_batch(make_spec(n=2, T=2))
    for name in ("unitary_gap", "dh_dh", "defect_rank"):
        assert np.isnan(MEASURES[name].enclose(plain).lo).all()
        assert MEASURES[name].exact_square(plain, 0, 128) is None
    block = build_batch(BLOCK)
    for name in ("unitary_gap", "unitary_gap_beyond", "unitary_defect"):
        assert np.isnan(MEASURES[name].enclose(block).hi).all()
    assert np.isnan(MEASURES["dh_dh"].enclose(block).hi).all()
    assert np.isnan(MEASURES["multiplicity"].enclose(build_batch(NETWORK)).hi).all()
    assert MEASURES["dh_dh"].is_at_most(block, ONE, 0) is None
    with ctx.workprec(64):
        assert MEASURES["dh_dh"].ball(plain, 0, 64).is_nan()
        assert MEASURES["unitary_gap"].ball(plain, 0, 64).is_nan()
    assert block.constant("B_h").hi.min() == np.inf


def test_readings_are_points_where_floats_are() -> None:
    """Counts and roots of squares of floats are points, others have the floats to both sides."""
    assert root_ends(fmpq(9, 4)) == (1.5, 1.5)
    assert root_ends(fmpq(0)) == (0.0, 0.0)
    low, high = root_ends(fmpq(2))
    assert low < 2**0.5 < high
    assert np.isnan(root_ends(None)).all()
    assert upper_float(fmpq(1, 3)) > nearest_float(fmpq(1, 3))
    assert upper_float(fmpq(1, 2)) == 0.5
