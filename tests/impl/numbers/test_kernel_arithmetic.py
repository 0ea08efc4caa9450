"""What kernels' arithmetic costs: 3×TF32 products, tensor cores' sums, exp and division."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from flint import arb

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.arithmetic.roundings import DtypeRuns
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.models.torch_machine import worst_error
from rnnbounds.impl.numbers.kernel_arithmetic import (
    IEEE,
    TF32X3,
    arithmetic_of,
    rounding_covers,
)
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.properties.read.numbers.tensor_cores import (
    TensorCores,
    cut,
    split,
    split_product,
)

U = 2.0**-24


def nearest_even(a, bits):
    """Rounded to so many bits, ties to even."""
    fraction, exponent = np.frexp(a)
    return np.ldexp(np.round(np.ldexp(fraction, bits)), exponent - bits)


def nearest_away(a, bits):
    """Rounded to so many bits, ties away from zero: cvt.rna."""
    fraction, exponent = np.frexp(a)
    return np.sign(a) * np.ldexp(np.floor(np.ldexp(np.abs(fraction), bits) + 0.5), exponent - bits)


ROUNDINGS = (cut, nearest_even, nearest_away)


def singles(rng, *shape):
    """Random float32 numbers in float64, of either sign and many sizes."""
    numbers = rng.standard_normal(shape) * 2.0 ** rng.integers(-8, 9, shape)
    return numbers.astype(np.float32).astype(np.float64)


def hardest():
    """Float32 numbers near 1 whose last 13 bits are at the ends or in the middle."""
    tails = [0, 1, 3, 4095, 4096, 4097, 8187, 8188, 8189, 8190, 8191]
    return np.array([s * (1 + t * 2.0**-23) for s in (1, -1) for t in tails])


def product_errors(a, b, rounding):
    """|a b − (A B + A β + α B)| / |a b|, and |a b − A B| / |a b|: exact but for the quotients."""
    (A, alpha), (B, beta) = split(a, rounding), split(b, rounding)
    left = np.abs(a * b - (A * B + A * beta + alpha * B)) / np.abs(a * b)
    return left.max() / U, (np.abs(a * b - A * B) / np.abs(a * b)).max() / U


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_products_are_within(rounding):
    """However the 11 bits are rounded; random numbers, and all pairs of the hardest ones."""
    rng = np.random.default_rng(0)
    a, b = singles(rng, 200_000), singles(rng, 200_000)
    assert product_errors(a, b, rounding)[0] <= TF32X3.product
    hard = hardest()
    worst, uncorrected = product_errors(hard[:, None], hard[None], rounding)
    assert worst <= TF32X3.product
    assert uncorrected > 100 * TF32X3.product  # TF32 without a correction has no such bound


def test_what_is_dropped_costs():
    """Cut numbers reach the constant; without αβ, or without r, nothing near it would hold."""
    hard = hardest()
    worst = product_errors(hard[:, None], hard[None], cut)[0]
    assert 27.9 < worst <= TF32X3.product
    assert worst > TF32X3.product - 16  # α β left out costs nothing
    assert worst > TF32X3.product - 12  # A + α is all of a


def bound(a, W, start):
    """γ_r (|W||a| + |start|) of the arithmetic, r for its n products and one more summand."""
    size = np.abs(a) @ np.abs(W).T + np.abs(start)
    share = TF32X3.roundings(W.shape[-1] + 2) * U
    return share / (1 - share) * size


def exact(a, W, start):
    """a Wᵀ + start, rounded once to float64."""
    return np.array([
        [math.fsum([*(x * w), s]) for w, s in zip(W, row, strict=True)]
        for x, row in zip(a, start, strict=True)
    ])  # fmt: skip


@pytest.mark.parametrize(("rounding", "block"), [*itertools.product(ROUNDINGS, (1, 4, 16))])
def test_sums_are_within(rounding, block):
    """In random orders and in that of Triton; terms that cancel to far below their sizes too."""
    rng = np.random.default_rng(block)
    for n in (1, 7, 40):
        a, W = singles(rng, 6, n), singles(rng, 5, n)
        if n > 1:
            W[:, n // 2 :] *= -np.abs(a[0] @ W[0])
            W = W.astype(np.float32).astype(np.float64)
        start = singles(rng, 6, 5)
        start[:, 0] = -(a @ W[0]).astype(np.float32)
        for order in (None, rng.permutation(3 * n)):
            found = split_product(a, W, start, block, rounding, order)
            assert (np.abs(found - exact(a, W, start)) <= bound(a, W, start)).all()


@pytest.mark.parametrize("block", [1, 4])
def test_additions_that_cut_are_counted(block):
    """To 1 are added products that end just below its last bit, 2u: of each nearly that is lost.
    Additions that round to nearest would lose half of it, and IEEE's products are one of three."""
    n, tail = 96, 15 * 2.0**-14
    a = np.full((1, n), 1 + 31 * 2.0**-10 + tail)
    W = np.full((1, n), (1 + 33 * 2.0**-10 + tail) * 2.0**-13)
    start = np.ones((1, 1))
    found = split_product(a, W, start, block)
    lost = float(((exact(a, W, start) - found) / (U * (a @ W.T + 1)))[0, 0])
    assert 5.7 * n < lost <= TF32X3.roundings(n + 2)
    assert lost > replace(TF32X3, addition=TF32X3.addition / 2).roundings(n + 2)
    assert lost > IEEE.roundings(n + 2)


