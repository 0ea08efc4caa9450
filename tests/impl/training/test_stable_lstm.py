"""Stable sets of LSTMs and GRUs: projection, the paper's membership test and the map together."""

import math

import pytest
import torch

from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.training.stable_gates import StableGRU, StableLSTM

SETS = (StableLSTM(0.5, 0.6, 1.0), StableLSTM(0.9, 0.9, 2.0), StableLSTM(0.0, 0.3, 0.0))
GRUS = StableGRU(0.6, 0.7, 1.5)


def draw(n=3, d=2, seed=0, size=1.0, dtype=torch.float64, bias=True, gates=4):
    """Gaussian weights under torch's names."""
    generator, rows = torch.Generator().manual_seed(seed), gates * n
    shapes = {"weight_ih": (rows, d), "weight_hh": (rows, n)}
    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)} if bias else {}
    return {
        name: (size * torch.randn(shape, generator=generator, dtype=torch.float64)).to(dtype)
        for name, shape in shapes.items()
    }


def drawn(stable, **options):
    """Weights of the kind of the set."""
    return draw(gates=3 if stable is GRUS else 4, **options)


def flat(weights):
    """All weights as one vector."""
    return torch.cat([part.flatten() for part in weights.values()])


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("stable", [*SETS[:2], GRUS])
def test_nearest_point(stable, bias):
    """⟨a − Πa, z − Πa⟩ ≤ 0 for all z of the set, which only the nearest point fulfils."""
    for seed in range(20):
        a = drawn(stable, seed=seed, size=3.0, bias=bias)
        nearest = stable.project(a)
        for other in range(4):
            z = stable.project(drawn(stable, seed=100 + other, size=2.0, bias=bias))
            mixed = {k: nearest[k] + 0.3 * (z[k] - nearest[k]) for k in a}
            for point in (z, mixed):
                ahead = (flat(a) - flat(nearest)) @ (flat(point) - flat(nearest))
                assert float(ahead) <= 1e-10


@pytest.mark.parametrize("stable", [*SETS, GRUS])
def test_non_expansive(stable):
    """No two points come further apart, and a point of the set stays, bit for bit."""
    for seed in range(50):
        a, b = drawn(stable, seed=seed, size=4.0), drawn(stable, seed=seed + 1, size=0.5 + seed % 3)
        moved = [stable.project(part) for part in (a, b)]
        before, after = flat(a) - flat(b), flat(moved[0]) - flat(moved[1])
        assert float(after.norm()) <= float(before.norm()) * (1 + 1e-14)
        inside = stable.certified(a)
        again = stable.certified(inside)
        assert all(torch.equal(inside[name], again[name]) for name in a)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("stable", SETS)
def test_set_test_and_map(stable, dtype):
    """Certified weights pass the paper's test, keep f ≤ f̄, and contract by no more than said."""
    for seed in range(2):
        weights = stable.certified(draw(seed=seed, size=3.0, dtype=dtype))
        assert stable.contains(weights)
        loaded = load_model(weights, "lstm")
        box = loaded.cell.box(stable.input_bound)
        told = loaded.cell.constants(box, stable.input_bound)
        assert told["f_bar"] <= stable.forget
        assert told["theta"] <= stable.theta
        certificate = certify(loaded, inputs=stable.input_bound, norm="infinity")
        assert certificate.verdict == "certified"
        assert certificate.lam <= stable.factor
        s, t = (2 * torch.rand(6, 50, dtype=torch.float64) - 1 for _ in range(2))
        s, t = (box.mT * part for part in (s, t))
        x = torch.randn(2, 50, dtype=torch.float64)
        x = stable.input_bound * x / x.norm(dim=0).clamp(min=1.0)
        moved = [loaded.cell.step(part[None], x[None])[0] for part in (s, t)]
        ratio = (moved[0] - moved[1]).abs().amax(0) / (s - t).abs().amax(0)
        assert float(ratio.max()) <= stable.factor * (1 + 1e-12)


def test_set_is_what_is_said():
    """Each radius and the level, by hand; weights just beyond are outside."""
    stable = StableLSTM(0.5, 0.6, 1.0)
    assert stable.radii == pytest.approx({"i": 0.2, "f": 0.08, "z": 0.05, "o": 0.2}, rel=1e-11)
    assert stable.level == pytest.approx(math.log(1.5) - 0.08, abs=1e-11)
    assert stable.factor == pytest.approx(0.8, rel=1e-15)
    n = 2
    for gate, radius in enumerate(stable.radii[name] for name in "ifzo"):
        for scale, inside in ((1 - 1e-9, True), (1 + 1e-9, False)):
            weights = draw(n, 1, size=0.0)
            weights["weight_hh"][gate * n, 0] = -scale * radius
            assert stable.contains(weights) == inside
    for scale, inside in ((1 - 1e-9, True), (1 + 1e-9, False)):
        weights = draw(n, 1, size=0.0)
        weights["weight_ih"][n, 0] = -0.1 * scale
        weights["bias_ih"][n] = scale * (stable.level - 0.2)
        weights["bias_hh"][n] = 0.1 * scale
        assert stable.contains(weights) == inside
        weights["bias_hh"][n] = math.nan
        assert not stable.contains(weights)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("scale", "bound"), [(1.0, 1e200), (1e30, 1e308)])
def test_the_projection_of_large_weights_ends(dtype, bias, scale, bound):
    """Norms that overflow leave neither NaN in the weights nor a loop without an end."""
    torch.manual_seed(0)
    lstm = torch.nn.LSTM(2, 3, bias=bias).to(dtype)
    with torch.no_grad():
        for part in lstm.parameters():
            part.mul_(scale)
    stable = StableLSTM(0.5, 0.9, bound)
    weights = {name.removesuffix("_l0"): part for name, part in lstm.named_parameters()}
    with torch.no_grad():
        for name, part in stable.certified(weights).items():
            weights[name].copy_(part)
    assert all(bool(torch.isfinite(part).all()) for part in weights.values())
    assert stable.contains(weights)
    assert certify(lstm, inputs=bound).lam <= stable.factor


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("sizes", [(1, 1, -1), (1, -1, 1), (1, 1, 1), (0, 1, -1), (1, 0, 1)])
def test_largest_floats(sizes, dtype):
    """Weights of the largest float, and biases of that size that cancel, come back finite, in the
    set and certified."""
    top, stable = torch.finfo(dtype).max, StableLSTM(0.5, 0.6, 1.0)
    names = ("weight_ih", "bias_ih", "bias_hh")
    weights = draw(2, 2, dtype=dtype)
    for name, size in zip(names, sizes, strict=True):
        weights[name][2:4] = size * top
    moved = stable.certified(weights)
    assert all(bool(torch.isfinite(part).all()) for part in moved.values())
    assert all(bool(torch.isfinite(part).all()) for part in stable.project(weights).values())
    assert stable.contains(moved)
    assert certify(load_model(moved, "lstm"), inputs=1.0, norm="infinity").lam <= stable.factor
    again = stable.certified(moved)
    assert all(torch.equal(moved[name], again[name]) for name in moved)
