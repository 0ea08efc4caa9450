import math

import pytest
import torch
from draws import normal
from torch import Tensor

from rnnbounds.impl.errors import ShapeError
from rnnbounds.impl.gradients.loss import Loss, loss
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.training.bound import largest_rate
from rnnbounds.impl.training.certified import training_constants
from rnnbounds.impl.training.projection import Ball

N, D, T = 3, 2, 40
HAIR = 1 + 1e-9


def loaded(cell: str = "rnn-tanh", biases: int = 2, lam: float = 0.4) -> LoadedModel:
    """A random model with ‖W‖₂ = lam."""
    draw = torch.Generator().manual_seed(1)
    shapes = {
        "weight_hh_l0": (N, N),
        "weight_ih_l0": (N, D),
        "bias_ih_l0": (N,),
        "bias_hh_l0": (N,),
    }
    weights = {
        name: 0.5 * torch.randn(*shape, dtype=torch.float64, generator=draw)
        for name, shape in list(shapes.items())[: 2 + biases]
    }
    W = weights["weight_hh_l0"]
    weights["weight_hh_l0"] = lam * W / torch.linalg.matrix_norm(W, 2)
    return load_model(weights, cell)


def squared(target: float, n: int = N) -> Loss:
    """½‖h − y‖² of a state whose target has that norm."""
    y = torch.zeros(1, n, dtype=torch.float64)
    y[0, 0] = target
    return loss("squared", torch.eye(n, dtype=torch.float64)[None], y)


def inputs(seed: int = 2) -> Tensor:
    """Inputs of norm 1, (T, d)."""
    return torch.nn.functional.normalize(normal(T, D, seed=seed), dim=1)


def run(model: LoadedModel, parts: dict[str, Tensor], x: Tensor, k: int) -> Tensor:
    """h_T^k (1, n, 1) with the given weights."""
    h = torch.zeros(N, dtype=torch.float64)
    bias = sum((parts[role] for role in parts if "bias" in role), torch.zeros(N))
    for row in x[len(x) - k :]:
        h = model.cell.activation(parts["weight_hh"] @ h + parts["weight_ih"] @ row + bias)
    return h[None, :, None]


def gradients(
    model: LoadedModel, parts: dict[str, Tensor], x: Tensor, k: int, p: Loss
) -> list[Tensor]:
    """∇p_T^k in all stored blocks, each bias its own."""
    free = {role: part.clone().requires_grad_() for role, part in parts.items()}
    found = torch.autograd.grad(p.value(run(model, free, x, k)).sum(), list(free.values()))
    return list(found)


def train(
    model: LoadedModel,
    radii: dict[str, float],
    x: Tensor,
    k: int,
    p: Loss,
    alpha: float,
    steps: int,
) -> dict[str, Tensor]:
    """The weights after projected gradient descent with steps α/t."""
    parts = {role: part.double() for role, part in model.weights.items()}
    for t in range(1, steps + 1):
        moves = gradients(model, parts, x, k, p)
        for (role, part), move in zip(list(parts.items()), moves, strict=True):
            moved = part - alpha / t * move
            if role == "weight_hh":
                parts[role] = Ball("spectral", radii[role]).project(moved)
            else:
                flat = moved if moved.ndim == 2 else moved[None]
                parts[role] = Ball("frobenius", radii[role]).project(flat).reshape(part.shape)
    return parts


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["linear", "rnn-tanh", "rnn-gelu"])
@pytest.mark.parametrize("biases", [0, 1, 2])
def test_trained_models_agree(cell: str, biases: int) -> None:
    """Both models, trained in all their blocks, agree to ε at the certified window."""
    model, x, steps = loaded(cell, biases), inputs(), 20
    p = squared(1.0)
    c = training_constants(model, 1.0, p)
    for alpha in (0.1 / c.beta, 2 / c.beta):
        full = train(model, dict(c.radii), x, T, p, alpha, steps)
        for epsilon in (0.3, 1e-2, 1e-4):
            k = c.window(alpha, steps, epsilon)
            assert k is not None
            short = train(model, dict(c.radii), x, min(k, T), p, alpha, steps)
            gap = run(model, full, x, T) - run(model, short, x, min(k, T))
            assert gap.norm().item() <= epsilon
        K_0, K_1 = c.scales(alpha, steps)
        for k in (1, 3, 6):
            short = train(model, dict(c.radii), x, k, p, alpha, steps)
            gap = (run(model, full, x, T) - run(model, short, x, k)).norm().item()
            assert gap <= c.lam**k * float(K_0 + k * K_1) * HAIR