MODELS = (("RNN", 1), ("LSTM", 1), ("GRU", 1), ("LSTM", 2))


@pytest.mark.parametrize(("name", "layers"), MODELS)
def test_runs_are_within(name, layers):
    """Whole runs of models with such products, against exact ones."""
    torch.manual_seed(3)
    module = getattr(torch.nn, name)(2, 6, num_layers=layers, batch_first=True)
    with torch.no_grad():
        for part in module.parameters():
            part *= 0.3
    told = certify(module, 1.0, arithmetic="tf32x3")
    plain = certify(module, 1.0)
    assert plain.arithmetic == "ieee"
    assert plain.rounding < told.rounding < 40 * plain.rounding
    assert told.to_json()["rounding"]["arithmetic"] == "tf32x3"
    x = torch.randn(8, 20, 2)
    x = 0.98 * x / x.norm(dim=2, keepdim=True)
    model = load_model(module)
    kind = kind_of(model.name)
    N = layers * (12 if name == "LSTM" else 6)
    s, ran = torch.zeros(1, N, 8, dtype=torch.float64), torch.zeros(8, N)
    worst = 0.0
    with TensorCores():
        driven = kind.drive(model.weights, x)
    for t in range(20):
        with TensorCores():
            ran = kind.step(model.weights, driven[:, t], ran)
        s = model.cell.step(s, x[:, t].double().mT[None])
        worst = max(worst, float((ran[:, -6:].double() - s[0, -6:].mT).norm(dim=1).max()))
    assert 0 < worst <= told.rounding


def test_the_bound_of_ieee_does_not_cover_it():
    """h = w h + u x with w and u whose tails are cut, from a constant input: more than IEEE's bound
    has room for, and no more than that of 3×TF32."""
    w, u = (1 + 8191 * 2.0**-23) / 2, 1 + 8191 * 2.0**-23
    weights = {"weight_hh": torch.tensor([[w]]), "weight_ih": torch.tensor([[u]])}
    model, x = load_model(weights, "linear"), (1 + 8191 * 2.0**-23) / 2
    plain, told = (certify(model, 1.0, arithmetic=name) for name in ("ieee", "tf32x3"))
    h, true = np.zeros((1, 1)), arb(0)
    for _ in range(60):
        driven = split_product(np.array([[x]]), np.array([[u]]))
        h = split_product(h, np.array([[w]]), driven)
        true = true * w + arb(x) * u
    gap = float(abs(true - arb(float(h[0, 0]))))
    assert plain.rounding < gap <= told.rounding


