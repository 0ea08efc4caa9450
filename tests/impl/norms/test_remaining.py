"""What a comparison leaves step by step, its fixed points, and the least window of a factor."""

import math
from fractions import Fraction
from operator import mul

import numpy as np
import pytest
import torch
from cell_systems import weights_of
from draws import normal
from hypothesis import example, given, settings
from hypothesis import strategies as st
from window_runs import outputs

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.checker.truncated import check_truncated
from rnnbounds.impl.convert.files import save_truncated
from rnnbounds.impl.convert.truncate import unrolled
from rnnbounds.impl.norms.differences import (
    STEPS,
    DifferenceBounds,
    LayerMatrices,
    certified_point,
    initial_difference,
)
from rnnbounds.impl.norms.norm_data import least_window
from rnnbounds.impl.reading.adapters import load_model

EPSILONS = (0.3, 1e-1, 1e-2, 1e-3, 1e-4, 1e-6)


def one(matrices, start, shown=1):
    """What one layer leaves."""
    return DifferenceBounds((LayerMatrices(matrices, start),), shown)


def exact(matrices, start, steps):
    """g_0, g_1, … in rationals."""
    found = [[Fraction(value) for value in start]]
    rows = [[[Fraction(a) for a in row] for row in M] for M in matrices]
    for _ in range(steps):
        g = found[-1]
        sums = [[sum(a * b for a, b in zip(row, g, strict=True)) for row in M] for M in rows]
        found.append([max(column) for column in zip(*sums, strict=True)])
    return found


@pytest.mark.parametrize("seed", range(4))
def test_bounds_the_exact_sequence(seed):
    """Never below ‖(g_m)_h‖₂ in rationals, and close to it."""
    rng = np.random.default_rng(seed)
    R, N, shown = 1 + seed % 2, 5, 2
    M, start = rng.random((R, N, N)) * 0.3, rng.random(N) * 10.0 ** rng.integers(-300, 3, N)
    left = one(torch.from_numpy(M), torch.from_numpy(start), shown)
    for m, g in enumerate(exact(M.tolist(), start.tolist(), 12)):
        square = sum(value**2 for value in g[-shown:])
        found = Fraction(left.bounds(m + 1)[m]) ** 2
        assert found >= square
        assert found <= square * (1 + Fraction(1, 10**12)) + Fraction(1, 10**1500)
    assert left.bounds(1)[0] == left.bounds(1)[0]  # what is known is kept