@pytest.mark.parametrize("cell", ["linear", "rnn-tanh", "rnn-sigmoid"])
@pytest.mark.parametrize("biases", [0, 1, 2])
def test_gradients_at_the_stored_weights(cell: str, biases: int) -> None:
    """γ bounds the gap of gradients over all blocks, each bias its own."""
    model, p = loaded(cell, biases), squared(1.0)
    c = training_constants(model, 1.0, p)
    parts, x = {role: part.double() for role, part in model.weights.items()}, inputs()
    full = gradients(model, parts, x, T, p)
    for k in (1, 2, 5, 9):
        short = gradients(model, parts, x, k, p)
        gap = math.sqrt(
            sum((a - b).square().sum().item() for a, b in zip(full, short, strict=True))
        )
        assert gap <= c.gamma * k * c.lam**k


def test_two_biases_count_twice() -> None:
    """With ‖h‖ ≤ B_h, L_w of a linear model is √(B_h² + B² + number of biases), and B_h is that of
    the sum of their radii; Ω has the stored norms."""
    for biases in (0, 1, 2):
        model = loaded("linear", biases)
        c = training_constants(model, 1.5, squared(0.0))
        assert c.L_w == pytest.approx(math.sqrt(c.B_h**2 + 1.5**2 + biases), rel=1e-12)
        fed = 1.5 * c.radii["weight_ih"] + sum(c.radii[role] for role in c.radii if "bias" in role)
        assert c.B_h == pytest.approx(fed / (1 - c.lam), rel=1e-12)
        assert c.lam == c.radii["weight_hh"] == pytest.approx(0.4)
        for role, part in model.weights.items():
            order = 2 if role == "weight_hh" else None
            assert c.radii[role] >= float(torch.linalg.norm(part.double(), order))
    with pytest.raises(ShapeError):
        training_constants(loaded(), 1.0, squared(0.0, N + 1))


def test_largest_rate() -> None:
    """Up to the largest step size the bound says something, beyond it nothing, to the last bits."""
    c = training_constants(loaded(), 1.0, squared(0.0))
    rate = largest_rate(c, 50, 1e-2, cap=40)
    assert rate is not None
    assert c.window(rate, 50, 1e-2, cap=40) == 40
    assert c.window(rate * (1 + 1e-12), 50, 1e-2, cap=40) is None
    assert largest_rate(c, 50, 1e-2, cap=2) is None
    kinked = training_constants(loaded("rnn-relu"), 1.0, squared(0.0))
    assert kinked.beta == math.inf
    assert largest_rate(kinked, 50, 1e-2) is None
    assert kinked.window(0.0, 50, 1e-2) == kinked.window(1.0, 0, 1e-2) is not None
    assert kinked.window(1e-300, 1, 1e-2) is None
    assert largest_rate(c, 1, 1e-2) > 1e300


def test_no_recurrence() -> None:
    """At W = 0 with Ω = {0} a second input is the last that counts."""
    c = training_constants(loaded(lam=0.0), 1.0, squared(0.0))
    assert (c.lam, c.G_1) == (0.0, math.inf)
    assert c.window(1e-3, 10, 1e-4) == 2
    assert c.window(1e-3, 10, 1e-4, cap=1) is None
    assert c.window(1e-9, 10, 1e-2) == 1
    assert (
        training_constants(loaded("rnn-relu", lam=0.0), 1.0, squared(0.0)).window(1e-3, 10, 1e-4)
        is None
    )
    assert c.window(0.0, 10, 1e-9) == 1
