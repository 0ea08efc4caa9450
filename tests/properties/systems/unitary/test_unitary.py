"""Networks and their unitary equivalents, orthogonal networks and blocks: built, judged and dumped
in rationals."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from flint import arb, ctx, fmpq, fmpq_mat
from msgspec.structs import replace
from seen import verdicts

from rnnbounds.impl.numbers.rationals import identity
from rnnbounds.properties.judging.judge import Verdict, judge
from rnnbounds.properties.measures.exact import root_ends
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.read.numbers.sizes import Size, spectral_size
from rnnbounds.properties.runs.replay import dump_system, replay
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.exact.members import (
    nearest_float,
    rational,
    square_norm,
    upper_float,
)
from rnnbounds.properties.systems.exact.networks import exact_members
from rnnbounds.properties.systems.exact.rational_draws import ONE
from rnnbounds.properties.systems.exact.unitary import NETWORKS, RECURRENT
from rnnbounds.properties.systems.table import KINDS, make_spec
from rnnbounds.theory import claim
from rnnbounds.theory.language.parse import parse_statement

NETWORK = make_spec(
    kind="unitary", regime="pythagorean", inputs="gaussian", n=2, d=2, T=3,
    bias=0.5, start=2.0, batch=6, sequences=2,
)  # fmt: skip
URNN = make_spec(
    kind="urnn", activation="relu", regime="cayley", inputs="gaussian", n=3, d=2, T=4, K=4,
    bias=0.5, batch=4, sequences=2,
)  # fmt: skip
BLOCK = make_spec(kind="block", regime="dilation", n=2, states=3, batch=4)


@pytest.mark.parametrize("regime", KINDS["unitary"].regimes)
@pytest.mark.parametrize("units", [0, 1])
def test_networks_are_what_their_constants_say(regime: str, units: int) -> None:
    """‖W‖ = λ and ‖U‖ to the last rational, V orthogonal around W, inputs up to B and at it."""
    spec = replace(NETWORK, regime=regime, units=units, n=3, inputs="saturating", scale=0.75)
    for member in exact_members(build_batch(spec)):
        W, U, V = member.rnn.W, member.rnn.U, member.V
        assert spectral_size(W.tolist()).is_at_most(member.lam)
        assert (identity(3) * member.lam**2 - W.transpose() * W).det() == 0
        assert spectral_size(U.tolist()).is_at_most(member.input_norm)
        assert not spectral_size(U.tolist()).is_at_most(member.input_norm * fmpq(999, 1000))
        assert V.transpose() * V == identity(V.nrows())
        assert [row[:3] for row in V.tolist()[:3]] == W.tolist()
        assert all(square_norm(x) == fmpq(9, 16) for path in member.x for x in path)
        assert square_norm(member.rnn.initial) == 4
        assert (member.lam == 1) == (units == 1)
        assert rational(member.constants()["lam"]) >= member.lam
        runs = (member.rnn.run(path) for path in member.x)
        assert all(h.square <= member.state_bound**2 for run in runs for h in run)


def test_inputs_keep_to_their_bound() -> None:
    """Every regime but an impulse has ‖x_t‖ ≤ B, and all but zero ones attain it."""
    for inputs in ("constant", "gaussian", "alternating", "resonant", "zero", "impulse"):
        batch = build_batch(replace(NETWORK, inputs=inputs, T=6))
        largest = max(
            square_norm(x) for member in exact_members(batch) for path in member.x for x in path
        )
        assert largest > 1 if inputs == "impulse" else largest == (inputs != "zero")
        assert batch.parameters["within"].all() == (inputs != "impulse")


def test_the_bias_is_as_large_as_it_must_be() -> None:
    """Some state is beyond 99/100 of B_h; one entry of V off by 10⁻³⁰, and the gap is not 0."""
    members = exact_members(build_batch(NETWORKS["slow-drive"]))
    reached = [max(h.square for h in m.rnn.run(m.x[0])) / m.state_bound**2 for m in members]
    assert fmpq(99, 100) ** 2 < max(reached) <= 1
    assert members[0].gap_square(0) == 0
    members[0].equivalent.W[0, 0] += fmpq(1, 10**30)
    assert members[0].gap_square(0) > 0


def test_readings_are_points_where_floats_are() -> None:
    """Roots of squares of floats are points, others have the floats to both sides; what is below
    all floats is not told from 0, and what is beyond them is undecided."""
    assert root_ends(fmpq(9, 4)) == (1.5, 1.5)
    assert root_ends(fmpq(0)) == (0.0, 0.0)
    low, high = root_ends(fmpq(2))
    assert low < 2**0.5 < high
    assert np.isnan(root_ends(None)).all()
    assert np.isnan(root_ends(fmpq(1, 2**2200))).all()
    assert upper_float(fmpq(1, 3)) > nearest_float(fmpq(1, 3))
    assert upper_float(fmpq(2) ** 2000) == nearest_float(fmpq(2) ** 2000) == np.inf
    form = claim("urnn-equivalence").form("theorem")
    for field in ("scale", "bias", "start"):
        spec = replace(NETWORKS["slow-drive"], T=4, **{field: 1.7e308})
        seen = judge(form.statement, form.assumptions, build_batch(spec))
        assert set(seen.verdicts.ravel()) <= {Verdict.UNDECIDED, Verdict.HOLDS}


def test_the_defect_counts_every_entry() -> None:
    """Two columns of length 1 that are not orthogonal: ‖VᵀV − I‖_F² = 2 (3/5)²."""
    pair = build_batch(NETWORKS["slow-drive"].select_pair(0, 0))
    vars(exact_members(pair)[0])["V"] = fmpq_mat([[1, fmpq(3, 5)], [0, fmpq(4, 5)]])
    assert MEASURES["unitary_defect"].exact_square(pair, 0, 128) == fmpq(18, 25)


def test_an_independent_program_agrees_with_the_dump(tmp_path: Path) -> None:
    """From the strings alone, in Python's rationals: both networks have the same outputs."""
    statement = parse_statement("unitary_gap <= 0")
    path = tmp_path / "pair.npz"
    dump_system(replay(NETWORK.select_pair(1, 1), statement, ()), path)
    arrays = np.load(path)
    exact = {
        name.removeprefix("exact_"): np.vectorize(Fraction, otypes=[object])(arrays[name])
        for name in arrays.files
        if name.startswith("exact_")
    }

    def outputs(suffix: str, bias: np.ndarray) -> list[np.ndarray]:
        W, U = exact[f"W{suffix}"], exact[f"U{suffix}"]
        n = len(exact["C"])
        h = np.array([*exact["h"][0], *[Fraction(0)] * (len(W) - n)], dtype=object)
        found = []
        for x in exact["x"][0]:
            h = np.maximum(W @ h + U @ x + bias, 0)
            found.append(exact["C"] @ h[:n])
        return found

    own = outputs("", exact["b"])
    assert all((a == b).all() for a, b in zip(own, outputs("2", exact["b2"]), strict=True))
    wrong = exact["b2"].copy()
    wrong[2:] = Fraction(0)
    assert any((a != b).any() for a, b in zip(own, outputs("2", wrong), strict=True))
    assert float(exact["W"][0, 0]) == arrays["W"][0, 0]


