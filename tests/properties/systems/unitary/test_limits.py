"""Candidates around an input, in exact rationals, and sigmoid networks, in balls and by lumping."""

import random
from dataclasses import replace as changed
from itertools import product

import numpy as np
import pytest
import torch
from flint import fmpq, fmpq_mat
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.convert.rational_unitary import RationalRNN
from rnnbounds.impl.numbers.rationals import cayley, diagonal, identity
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.judging.judge import Verdict, judge
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.exact import candidates
from rnnbounds.properties.systems.exact.candidates import (
    candidate_member,
    find_smooth_centre,
    linearize_run,
)
from rnnbounds.properties.systems.exact.members import nearest_floats
from rnnbounds.properties.systems.exact.rational_draws import least_squares, matrix_entries
from rnnbounds.properties.systems.exact.sigmoid import (
    SCALARS,
    SigmoidNetwork,
    probe_inputs,
    sigmoid_pair_member,
    spectral_radius_bound,
)
from rnnbounds.properties.systems.exact.unitary import NETWORKS
from rnnbounds.properties.systems.table import KINDS, make_spec
from rnnbounds.theory import claim

ZERO, ONE = fmpq(0), fmpq(1)
CANDIDATE = make_spec(kind="candidate", regime="dilated", n=2, d=2, T=2, lam=0.0, states=4)
SIGMOID = make_spec(kind="sigmoid", activation="sigmoid", regime="lumped", lam=1.0, states=3)


def test_least_squares_solves_what_has_a_solution() -> None:
    """E M = B is met where it can be, and the residual is normal to M's rows where not."""
    draw = random.Random(1)
    M, E, B = (
        fmpq_mat(rows, columns, [fmpq(draw.randint(-4, 4), 3) for _ in range(rows * columns)])
        for rows, columns in ((3, 5), (2, 3), (2, 5))
    )
    assert least_squares(M, E * M) == E
    residual = B - least_squares(M, B) * M
    assert any(matrix_entries(residual))
    assert not any(matrix_entries(residual * M.transpose()))


@pytest.mark.parametrize("regime", KINDS["candidate"].regimes)
def test_every_candidate_is_what_it_says(regime: str) -> None:
    """V is orthogonal and ‖W‖ < 1; in the cell both networks are affine, with their tangents; what
    matches does so exactly, and no longer with the least change of its readout."""
    sizes = [(n, m) for n in (1, 2, 3) for m in range(n, 2 * n + 2)]
    for (n, m), lam in product(sizes, (0.0, 0.6)):
        spec = replace(CANDIDATE, regime=regime, n=n, d=n, states=m, lam=lam, seed=m)
        found = candidate_member(spec, 0)
        V, W, at = found.urnn.W, found.rnn.W, found.centre_runs
        assert V * V.transpose() == identity(m)
        assert np.linalg.norm(np.array(nearest_floats(W.tolist())), 2) < 1
        assert all(all(step.pattern) for step in at.network)
        assert not any(step.is_kinked for step in (*at.network, *at.candidate))
        for net, cell in ((found.rnn, at.network), (found.urnn, at.candidate)):
            moved = [list(x) for x in at.centre]
            moved[0][0] += found.radius
            ends = zip(net.states(at.centre), net.states(moved), cell, strict=True)
            for here, there, step in ends:
                slopes = [row[0] * found.radius for row in step.tangents.tolist()]
                assert [q - p for p, q in zip(here, there, strict=True)] == slopes
        least = {"dilated": 2 * n, "rescaled": n + 1}.get(regime, m + 1)
        if regime == "rescaled" or m < 2 * n or least <= m:
            assert (found.separation_square == 0) == (least <= m)
        if least <= m:
            shifted = changed(found, e=(found.e[0] + fmpq(1, 2**80), *found.e[1:]))
            assert shifted.separation_square == fmpq(1, 2**160)


def test_a_readout_is_found_exactly_from_2n_states_on() -> None:
    """With drawn V and G, all units active: never with fewer, with 2n unless G has no rank n."""
    for n in (1, 2):
        for m in (2 * n - 1, 2 * n):
            spec = replace(CANDIDATE, regime="solved", n=n, d=n, states=m)
            found = [candidate_member(replace(spec, seed=s), 0) for s in range(6)]
            full = [c for c in found if all(all(s.pattern) for s in c.centre_runs.candidate)]
            assert full
            assert any(c.separation_square == 0 for c in full) == (m == 2 * n)


