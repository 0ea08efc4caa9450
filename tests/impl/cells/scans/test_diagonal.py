import math

import numpy as np
import pytest
import torch
from flint import arb, ctx
from program_draws import cells, inputs, weights

from rnnbounds.impl.cells.scans.diagonal import diagonal_layout, from_s4d
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.errors import ShapeError

CONVENTIONS = ("real", "complex", "lru", "s4d")


def system(held):
    """Λ and B̄ of one system by numpy, from the published formulas."""
    part = {name: tensor.double().numpy() for name, tensor in held.items()}
    fed = part["B_re"] + 1j * part.get("B_im", 0.0)
    if "nu_log" in part:
        lam = np.exp(-np.exp(part["nu_log"]) + 1j * np.exp(part["theta_log"]))
        return lam, np.exp(part["gamma_log"])[:, None] * fed
    if "log_dt" in part:
        A, dt = -np.exp(part["log_A_real"]) + 1j * part["A_imag"], np.exp(part["log_dt"])
        return np.exp(dt * A), ((np.exp(dt * A) - 1) / A)[:, None] * fed
    return part["lambda_re"] + 1j * part.get("lambda_im", 0.0), fed


def states(held, x: torch.Tensor) -> np.ndarray:
    """The states of one sequence x (T, d), as complex numbers (T, n)."""
    kind = kind_of("diagonal")
    sizes = kind.layout(held).sizes(held)
    s, told = torch.zeros(1, sizes.state).double(), []
    for row in x:
        s = kind.step(held, row[None], s)
        told.append(s[0].numpy())
    found = np.array(told)
    n = len(held["B_re"])
    return found[:, :n] + (1j * found[:, n:] if found.shape[1] > n else 0)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_memory_is_exact(name):
    """After k steps exactly |Λ|ᵏ is left of each unit, and the bound is its float above."""
    cell = cells(name, 3, seed=6)
    s = torch.ones(3, cell.n, 1).double()
    start = s[:, : cell.eigenvalue_count, 0] * (1 if cell.is_real else math.sqrt(2.0))
    still = torch.zeros(3, 2, 1).double()
    free = type(cell)({key: part for key, part in cell.parameters.items() if key != "b"})
    for _ in range(7):
        s = free.step(s, still)
    parts = s[:, :, 0].reshape(3, -1, cell.eigenvalue_count)
    left = parts.square().sum(1).sqrt() / start
    bound = cell.decay_powers(7)
    assert bool((left <= bound * (1 + 1e-13)).all())
    assert bool((left >= bound * (1 - 1e-13)).all())
    with ctx.workprec(200):
        exact = arb(0.75) ** 7
        one = kind_of("diagonal").build(
            {"lambda_re": torch.tensor([[-0.75]]).double(), "B_re": torch.ones(1, 1, 1).double()}
        )
        assert arb(float(one.decay_powers(7))) >= exact
        assert math.nextafter(float(one.decay_powers(7)), 0) < exact


def test_factor_is_the_largest_modulus():
    """λ of the Euclidean norm, which is reached; a rotation on the circle is not certified."""
    for name in CONVENTIONS:
        held = weights(name, seed=8)
        told = certify(held, 1.0, norm="spectral")
        assert told.lam == told.constants["decay_high"]
        assert told.lam == pytest.approx(float(np.abs(system(held)[0]).max()), rel=1e-14)
    circle = {"lambda_re": torch.tensor([0.6]), "lambda_im": torch.tensor([0.8])}
    told = certify({**circle, "B_re": torch.ones(1, 1)}, 1.0)
    assert told.verdict == "refuted"
    assert told.lam >= told.witness.modulus >= 1
    assert "modulus" in told.witness.text


def stored(decay: float, dtype: torch.dtype):
    """An LRU of one unit with that modulus, stored in a dtype."""
    nu = math.log(-math.log(decay))
    held = {"nu_log": [nu], "theta_log": [0.1], "B_re": [[1.0]], "B_im": [[0.0]]}
    return {name: torch.tensor(part, dtype=torch.float64).to(dtype) for name, part in held.items()}


@pytest.mark.parametrize("decay", [0.998, 0.9985, 0.999])
def test_plain_decays_in_bfloat16(decay):
    """0.998 is stored as 0.99609375 in bfloat16, and 0.999 as 1: that one never forgets."""
    held = {"lambda_re": torch.tensor([decay]), "B_re": torch.ones(1, 1)}
    told = certify({name: part.bfloat16() for name, part in held.items()}, 1.0)
    kept = float(torch.tensor(decay).bfloat16())
    assert told.verdict == ("certified" if kept < 1 else "refuted")
    assert told.reason is None
    assert told.rounds_to_one["bfloat16"] == int(kept >= 1)


def test_rounded_parts_count_too():
    """A modulus of 0.9975, which rounds to 0.996, and is above 1 when both parts are rounded."""
    lam = complex(0.72082, 0.68951)
    parts = torch.tensor([lam.real, lam.imag]).bfloat16().double()
    assert float(parts.square().sum()) >= 1
    held = {"lambda_re": torch.tensor([lam.real]), "lambda_im": torch.tensor([lam.imag])}
    told = certify({**held, "B_re": torch.ones(1, 1)}, 1.0)
    assert told.rounds_to_one == {"bfloat16": 1, "float16": 0, "float32": 0, "float64": 0}


def test_s4d_as_published():
    """Channels of several states, one input each: the kernel of S4D's own formula."""
    H, N, T = 2, 3, 30
    by = torch.Generator().manual_seed(2)
    told = {
        "log_dt": torch.rand(H, generator=by).double() - 3,
        "log_A_real": torch.log(0.5 * torch.ones(H, N)).double(),
        "A_imag": (math.pi * torch.arange(N)).expand(H, N).double(),
    }
    held = from_s4d(told)
    A = -told["log_A_real"].exp() + 1j * told["A_imag"]
    dt = told["log_dt"][:, None].exp()
    kernel = (dt * A)[..., None] * torch.arange(T) + torch.log((torch.exp(dt * A) - 1) / A)[
        ..., None
    ]
    x = inputs(1, T, H, 1.0)[0]
    last = (kernel.exp().numpy()[:, :, ::-1] * x.numpy().T[:, None, :]).sum(2).flatten()
    assert np.allclose(states(held, x)[-1], last, rtol=0, atol=1e-13)
    assert certify(held, 1.0).verdict == "certified"
    with pytest.raises(ShapeError):
        from_s4d(told | {"log_dt": torch.ones(3)})
    with pytest.raises(ShapeError):
        from_s4d(told | {"A_imag": torch.ones(3)})


def test_layouts():
    """The names tell the convention; without any it is the real one."""
    assert "nu_log" in diagonal_layout(("nu_log",)).shapes
    assert diagonal_layout(()).state == "n"
    assert diagonal_layout(weights("complex")).state == "2n"