def test_factors_that_underflow():
    """α of 2⁻¹²⁰(1 + 2⁻¹¹) may be flushed: far more than a share of the product, and counted."""
    weights = {"weight_hh": torch.zeros(1, 1), "weight_ih": torch.tensor([[2.0**-120]])}
    told = certify(load_model(weights, "linear"), 2.0**100, arithmetic="tf32x3")
    plain = certify(load_model(weights, "linear"), 2.0**100)
    assert plain.rounding < 2.0**-131 * 2.0**100 < told.rounding
    run = DtypeRuns((torch.float32,), arithmetic=TF32X3)
    W = torch.tensor([[[2.0**-120]]], dtype=torch.float64)
    assert 2.0**-31 < float(run.split_loss(W, W[:, 0] * 2.0**220)) < 2.0**-20
    assert float(run.split_loss(W, W[:, 0] * 2.0**247)) == math.inf  # its rounding may overflow
    assert float(replace(run, arithmetic=IEEE).split_loss(W, W[:, 0])) == 0


def test_functions_of_kernels():
    """σ = 1/(1 + exp(−z)) with an exp off by up to 2.5 ulp, and by 2|z| units more where it is that
    of 2 by a rounded z log₂e, and with an approximate division of 2 ulp: within 8 units."""
    sigma = activation("sigmoid")
    room = float(sigma.dtype_error(U, 1, torch.ones(1, dtype=torch.float64))[0]) / U
    assert room == pytest.approx(8)
    z = np.linspace(-30, 30, 20_001)
    exponential = np.exp(-z)
    value = 1 / (1 + exponential)
    for units, division, most in ((5.0, 1.0, 2.5), (5.0 + 2 * np.abs(z), 5.0, 6.3)):
        error = value * (1 - value) * units + value * (1 + division)
        assert error.max() <= most < room
    for sign in (-5 * U, 5 * U):
        e = (exponential * (1 + sign)).astype(np.float32)
        computed = (np.float32(1) / (np.float32(1) + e)).astype(np.float64)
        assert (np.abs(computed - value) <= 2.6 * U).all()


def test_which_kernels_are_covered():
    """By name, dtype and what was certified; splitting is of float32 alone."""
    assert rounding_covers("ieee", "float32")
    assert rounding_covers("ieee", "float32", "tf32x3")
    assert rounding_covers("tf32x3", "float32", "tf32x3")
    assert rounding_covers("tf32x3", "float64")
    assert not rounding_covers("tf32x3", "float32")
    assert not rounding_covers("tf32", "float32", "tf32x3")
    assert not rounding_covers("tf32", "float32", "tf32")
    assert arithmetic_of("ieee", "float64") is IEEE
    with pytest.raises(InputError, match="splits float32 numbers, and the model is float64"):
        arithmetic_of("tf32x3", "float64")
    with pytest.raises(InputError, match="unknown arithmetic"):
        arithmetic_of("tf32", "float32")


@pytest.fixture
def tf32_products():
    """A card's float32 products are TF32 within."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    yield
    torch.set_float32_matmul_precision(before)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("n", [8, 64, 512])
def test_a_card(n, tf32_products):
    """A card's own TF32 products of parts that are split, added up in its accumulators: random
    numbers, and those whose last bits are lost."""
    rng, tail = np.random.default_rng(n), 15 * 2.0**-14
    a, W, start = singles(rng, 64, n), singles(rng, 64, n), singles(rng, 64, 64)
    a[0], W[0], start[0, 0] = 1 + 31 * 2.0**-10 + tail, (1 + 33 * 2.0**-10 + tail) * 2.0**-13, 1.0
    (A, alpha), (B, beta) = ([torch.tensor(p).float().cuda() for p in split(v)] for v in (a, W))
    found = torch.tensor(start).float().cuda()
    for x, y in ((alpha, B), (A, beta), (A, B)):
        found = torch.addmm(found, x, y.mT)
    assert (np.abs(found.double().cpu().numpy() - exact(a, W, start)) <= bound(a, W, start)).all()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("name", ["tanh", "sigmoid"])
def test_functions_of_a_card(name):
    """CUDA's own, by way of torch, within their error model in float32."""
    far = np.geomspace(1e-30, 80, 4000)
    z = torch.from_numpy(np.concatenate([far, -far])).float().double()
    assert worst_error(activation(name), z, "cuda", "float32")[1]