@pytest.mark.parametrize("M", [[[0.5, 0.0], [1.0, 0.5]], [[0.9, 0.3], [0.0, 0.2]]])
def test_least_window_of_which_all_longer_ones_are_good(M):
    """Also where what is left of the output rises before it falls; never above the k given, and
    shorter for no smaller ε."""
    left = one(torch.tensor([M], dtype=torch.float64), torch.tensor([1.0, 0.125]).double())
    sizes, before = left.bounds(400)[:400], 0
    for epsilon in EPSILONS:
        k = left.window(epsilon, 300)
        assert all(size <= epsilon for size in sizes[k:])
        assert k == 0 or sizes[k - 1] > epsilon
        assert before <= k
        before = k
        assert [left.window(epsilon, most) for most in (0, k // 2, k)] == [0, k // 2, k]


@pytest.mark.parametrize(
    ("lam", "radius", "wanted"),
    [(0.5, math.inf, [2.0, 1.0]), (0.5, 0.25, [0.25, 0.5]), (0.5, 8.0, [2.0, 1.0]),
     (1.0, 0.25, [8.0, 1.0])],
)  # fmt: skip
def test_the_start_is_the_least_that_is_known(lam, radius, wanted):
    """Of the box, and of v times S/(1 − λ) or the radius; the box alone unless λ < 1."""
    box, v = torch.tensor([8.0, 1.0]).double(), torch.tensor([1.0, 2.0]).double()
    assert initial_difference(box, v, 1.0, lam, radius).tolist() == wanted


def test_what_cannot_be_had_is_left_to_the_factor():
    """A start that is infinite or no number, and too many steps: k as it is given."""
    half = torch.full((1, 1, 1), 0.5, dtype=torch.float64)
    for value in (math.inf, math.nan):
        start = torch.tensor([value], dtype=torch.float64)
        assert one(half, start).window(1.0, 7) == 7
        below = torch.tensor([value, 1.0], dtype=torch.float64)  # beside an output that is small
        for matrices in (torch.zeros(1, 2, 2).double(), torch.eye(2).double()[None] / 2):
            for k in (0, 1, 7):
                assert one(matrices, below).window(2.0, k) == k
        layers = (
            LayerMatrices(half, start),
            LayerMatrices(torch.zeros(1, 1, 2).double(), torch.ones(1).double()),
        )
        assert DifferenceBounds(layers, 1).window(2.0, 1) == 1
    start = torch.ones(1, dtype=torch.float64)
    assert one(half, start).window(1e-2, STEPS + 1) == STEPS + 1
    assert one(half, start).window(1e-2, STEPS) == 7
    wide = torch.zeros(1, 256, 256, dtype=torch.float64)
    assert one(wide, torch.ones(256).double()).window(1e-2, 400) == 400


CELLS = ("lstm", "gru-cho", "leaky-tanh", "stacked-gru")


def model(cell, seed):
    """Random weights of a cell, of two layers where it is a stack."""
    layers = 2 if cell.startswith("stacked-") else 1
    drawn = weights_of(cell, n=3, d=2, layers=layers, seed=seed, scale=0.4)
    return load_model({name: part.double() for name, part in drawn.items()}, cell)


def gap(held, x, k):
    """The largest ‖h_T − h_T^k‖₂ over sequences x (S, T, d)."""
    last = x[:, max(0, x.shape[1] - k) :]
    full, short = (outputs(held.name, held.weights, part)[:, -1] for part in (x, last))
    return float((full - short).norm(dim=1).max())


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS)
def test_windows_of_models(cell, tmp_path):
    """In every norm no longer than by λ, in one of them shorter; runs of constant and alternating
    inputs on the bound hold them, and the checker proves them, but none an input shorter."""
    held = model(cell, 1)
    found = kind_of(cell).analyse(held, 1.0)
    shorter = 0
    for name in kind_of(cell).norms:
        norm = found.norm(name)
        if not norm.lam < 1 or norm.remaining is None:
            continue
        pairs = [(norm.geometric_window(eps), norm.window(eps)) for eps in EPSILONS]
        assert all(k <= most for most, k in pairs)
        assert sorted(k for _, k in pairs) == [k for _, k in pairs]
        shorter += sum(k < most for most, k in pairs)
    assert shorter
    certificate = certify(held, inputs=1.0, eps=(1e-2, 1e-4))
    x = normal(64, 1, held.d).repeat(1, 120, 1)
    x = x / x.norm(dim=2, keepdim=True)
    x[32:, ::2] *= -1
    for epsilon, k in certificate.windows:
        assert gap(held, x, k) <= epsilon
    path = tmp_path / "t.safetensors"
    save_truncated(unrolled(held, certificate.windows[0][1]), certificate.to_dict(), path)
    assert all(one.holds for one in check_truncated(path)[1])
    told = certificate.to_dict()
    for entry in told["truncation"]:
        entry["k"] -= 1
    save_truncated(unrolled(held, told["truncation"][0]["k"]), told, path)
    fell = [one.name for one in check_truncated(path)[1] if not one.holds]
    assert set(fell) == {"window"}


def test_a_window_speaks_of_all_longer_ones(tmp_path):
    """What is left of an LSTM's output rises before it falls, as its cell holds more than it shows:
    the checker refuses a k of which that is true and of k + 1 is not."""
    bias = torch.tensor([9.0, 1.5, 9.0, 9.0], dtype=torch.float64)
    held = load_model(
        {"weight_hh": torch.full((4, 1), 2.0**-9, dtype=torch.float64),
         "weight_ih": torch.full((4, 1), 2.0**-9, dtype=torch.float64), "bias_ih": bias},
        "lstm",
    )  # fmt: skip
    left = kind_of("lstm").analyse(held, 1.0).norm("perron").remaining
    first, second = left.bounds(2)[:2]
    assert first < second
    epsilon = (first + second) / 2
    certificate = certify(held, inputs=1.0, eps=(epsilon,), norm="perron")
    told, k = (
        certificate.to_dict(),
        kind_of("lstm").analyse(held, 1.0).norm("perron").window(epsilon),
    )
    assert k == certificate.window(epsilon) > 1
    path = tmp_path / "t.safetensors"
    for forged, fell in ((k, []), (k - 1, ["window"]), (0, ["window"])):
        told["truncation"][0]["k"] = forged
        save_truncated(unrolled(held, forged), told, path)
        assert [one.name for one in check_truncated(path)[1] if not one.holds] == fell


def test_steps_that_were_broken_off_are_done_again(monkeypatch):
    """Ctrl-C in the middle leaves nothing that is less than what is left."""
    matrices = torch.tensor([[[0.5, 0.25], [0.0, 0.5]]], dtype=torch.float64)
    layer = LayerMatrices(matrices, torch.ones(2, dtype=torch.float64))
    expected, again = (DifferenceBounds((layer,), 1) for _ in range(2))
    moved, left = LayerMatrices.next_difference, iter([True, True, False])

    def failing(self, *args):
        if next(left, True):
            return moved(self, *args)
        raise KeyboardInterrupt

    monkeypatch.setattr(LayerMatrices, "next_difference", failing)
    with pytest.raises(KeyboardInterrupt):
        again.bounds(6)
    assert again.bounds(6)[:6] == expected.bounds(6)[:6]


entries = st.floats(0, 1).filter(lambda a: a == 0 or a > 1e-100)


@settings(max_examples=60)
@given(st.integers(1, 3), st.integers(1, 4), st.floats(0.01, 1.5), st.data())
def test_a_step_carries_it_into_itself(R, N, size, data):
    """F(v) ≤ v in rationals; v is at most that of the maximum norm, but for what it has more as
    room, and infinite only where that is not known to contract."""
    draw = data.draw(st.lists(entries, min_size=R * N * (N + 1), max_size=R * N * (N + 1)))
    rows = torch.tensor(draw, dtype=torch.float64).reshape(R, N, N + 1) * (size / N)
    M, rho = rows[..., :N], rows[..., N]
    v = certified_point(M, rho)
    lam = float(M.sum(2).max())
    if lam < 1:
        assert float(v.max()) <= float(rho.max()) / (1 - lam) * (1 + 2e-6)
    if math.isfinite(float(v.max())):
        found = [Fraction(a) for a in v.tolist()]
        for unit, a in enumerate(found):
            for *row, own in rows[:, unit].tolist():
                assert sum(map(mul, map(Fraction, row), found), Fraction(own)) <= a


@pytest.mark.parametrize("rho", [[math.inf, 0.0], [math.nan, 0.0], [1.0, 1.0]])
def test_nothing_is_known_of_what_is_infinite_or_grows(rho):
    """Whatever a solver makes of it."""
    grows = torch.tensor([[[0.5, 0.6], [0.6, 0.5]]]).double()
    M = grows if rho[0] == 1 else grows / 2
    assert not bool(torch.isfinite(certified_point(M, torch.tensor(rho).double())).all())


SIZES = st.sampled_from([0.0, 5e-324, 1e-3, 0.25, 1.0, 7.3, 1e9, 1e300]) | st.floats(0.0, 100.0)


@example(scale=1.0, radius=1.0, lam=5e-324, epsilon=1.0)
@given(
    scale=SIZES | st.just(math.inf),
    radius=SIZES | st.just(math.inf),
    lam=st.sampled_from([0.0, 5e-324, 0.25, 0.5, 0.75]) | st.floats(0.0, 0.95),
    epsilon=st.sampled_from([1e-6, 0.25, 4.0, 1e9]) | st.floats(1e-9, 10.0),
)
def test_is_the_least(scale: float, radius: float, lam: float, epsilon: float) -> None:
    """min(scale/(1 − λ), radius) λᵏ ≤ ε for this k, and for none before it."""
    found = least_window(scale, lam, epsilon, radius)
    if min(scale, radius) == math.inf:
        assert found is None
        return
    starts = [] if scale == math.inf else [Fraction(scale) / (1 - Fraction(lam))]
    start = min([*starts, *([] if radius == math.inf else [Fraction(radius)])])
    assert found is not None
    if scale == math.inf and lam == 0:
        assert found in (0, 1)
    elif found < 200:  # powers of longer windows are long, too
        assert start * Fraction(lam) ** found <= Fraction(epsilon)
        assert found == 0 or start * Fraction(lam) ** (found - 1) > Fraction(epsilon)


@pytest.mark.parametrize("k", [1, 5, 40, 300])
def test_ties(k: int) -> None:
    """An ε that is reached exactly counts; one unit in the last place below, it does not."""
    epsilon = float(2 * Fraction(1, 2) ** k)
    assert least_window(1.0, 0.5, epsilon) == k
    assert least_window(1.0, 0.5, math.nextafter(epsilon, 0)) == k + 1
    lam = 1 - 2.0**-52  # (1 − λ)ε and λ·scale tie with all their bits
    scale, epsilon = 2.0**-40, math.ldexp(lam, 12)
    assert least_window(scale, lam, epsilon) == 1
    assert least_window(scale, lam, math.nextafter(epsilon, 0)) == 2


@pytest.mark.parametrize("lam", [0.5, 1.0, 2.0, -0.5, math.nan, math.inf])
@pytest.mark.parametrize("scale", [1.0, math.inf, math.nan, -1.0])
def test_what_is_no_bound(scale: float, lam: float) -> None:
    """A scale or a radius that is no number ≥ 0, and λ outside of [0, 1), give no window."""
    known = (scale, lam) == (1.0, 0.5)
    assert (least_window(scale, lam, 1e-3) is not None) == known
    assert least_window(1.0, lam, 1e-3, math.nan) is None
    assert least_window(math.nan, lam, 1e-3, 1.0) is None
    assert least_window(1.0, lam, 1e-3, -1.0) is None