@pytest.mark.parametrize("regime", KINDS["block"].regimes)
def test_blocks_are_blocks_of_orthogonal_matrices(regime: str) -> None:
    """V is orthogonal, W its leading block, and n + rank(I − WᵀW) is at most its rows."""
    for n, m, units in ((1, 1, 0), (2, 2, 1), (2, 3, 0), (3, 5, 1), (2, 6, 0), (3, 6, 3)):
        spec = replace(BLOCK, regime=regime, n=n, states=m, units=units)
        batch = build_batch(spec)
        assert (batch.parameters["states"] == m).all()
        for member in exact_members(batch):
            assert member.V.transpose() * member.V == identity(m)
            assert [row[:n] for row in member.V.tolist()[:n]] == member.W.tolist()
        assert verdicts("n + defect_rank <= states", spec) == {"HOLDS"}


def test_slopes_at_rest_are_recognised() -> None:
    """Products of all active units, and of tanh at rest, are exactly orthogonal; a unit that is
    driven beside others at rest leaves the norm 1, but not in rationals."""
    rest = replace(URNN, activation="tanh", inputs="zero", bias=0.0)
    for spec in (RECURRENT["all-active"], rest):
        assert verdicts("dh_dh <= 1", spec) == {"HOLDS"}
        assert verdicts("dh_dh < 1", spec) == {"VIOLATED"}
    mixed = replace(rest, inputs="impulse", regime="signed", d=1, T=1, K=1)
    assert verdicts("dh_dh <= 1", mixed) == {"HOLDS"}
    steep = replace(mixed, activation="gelu", inputs="constant", T=3, K=3, scale=4.0, bias=4.0)
    assert "VIOLATED" in verdicts("dh_dh <= 1", replace(steep, batch=16))


def test_norms_are_decided_in_rationals() -> None:
    """‖diag(1, 1/2)‖ = 1 and not less; one 10⁻⁴⁰ above 1 is seen; irrational norms are enclosed."""

    def norm(A: fmpq_mat) -> Size:
        return spectral_size(A.tolist())

    turned = fmpq_mat([[fmpq(3, 5), fmpq(-4, 5)], [fmpq(4, 5), fmpq(3, 5)]])
    A, tiny = turned * fmpq_mat([[1, 0], [0, fmpq(1, 2)]]) * turned, fmpq(1, 10**40)
    with ctx.workprec(128):
        assert norm(A).is_at_most(ONE)
        assert not norm(A).is_at_most(1 - tiny)
        assert norm(A).square == 1
        assert not norm(turned * fmpq_mat([[1 + tiny, 0], [0, fmpq(1, 2)]])).is_at_most(ONE)
        assert norm(fmpq_mat(2, 2)).square == 0
        golden = norm(fmpq_mat([[1, 1], [1, 0]]))
        assert golden.square is None
        assert golden.ball.overlaps((1 + arb(5).sqrt()) / 2)
