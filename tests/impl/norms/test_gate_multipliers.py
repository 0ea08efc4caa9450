"""LSTM and GRU cells in a norm by multipliers: attacked, proved again, never worse than others."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from draws import normal
from msgspec.structs import replace as struct_with

from rnnbounds.impl.bidirectional.file_calls import save_truncated
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.checker.truncated import Claim, check_truncated, proved
from rnnbounds.impl.convert.truncate import unrolled
from rnnbounds.impl.errors import RangeError
from rnnbounds.impl.format.fields import RecordError
from rnnbounds.impl.format.record import record, stated
from rnnbounds.impl.norms.gate_multipliers import (
    GateNorm,
    GateSystem,
    certified_factor,
    factor_in_floats,
    gate_norm,
)
from rnnbounds.impl.norms.solver.client import GATE_SDP, is_installed
from rnnbounds.impl.reading.adapters import load_model

pytestmark = pytest.mark.skipif(not is_installed(), reason="the extra sdp is not installed")
GATES = {"lstm": 4, "gru": 3}
CELLS = pytest.mark.parametrize("cell", GATES)


def model(cell, seed, scale, n=3, d=2, bias=0.0):
    """A random cell; bias: of the gate that keeps states."""
    rows = GATES[cell] * n
    b = 0.3 * normal(rows, seed=seed + 20)
    b[n : 2 * n] += bias
    weights = {
        "weight_hh": scale * normal(rows, n, seed=seed) / n**0.5,
        "weight_ih": 0.3 * normal(rows, d, seed=seed + 10),
        "bias_ih": b,
    }
    return load_model(weights, cell)


def norm_of(loaded, B=1.0):
    """The norm by multipliers, and the analysis."""
    analysis = kind_of(loaded.name).analyse(loaded, B)
    return analysis.norm(GATE_SDP), analysis


def worst_ratio(loaded, d, box, B, seed):
    """The largest ‖D Δ⁺‖/‖D Δ‖ found, from random and near pairs on, by ascent."""
    generator = torch.Generator().manual_seed(seed)

    def uniform(*shape):
        return 2 * torch.rand(*shape, generator=generator, dtype=torch.float64) - 1

    N, count = len(box), 64
    s = (box[:, None] * uniform(N, count)).requires_grad_()
    delta = (
        box[:, None] * uniform(N, count) * 10.0 ** (-3 * (uniform(count) + 1))
    ).requires_grad_()
    x = uniform(loaded.d, count).requires_grad_()
    worst = 0.0
    optimiser = torch.optim.Adam([s, delta, x], lr=0.02)
    for _ in range(60):
        start = torch.maximum(torch.minimum(s, box[:, None]), -box[:, None])
        end = torch.maximum(torch.minimum(start + delta, box[:, None]), -box[:, None])
        inputs = B * x / x.norm(dim=0).clamp(min=1.0)
        images = [loaded.cell.step(each[None], inputs[None])[0] for each in (start, end)]
        before, after = ((d[:, None] * (a - b)).norm(dim=0) for a, b in ((start, end), images))
        ratios = after / before.clamp(min=1e-9)
        worst = max(worst, float(ratios[before > 1e-6].max().detach()))
        optimiser.zero_grad()
        (-ratios.sum()).backward()
        optimiser.step()
    return worst


@CELLS
@pytest.mark.parametrize(("seed", "scale", "bias"), [(0, 0.3, 0.0), (1, 0.6, 0.0), (2, 0.2, 1.5)])
def test_no_pair_of_states_comes_together_more_slowly(cell, seed, scale, bias):
    """No two states of the box are further apart after a step than by λ, and near 1 of it some
    are."""
    loaded = model(cell, seed, scale, bias=bias)
    norm, analysis = norm_of(loaded)
    box = analysis.comparison.box[0]
    d = torch.tensor(norm.weights[: len(box)]).double()
    worst = worst_ratio(loaded, d, box, 1.0, seed)
    assert 0.5 * norm.lam < worst <= norm.lam


@CELLS
def test_the_difference_of_two_runs(cell):
    """Δ⁺ is what the outputs of the system say, with factors in its ranges."""
    loaded = model(cell, 3, 0.8)
    _, analysis = norm_of(loaded)
    box, n = analysis.comparison.box, loaded.n
    system = loaded.cell.gate_system(box, 1.0)
    M = len(system.G)
    for seed in range(20):
        a, b = (box[0] * (2 * torch.rand(2, box.shape[1], generator=torch.Generator()
                .manual_seed(seed), dtype=torch.float64) - 1))  # fmt: skip
        x = normal(loaded.d, seed=seed)
        x = (x / x.norm().clamp(min=1.0))[None, :, None]
        after = [loaded.cell.step(s[None, :, None], x)[0, :, 0].numpy() for s in (a, b)]
        v = system.E @ (a - b).numpy()
        for j in range(n):
            moved = (after[0] - after[1])[j::n]
            low, high = _reach(system, j, v[j], M)
            assert (low - 1e-12 <= moved).all()
            assert (moved <= high + 1e-12).all()


def _reach(system, j, v, M):
    """The least and the largest outputs over all factors at their ends."""
    found = []
    for corner in np.ndindex(*[2] * M):
        factors = np.where(np.array(corner) == 1, system.high[j], system.low[j])
        # y = α G (v, y), solved for y; then O (v, y).
        G_v, G_y = np.split(system.G, [len(v)], axis=1)
        y = np.linalg.solve(np.eye(M) - factors[:, None] * G_y, factors * (G_v @ v))
        found.append(system.O @ np.concatenate([v, y]))
    return np.min(found, axis=0), np.max(found, axis=0)


@CELLS
def test_certifies_more_and_is_proved_again(cell, tmp_path):
    """Of random cells it certifies all that others do, with no longer windows, and more; each is
    proved by the checker, and none with a smaller λ or other multipliers."""
    more = 0
    for seed in range(4):
        loaded = model(cell, seed, {"lstm": 0.35, "gru": 0.4}[cell], n=4)
        certificate = certify(loaded, 1.0, 1e-3)
        tried = {name: (lam, k) for name, lam, k in certificate.tried}
        lam, k = tried.pop(GATE_SDP)
        others = [one for _, one in tried.values() if one is not None]
        assert certificate.lam < 1 or not others
        known = [one for one in (k, *others) if one is not None]
        assert not known or certificate.windows[0][1] <= min(known)
        assert certificate.lam < 1 or not lam < 1
        more += k is not None and not others
    assert more
    loaded, path = model(cell, 1, 0.3), tmp_path / "truncated.safetensors"
    told = certify(loaded, 1.0, 1e-3, norm=GATE_SDP).to_json()
    save_truncated(unrolled(loaded, told["truncation"][0]["k"]), told, path)
    assert all(finding.holds for finding in check_truncated(path)[1])
    weights, said = (
        {role: part.numpy() for role, part in loaded.weights.items()},
        record(stated(told)),
    )
    N = len(said.box)
    forged = [
        struct_with(said, lam=said.lam * 0.999),
        struct_with(said, weights=[*said.weights[:N], *(2 * a for a in said.weights[N:])]),
        struct_with(said, weights=[*said.weights[:N], *(a * 1e-9 for a in said.weights[N:])]),
        struct_with(said, weights=[1.5 * said.weights[0], *said.weights[1:]]),
    ]
    for one in forged:
        assert not all(finding.holds for finding in proved(Claim(weights, one)))
    with pytest.raises(RecordError):
        proved(Claim(weights, struct_with(said, weights=said.weights[:-1])))


@CELLS
def test_rounding_and_constants(cell):
    """The norm bounds rounding too; the steps that contract in ‖·‖₂ follow from its weights."""
    norm, analysis = norm_of(model(cell, 1, 0.3))
    rounding = analysis.rounding(norm)
    assert 0 < rounding.bound < 1e-10
    named = analysis.constants(norm)
    d = np.array(norm.weights[: analysis.comparison.box.shape[1]])
    assert d.max() / d.min() * norm.lam ** named["two_norm_steps"] < 1
    assert (analysis.unit_reach(norm)[0].numpy() >= 1 / d).all()


@CELLS
def test_floats_are_not_believed(cell):
    """A factor that is too small, and multipliers that prove nothing, have no proof in balls."""
    loaded = model(cell, 1, 0.3)
    norm, analysis = norm_of(loaded)
    system, N = loaded.cell.gate_system(analysis.comparison.box, 1.0), len(norm.weights)
    d, multipliers = np.split(np.array(norm.weights), [N - system.low.size])
    multipliers = multipliers.reshape(system.low.shape)
    assert certified_factor(system, GateNorm(d, multipliers, norm.lam)) < 1
    assert certified_factor(system, GateNorm(d, multipliers, 0.99 * norm.lam)) == np.inf
    assert factor_in_floats(system, d, 1e-9 * multipliers) == np.inf
    assert certified_factor(system, GateNorm(d, 1e-9 * multipliers, norm.lam)) == np.inf


def test_what_has_no_such_norm():
    """States that nothing bounds, and too many states."""
    endless = model("lstm", 0, 0.3, bias=2000.0)
    assert norm_of(endless)[0].lam == np.inf
    with pytest.raises(RangeError, match="numbers of a state"):
        certify(model("gru", 0, 0.1, n=65), 1.0, norm=GATE_SDP)
    system = GateSystem(
        np.ones((1, 1, 1)), np.eye(1, 2), np.array([[0.0, 1.0]]), *[np.ones((1, 1))] * 2
    )
    silent = gate_norm(replace(system, high=np.full((1, 1), np.nan)), np.ones(1), 2.0)
    assert silent.factor == np.inf
    ranged = replace(system, low=np.array([[0.2]]), high=np.array([[0.5]]))
    assert gate_norm(ranged, np.ones(1), 2.0).factor == pytest.approx(0.5, rel=1e-3)