def test_kinks_move_the_centre(monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit exactly on its kink moves the centre; one that is 0 all around does not."""
    one = RationalRNN(fmpq_mat([[ZERO]]), fmpq_mat([[ONE]]), (ONE,), (ZERO,))
    kink = RationalRNN(fmpq_mat([[ONE]]), fmpq_mat([[ONE]]), (ZERO,), (ZERO,))
    idle = RationalRNN(fmpq_mat([[ONE]]), fmpq_mat([[ZERO]]), (ZERO,), (ZERO,))
    centre = ((ZERO,), (ZERO,))
    assert find_smooth_centre(one, one, centre).centre == centre
    moved = find_smooth_centre(one, kink, centre).centre
    assert moved != centre
    assert linearize_run(kink, moved)[0].pattern == (True,)
    assert find_smooth_centre(one, idle, centre).centre == centre
    monkeypatch.setattr(candidates, "ATTEMPTS", 1)
    with pytest.raises(SpecError, match="kink"):
        find_smooth_centre(one, kink, centre)


@pytest.mark.parametrize("name", ["sigmoid", "tanh"])
def test_what_is_matched(name: str) -> None:
    """|w| = 1 and an orthogonal W, by the same activation; a quarter or 4, by the other; by
    nothing else, nor after the least change."""
    matched = {"lumped": 1.0, "mixed": {"tanh": 0.25, "sigmoid": 4.0}[name]}
    for n, seed, regime in product((1, 2, 3), range(4), matched):
        spec = replace(SIGMOID, activation=name, regime=regime, n=n, seed=seed)
        pair = sigmoid_pair_member(replace(spec, lam=matched[regime]), 0)
        V = pair.candidate.V
        assert V * V.transpose() == identity(3)
        assert pair.is_equal
        assert pair.parameters()["same_activation"] == (regime == "lumped")
        off = changed(pair.candidate, e0=pair.candidate.e0 + fmpq(1, 2**90))
        others = [sigmoid_pair_member(replace(spec, lam=lam), 0) for lam in (0.5, 1 - 2.0**-20)]
        for other in (changed(pair, candidate=off), *others):
            assert not other.is_equal
            assert 0 < other.probe_gap < other.gap_bound()


@pytest.mark.parametrize("name", ["sigmoid", "tanh"])
def test_gaps_agree_with_floats(name: str) -> None:
    """The ball encloses what a plain loop in float64 finds."""
    pair = sigmoid_pair_member(
        replace(SIGMOID, activation=name, regime="unrelated", lam=0.5, seed=4), 0
    )

    def outputs(net: SigmoidNetwork, x: list[float]) -> list[float]:
        rho, V = activation(net.activation), np.array(nearest_floats(net.V.tolist()))
        g, d, e = (np.array(nearest_floats(part)) for part in (net.g, net.d, net.e))
        s, found = np.array(nearest_floats(net.start)), []
        for v in x:
            s = rho(torch.from_numpy(V @ s + g * v + d)).numpy()
            found.append(float(e @ s) + float(nearest_floats(net.e0)))
        return found

    gaps = [
        abs(np.array(outputs(pair.network, x)) - outputs(pair.candidate, x)).max()
        for x in nearest_floats(probe_inputs())
    ]
    assert max(gaps) == pytest.approx(float(pair.probe_gap), rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_radii_are_bounds_from_above(n: int) -> None:
    """Never below numpy's eigenvalues, and near the radius however large the norm."""
    for seed in range(12):
        draw = random.Random(seed)
        T = identity(n)
        for i in range(1, n):
            T[0, i] = fmpq(draw.randint(-9, 9))
        W = T * cayley(n, draw) * fmpq(draw.randint(1, 9), 8) * T.inv()
        radius = max(abs(np.linalg.eigvals(np.array(nearest_floats(W.tolist())))))
        assert radius * (1 - 1e-9) <= spectral_radius_bound(W) <= 1.02 * radius
    assert spectral_radius_bound(diagonal([ONE] * n)) >= 1
    assert spectral_radius_bound(diagonal([fmpq(2**20 - 1, 2**20)] * n)) < 1


# A claim, a form or a false variant of it, a named instance, and the verdict on all its members.
JUDGED = (
    ("urnn-equivalence", "theorem", "beyond-the-bound", "VACUOUS"),
    ("urnn-tight", "excluded", "swap-of-states", "VACUOUS"),
    ("urnn-tight", "at-2n", "swap-of-states", "VIOLATED"),
    ("urnn-tight", "needed", "swap-of-states", "HOLDS"),
    ("urnn-tight", "needed", "rescaled-nilpotent", "VACUOUS"),
    ("urnn-tight", "any-contraction", "rescaled-nilpotent", "VIOLATED"),
    ("urnn-sigmoid", "excluded", "unit-weight", "VACUOUS"),
    ("urnn-sigmoid", "unit-weight", "unit-weight-lumped", "VIOLATED"),
    ("urnn-sigmoid", "mixed", "quarter-weight-tanh", "VIOLATED"),
    ("urnn-sigmoid", "excluded", "sheared-radius", "VACUOUS"),
    ("urnn-sigmoid", "vector", "sheared-radius", "HOLDS"),
    ("urnn-sigmoid", "vector", "orthogonal-itself", "VACUOUS"),
    ("urnn-sigmoid", "radius-one", "orthogonal-itself", "VIOLATED"),
    ("urnn-sigmoid", "vector", "cancelling-readouts", "VACUOUS"),
    ("urnn-sigmoid", "constant-output", "cancelling-readouts", "VIOLATED"),
)


NAMED = NETWORKS | candidates.CANDIDATES | SCALARS


@pytest.mark.parametrize(("of", "name", "spec", "verdict"), JUDGED)
def test_named_instances_are_decided(of: str, name: str, spec: str, verdict: str) -> None:
    """What holds, what says nothing, and what convicts a false variant."""
    variants = {variant.id: variant for variant in claim(of).false_variants}
    said = variants[name] if name in variants else claim(of).form(name)
    found = judge(said.statement, said.assumptions, build_batch(NAMED[spec])).verdicts
    assert {Verdict(int(v)).name for v in found.ravel()} == {verdict}
