"""The experiment on gradients and weights: what autograd says of it, honest when it fails."""

import math

import pytest
import torch
from msgspec.structs import replace
from small_runs import SMALL as EVERY

from rnnbounds.experiments.engine.record import make_curve
from rnnbounds.experiments.engine.running import run_experiment
from rnnbounds.experiments.stable import gradients_close as close
from rnnbounds.experiments.stable.gradients_close import is_within
from rnnbounds.experiments.stable.instances import draw_instances

SMALL = EVERY["gradients-close"]


@pytest.fixture(scope="module")
def record(small_run):
    """That of a small run."""
    return small_run("gradients-close")[1]


def slopes(W, U, x, C, y, k):
    """∇ ½‖C h_T^k − y‖² in W and U by autograd, one instance."""
    W, U = (part.clone().requires_grad_() for part in (W, U))
    h = torch.zeros(len(W), dtype=torch.float64)
    for value in x[len(x) - k :]:
        h = torch.tanh(W @ h + U @ value)
    return torch.autograd.grad((C @ h - y).square().sum() / 2, (W, U))


def distance(first, second):
    """√(‖W − W′‖_F² + ‖U − U′‖_F²)."""
    return math.sqrt(sum(float((a - b).square().sum()) for a, b in zip(first, second, strict=True)))


def trained(W, U, x, C, y, k, rates, radii):
    """Projected descent, one step after the other."""
    for rate in rates:
        dW, dU = slopes(W, U, x, C, y, k)
        u, sigma, v = torch.linalg.svd(W - rate * dW)
        W, U = (u * sigma.clamp(max=radii[0])) @ v, U - rate * dU
        U = U * min(1.0, radii[1] / float(U.norm()))
    return W, U


def test_seed_and_number():
    """Another seed is another instance; fewer are the first ones; all start inside of Ω."""
    two, three = draw_instances(SMALL), draw_instances(replace(SMALL, seeds=3))
    other = draw_instances(replace(SMALL, seed=1))
    assert torch.equal(two.cell.W, three.cell.W[:2])
    assert torch.equal(other.x, three.x[1:])
    assert not torch.equal(two.cell.W, other.cell.W)
    assert (torch.linalg.matrix_norm(three.cell.W, 2) <= SMALL.lam).all()
    assert torch.linalg.matrix_norm(three.cell.W, 2) == pytest.approx(SMALL.lam)


def test_autograd_agrees(record):
    """Gradients and weights, recomputed by autograd, one model after the other, agree."""
    drawn, constants = draw_instances(SMALL), close.load_data(SMALL, None).value[2]
    sizes = {"steps 1/t": 1.0, "steps 0.3": 0.3}
    for one in record.runs:
        i = one.seed
        W, U = drawn.cell.W[i], drawn.cell.U[i]
        data = drawn.x[i, ..., 0], drawn.C[i], drawn.y[i]
        seen = one.curves["observed"].y
        if one.task == close.GRADIENTS:
            whole = slopes(W, U, *data, SMALL.length)
            told = [distance(whole, slopes(W, U, *data, k)) for k in SMALL.windows]
            assert seen == pytest.approx(told, rel=1e-9, abs=1e-14)
            continue
        radii = float(drawn.omega.W[i]), float(drawn.omega.U[i])
        size = sizes.get(one.variant, 1 / float(constants["beta"][i]))
        fixed = one.variant == "steps 0.3"
        rates = [size if fixed else size / t for t in range(1, SMALL.steps + 1)]
        full = trained(W, U, *data, SMALL.length, rates, radii)
        assert one.figures["moved"] == pytest.approx(distance(full, (W, U)), rel=1e-9)
        told = [distance(full, trained(W, U, *data, k, rates, radii)) for k in SMALL.windows]
        assert seen == pytest.approx(told, rel=1e-7, abs=1e-12)


def test_bounds_are_the_formulas(record):
    """ε_k = λᵏG_0 + kλᵏ⁻¹D_1, and (ε_k/β)(∏(1 + α_tβ) − 1) by multiplying out."""
    _, start, uniform = close.load_data(SMALL, None).value
    for one in record.runs:
        i = one.seed
        of = start if one.task == close.GRADIENTS else uniform
        lam, G_0, D_1, beta = (float(of[name][i]) for name in ("lam", "G_0", "D_1", "beta"))
        alpha = {"steps 1/t": 1.0, "steps 0.3": 0.3}.get(one.variant, 1 / beta)
        times = [1 if one.variant == "steps 0.3" else t for t in range(1, SMALL.steps + 1)]
        product = math.prod(1 + alpha * beta / t for t in times)
        scale = 1.0 if one.task == close.GRADIENTS else (product - 1) / beta
        told = [lam**k * G_0 + k * lam ** (k - 1) * D_1 for k in SMALL.windows]
        exact = [math.log10(epsilon * scale) for epsilon in told]
        assert one.curves["log₁₀ certified"].y == pytest.approx(exact, abs=1e-11)


def test_vacuous_bounds_are_not_drawn(record):
    """A bound on weights is drawn where it is below the diameter of the set of weights."""
    drawn = {one.variant: one.curves["certified"].y for one in record.runs}
    assert set(drawn["steps 0.3"]) == {None}
    assert drawn["steps 1/(βt)"][-1] is not None
    assert None not in drawn["Gaussian weights"]


def test_broken_bounds_are_convicted(record):
    """What is above its bound is told with its instance."""
    first, *rest = record.runs
    broken = replace(first, figures=first.figures | {"a bound broken": 2.0})
    outcome = close.judge_runs([broken, *rest], SMALL)
    assert outcome.holds == "does not hold"
    (problem,) = outcome.problems
    assert problem.startswith("gradients at the same weights, Gaussian weights, instance 0: 2 gaps")


def test_within():
    """A gap with its rounding against a power of ten; an unknown rounding counts as nothing."""
    assert is_within(1.0, 0.0, 0.0)
    assert not is_within(1.0, 0.0, 1e-9)
    assert is_within(1.0, 0.0, math.inf)
    assert is_within(0.0, -math.inf, 0.0)
    assert is_within(1e300, 1e6, 0.0)
    assert not is_within(math.nan, 1e6, 0.0)


def test_one_window(tmp_path):
    """Where there is no middle."""
    record = run_experiment(
        close.EXPERIMENT, tmp_path, setting=replace(SMALL, seeds=1, windows=(3,))
    )
    assert record.problems == ()
    assert record.runs[0].curves["observed"] == make_curve([3], [record.runs[0].figures["k = 3"]])
