"""The experiment on gradients and weights: small, twice the same, honest when it fails."""

import math
from dataclasses import replace

import pytest
import torch
from small_runs import GRADIENTS as SMALL

from reports.pages.experiment import render_experiment
from rnnbounds.experiments.gradients.curves import flat_from, mean, mean_bound, power, used, vacuous
from rnnbounds.experiments.gradients.instances import draw
from rnnbounds.experiments.gradients.page import page as page_of
from rnnbounds.experiments.gradients.record import problems, within
from rnnbounds.experiments.gradients.run import run


@pytest.fixture(scope="module")
def ran(small_run):
    """A small run: its folder, its record, and how often it advanced."""
    return small_run("gradients-close")


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
    """Another seed draws others; fewer instances are the first ones; all start inside of Ω."""
    two, three = draw(SMALL, 0), draw(replace(SMALL, instances=3), 0)
    other = draw(SMALL, 1)
    assert torch.equal(two.cell.W, three.cell.W[:2])
    assert torch.equal(two.x, three.x[:2])
    assert not torch.equal(two.cell.W, other.cell.W)
    assert (torch.linalg.matrix_norm(three.cell.W, 2) <= SMALL.lam).all()
    assert torch.linalg.matrix_norm(three.cell.W, 2) == pytest.approx(SMALL.lam)


def test_autograd_agrees(ran):
    """Gradients and weights, recomputed by autograd, one model after the other, agree."""
    _, record, _ = ran
    drawn = draw(SMALL, 0)
    for i in range(2):
        W, U = drawn.cell.W[i], drawn.cell.U[i]
        data = drawn.x[i, ..., 0], drawn.C[i], drawn.y[i]
        whole = slopes(W, U, *data, SMALL.length)
        for index, k in enumerate(SMALL.windows):
            gap = distance(whole, slopes(W, U, *data, k))
            assert record.gradients.observed[i][index] == pytest.approx(gap, rel=1e-9, abs=1e-14)
        radii = float(drawn.omega.W[i]), float(drawn.omega.U[i])
        for told in record.descents:
            size = told.alpha[i]
            rates = [size / t if told.decreasing else size for t in range(1, SMALL.steps + 1)]
            full = trained(W, U, *data, SMALL.length, rates, radii)
            assert told.moved[i] == pytest.approx(distance(full, (W, U)), rel=1e-9)
            for index, k in enumerate(SMALL.windows):
                gap = distance(full, trained(W, U, *data, k, rates, radii))
                seen = told.weights.observed[i][index]
                assert seen == pytest.approx(gap, rel=1e-7, abs=1e-12)


def test_bounds_are_the_formulas(ran):
    """ε_k = λᵏG_0 + kλᵏ⁻¹D_1, and (ε_k/β)(∏(1 + α_tβ) − 1) by multiplying out."""
    _, record, _ = ran
    known = record.constants
    for i in range(2):
        lam, beta = known["lam"][i], known["beta"][i]
        for index, k in enumerate(SMALL.windows):
            start = lam**k * known["G_0_start"][i] + k * lam ** (k - 1) * known["D_1_start"][i]
            bound = 10 ** record.gradients.log10_bound[i][index]
            assert bound == pytest.approx(start, rel=1e-9)  # λ there is below that of Ω by 2⁻⁴⁰
            epsilon = lam**k * known["G_0"][i] + k * lam ** (k - 1) * known["D_1"][i]
            for told in record.descents:
                product = math.prod(
                    1 + told.alpha[i] * beta / (t if told.decreasing else 1)
                    for t in range(1, SMALL.steps + 1)
                )
                exact = math.log10(epsilon / beta * (product - 1))
                assert told.weights.log10_bound[i][index] == pytest.approx(exact, abs=1e-11)


def test_bounds_dominate(ran):
    """Every observed gap is below its bound, and those of small steps are not vacuous."""
    _, record, _ = ran
    for curve in (record.gradients, *(told.weights for told in record.descents)):
        assert used(curve) < 1
    small = record.descents[-1]
    assert not vacuous(record, small, len(SMALL.windows) - 1)
    assert all(math.isfinite(size) for size in small.weights.rounding)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, 1e300], ids=str)
def test_broken_bounds_are_convicted(ran, wrong):
    """Each comparison can fail, NaN and the rounding of a gap fail it, and the page says so."""
    _, record, _ = ran

    def broken(curve):
        (_, *more), *others = curve.observed
        return replace(curve, observed=((wrong, *more), *others))

    gradient = replace(record, gradients=broken(record.gradients))
    *others, last = record.descents
    weights = replace(record, descents=(*others, replace(last, weights=broken(last.weights))))
    for told, words in (
        (gradient, "the gradients of"),
        (weights, "the weights with steps 1/(βt) of"),
    ):
        found = problems(told)
        assert len(found) == 1
        assert f"{words} instance 0 at k = 1 are" in found[0]
    page = render_experiment(page_of(replace(record, problems=problems(gradient)))).decode()
    assert "FAILS · Gradients and weights" in page
    assert "below its certified bound" not in page


def test_within():
    """A gap with its rounding against a power of ten; an unknown rounding counts as nothing."""
    assert within(1.0, 0.0, 0.0)
    assert not within(1.0, 0.0, 1e-9)
    assert within(1.0, 0.0, math.inf)
    assert within(0.0, -math.inf, 0.0)
    assert within(1e300, 1e6, 0.0)
    assert not within(math.nan, 1e6, 0.0)


def test_page_of_one_window(tmp_path):
    """One window, where there is no rate and no middle, makes a page as well."""
    record = run(tmp_path, instances=1, setting=replace(SMALL, windows=(3,)))
    assert record.problems == ()
    assert b"at k = 3" in render_experiment(page_of(record))


def test_numbers_of_a_page():
    """Bounds are rounded up, huge ones are powers of ten; flat is what falls no more."""
    assert power(0.0) == "1.1·10⁰"
    assert power(2.5) == "3.2·10²"
    assert power(12345.6) == "10¹²³⁴⁶"
    assert power(math.inf) == "∞"
    assert flat_from([1.0, 1e-3, 1e-6]) is None
    assert flat_from([1.0, 1e-16, 2e-16, 1e-16]) == 1
    assert flat_from([1.0, 1e-17, 0.0, 0.0]) == 1
    assert flat_from([1.0]) is None


def test_means(ran):
    """Means over the instances; a bound beyond floats is infinite."""
    _, record, _ = ran
    curve = record.gradients
    assert mean(curve)[0] == pytest.approx((curve.observed[0][0] + curve.observed[1][0]) / 2)
    far = replace(curve, log10_bound=((1.0, *[500.0] * 4), (1.0, *[500.0] * 4)))
    assert mean_bound(far) == [10.0, *[math.inf] * 4]
