"""Windows of linear systems by impulse responses: above what adversaries see, and close to it."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import pytest
import torch
from draws import normal
from flint import arb

from rnnbounds.impl.arithmetic.inputs.data_sets import input_hull
from rnnbounds.impl.arithmetic.inputs.sets import input_box
from rnnbounds.impl.bidirectional.file_calls import save_truncated
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.checker import impulses as checker
from rnnbounds.impl.checker.truncated import check_truncated
from rnnbounds.impl.convert.truncate import unrolled
from rnnbounds.impl.format.record import record, stated
from rnnbounds.impl.norms import impulses as maker
from rnnbounds.impl.norms.impulses import Gram, ImpulseResponse, LinearSystem, _largest_sums
from rnnbounds.impl.reading.adapters import load_model

EPSILONS = (1e-1, 1e-3)
LONG = 400  # steps after a window that an adversary uses


def linear(seed, n=4, d=2, radius=0.95):
    """A linear cell with biases."""
    W = normal(n, n, seed=seed)
    W *= radius / torch.linalg.eigvals(W).abs().max()
    return "linear", {
        "weight_hh": W,
        "weight_ih": normal(n, d, seed=seed + 50),
        "bias_ih": 0.1 * normal(n, seed=seed + 60),
        "bias_hh": 0.1 * normal(n, seed=seed + 70),
    }


def leaky(seed):
    """A linear cell, written as an echo-state network."""
    _, m = linear(seed)
    leak = torch.full((4,), 0.5).double()
    W = 2 * m["weight_hh"] - torch.eye(4).double()
    b = 2 * m["bias_ih"]
    return "leaky-identity", {"W": W, "W_in": 2 * m["weight_ih"], "leak": leak, "b": b}


def diagonal(seed):
    """Two complex poles."""
    size = torch.tensor([0.9, 0.95]).double()
    weights = {"nu_log": torch.log(-torch.log(size)), "theta_log": normal(2, seed=seed)}
    inputs = {"B_re": normal(2, 2, seed=seed + 1), "B_im": normal(2, 2, seed=seed + 2)}
    return "diagonal", weights | inputs | {"b": 0.1 * normal(4, seed=seed + 3)}


CELLS = (linear, leaky, diagonal)


def adversary(model, k, inputs):
    """The largest ‖h_T − h_T^k‖₂ that an adversary finds, of two runs of the cell."""
    eye, still = torch.eye(model.n + model.d).double(), torch.zeros(1, model.d, 1).double()
    origin = torch.zeros(1, model.n, 1).double()
    b = model.cell.step(origin, still)[0]
    slopes = model.cell.step(eye[None, : model.n], eye[None, model.n :])[0] - b
    A, C = slopes[:, : model.n].numpy(), torch.cat([slopes[:, model.n :], b], 1).numpy()
    C = np.linalg.matrix_power(A, k) @ C
    later = np.stack(list(accumulate(range(1, LONG), lambda each, _: A @ each, initial=C)))
    V, v = later[..., :-1], later[..., -1].sum(0)
    u, x = v + V[0][:, 0], np.zeros((LONG, model.d))
    for _ in range(20):
        pulls = np.einsum("jnd,n->jd", V, u)
        if type(inputs) is float:
            x = inputs * pulls / np.linalg.norm(pulls, axis=1, keepdims=True)
        elif inputs.rows is None:
            x = np.where(pulls > 0, inputs.high.numpy(), inputs.low.numpy())
        else:
            x = inputs.rows.numpy()[np.argmax(pulls @ inputs.rows.numpy().T, axis=1)]
        u = np.einsum("jnd,jd->n", V, x) + v
    runs = torch.zeros(1, model.n, 2).double()
    for t, each in enumerate([*x[::-1], *np.zeros((k, model.d))]):
        runs[..., 1] *= t >= LONG
        runs = model.cell.step(runs, torch.from_numpy(each)[None, :, None].expand(1, -1, 2))
    return float((runs[0, :, 0] - runs[0, :, 1]).norm())


@pytest.mark.parametrize("draw", CELLS)
@pytest.mark.parametrize("seed", range(3))
def test_windows_are_as_long_as_needed(draw, seed):
    """No adversary exceeds ε after a window; one of nearly all shorter ones is exceeded."""
    cell, weights = draw(seed)
    model = load_model(weights, cell)
    for epsilon, k in certify(model, 1.5, EPSILONS).windows:
        assert adversary(model, k, 1.5) <= epsilon
        assert adversary(model, int(0.97 * k) - 3, 1.5) > epsilon


SETS = {
    "ball": 1.5,
    "box": input_box([0.0, 0.5], [1.0, 0.5], 2),
    "hull": input_hull(torch.tensor([[1.0, 1.0], [0.5, -1.0], [0.0, 0.2]]).double(), "three"),
}


@pytest.mark.parametrize("inputs", SETS.values(), ids=SETS)
@pytest.mark.parametrize("draw", CELLS)
def test_sets_of_inputs_and_their_proof(draw, inputs, tmp_path):
    """Windows of sets are above adversaries in them; the checker proves them, and no shorter ones
    that an adversary refutes."""
    cell, weights = draw(7)
    model, path = load_model(weights, cell), tmp_path / "truncated.safetensors"
    certificate = certify(model, inputs, EPSILONS)
    for epsilon, k in certificate.windows:
        assert adversary(model, k, inputs) <= epsilon
    save_truncated(unrolled(model, certificate.windows[-1][1]), certificate.to_json(), path)
    _, found = check_truncated(path)
    assert all(finding.holds for finding in found)
    told = record(stated(certificate.to_json()))
    stored = {role: part.numpy() for role, part in model.weights.items()}
    for epsilon, k in certificate.windows:
        seen = [j for j in (k // 2, int(0.9 * k), k - 4) if adversary(model, j, inputs) > epsilon]
        assert seen
        held = checker.proved(told, stored, [(j, arb(epsilon)) for j in (*seen, k, k + 1)])
        assert held == [False] * len(seen) + [True, True]


def test_needs_no_norm_that_is_near():
    """The window is that of the responses where norms have factors near 1 and large constants."""
    weights = {"weight_hh": torch.tensor([[0.5, 1e3], [0.0, 0.5]]).double(),
               "weight_ih": torch.tensor([[0.0], [1.0]]).double()}  # fmt: skip
    model = load_model(weights, "linear")
    norm = kind_of("linear").analyse(model, 1.0).norm("quadratic")
    k = norm.window(1e-3)
    terms = [Fraction(10**3 * j, 2 ** (j - 1)) for j in range(1, 200)]  # and 2⁻ʲ in the other row
    assert sum(terms[k - 1 :]) <= Fraction(1, 1000) < sum(terms[k - 3 :])
    assert 2 * k < norm.geometric_window(1e-3)


def test_never_longer_than_by_the_factor(monkeypatch):
    """What takes too much work, or has unknown constants, keeps the window of the factor."""
    model = load_model(linear(1)[1], "linear")
    analysis = kind_of("linear").analyse(model, 1.0)
    norm = analysis.norm("quadratic")
    assert norm.window(1e-2) < norm.geometric_window(1e-2)
    assert norm.impulses.window(1e-2, 3, norm) == 3
    monkeypatch.setattr(maker, "WORK", 0)
    fresh = ImpulseResponse(norm.impulses.system, 1.0)
    assert fresh.window(1e-2, 77, norm) == 77
    monkeypatch.undo()
    endless = replace(norm, equivalence=math.inf)
    assert ImpulseResponse(norm.impulses.system, 1.0).window(1e-2, 77, endless) == 77
    huge = LinearSystem(norm.impulses.system.A * 1e300, norm.impulses.system.C, (0.0, 0.0))
    assert ImpulseResponse(huge, 1.0).window(1e-2, 77, norm) == 77


def test_the_norm_is_the_one_without_responses(monkeypatch):
    """Responses leave all norms one window, and bounds on states are those of the norm kept."""
    drawn = [load_model(linear(seed, n=2)[1], "linear") for seed in range(4)]
    kept = [certify(model, 1.0) for model in drawn]
    monkeypatch.setattr(ImpulseResponse, "window", lambda self, epsilon, most, norm: most)
    for model, now in zip(drawn, kept, strict=True):
        before = certify(model, 1.0)
        assert (now.norm, now.constants["B_h"]) == (before.norm, before.constants["B_h"])


def test_errors_of_the_matrices_count():
    """A system that is known within an error has the windows of all systems within it."""
    norm = Contraction(0.6, 1.0, 1.0)
    A, C = np.array([[0.5]]), np.array([[1.0, 0.0]])
    exact, near = (ImpulseResponse(LinearSystem(A, C, (off, 0.0)), 1.0) for off in (0.0, 1e-3))
    k = near.window(1e-2, 100, norm)
    assert exact.window(1e-2, 100, norm) <= k
    assert 0.501**k / (1 - 0.501) <= 1e-2


class Contraction(NamedTuple):
    """The numbers of a norm."""

    lam: float
    equivalence: float
    reach: float


@pytest.mark.parametrize("seed", range(4))
def test_sums_of_squares_bound_what_inputs_reach(seed):
    """Never below aligned inputs, and not far above."""
    rng = np.random.default_rng(seed)
    C = rng.standard_normal((30, 3, 3)) * 10.0 ** rng.uniform(-3, 0, (30, 1, 1))
    V, u = C[..., :-1], rng.standard_normal(3)
    for _ in range(50):
        pulls = np.einsum("jnd,n->jd", V, u)
        u = np.einsum("jnd,jd->n", V, pulls / np.linalg.norm(pulls, axis=1, keepdims=True))
    bound = float(Gram.of(C).reach(1000))
    parts = Gram.of(C[:7]).joined(Gram.of(C[7:]))
    assert np.linalg.norm(u) <= bound < 1.25 * np.linalg.norm(u)
    assert float(parts.reach(1000)) == pytest.approx(bound, rel=1e-12)


def test_largest_sums_in_rationals():
    """At least every sum of consecutive steps after k, and hardly more."""
    steps = np.random.default_rng(0).standard_normal((9, 2))
    found = _largest_sums(steps)
    for unit in range(2):
        exact = [Fraction(a) for a in steps[:, unit]]
        for k in range(10):
            sums = [sum(exact[i:T], Fraction(0)) for i in range(k, 10) for T in range(i, 10)]
            assert max(sums) <= Fraction(found[k, unit]) <= max(sums) + Fraction(1, 10**12)
