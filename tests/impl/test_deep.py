import math
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from impl.activation import ACTIVATIONS, activation
from impl.constants import TRAINABLE, Constants
from impl.deep import DeepTransition
from impl.deep_constants import DeepConstants
from impl.errors import PrecisionError, ShapeError
from impl.loss import LOSSES, Loss, loss
from impl.rnn import RNN

HAIR = 1 + 1e-11
SMOOTH = [name for name, rho in ACTIVATIONS.items() if rho.curvature < math.inf]
SIZES = {1: [2], 2: [3, 2], 3: [2, 3, 2]}
D = 2


def system(name: str, depth: int, lam: float = 0.7) -> DeepTransition:
    """A random transition of that depth whose λ is lam; its state has two entries."""
    draw = torch.Generator().manual_seed(depth)
    rho, widths = activation(name), [2, *SIZES[depth]]
    W, b = [], []
    for before, after in pairwise(widths):
        matrix = torch.randn(1, after, before, dtype=torch.float64, generator=draw)
        scale = lam ** (1 / depth) / (torch.linalg.matrix_norm(matrix, 2) * rho.slope)
        W.append(scale * matrix)
        b.append(torch.randn(1, after, dtype=torch.float64, generator=draw) / 2)
    U = torch.randn(1, widths[1], D, dtype=torch.float64, generator=draw)
    return DeepTransition(tuple(W), U, tuple(b), rho)


def constants(cell: DeepTransition, kind: str | None = None, trained: str = "WUb") -> DeepConstants:
    """Its constants for inputs of norm 1."""
    p = None if kind is None else readout(kind)
    return DeepConstants(cell, torch.ones(1, dtype=torch.float64), loss=p, trained=trained)


def readout(kind: str) -> Loss:
    """A loss of states of two entries."""
    C = torch.tensor([[[1.0, -0.5], [0.25, 2.0]]], dtype=torch.float64)
    return loss(kind, C, torch.tensor([[1.0, -1.0]], dtype=torch.float64))


def blocks(cell: DeepTransition, trained: str) -> dict[str, Tensor]:
    """The trained blocks by name and layer."""
    found = {f"W{layer}": W[0] for layer, W in enumerate(cell.W)} if "W" in trained else {}
    found |= {"U0": cell.U[0]} if "U" in trained else {}
    return found | ({f"b{layer}": b[0] for layer, b in enumerate(cell.b)} if "b" in trained else {})


def moved(cell: DeepTransition, trained: str, w: Tensor) -> DeepTransition:
    """The transition with its trained blocks taken from one vector."""
    own = blocks(cell, trained)
    flat = dict(zip(own, w.split([part.numel() for part in own.values()]), strict=True))
    new = {name: flat[name].reshape(part.shape)[None] for name, part in own.items()}
    return DeepTransition(
        tuple(new.get(f"W{layer}", W) for layer, W in enumerate(cell.W)),
        new.get("U0", cell.U),
        tuple(new.get(f"b{layer}", b) for layer, b in enumerate(cell.b)),
        cell.activation,
    )


def vector(cell: DeepTransition, trained: str) -> Tensor:
    """The trained blocks as one vector."""
    return torch.cat([part.flatten() for part in blocks(cell, trained).values()])


def largest(form: Tensor) -> float:
    """A local maximum of ‖form(u, v)‖ over unit vectors u and v, by alternation."""
    best = 0.0
    for start in torch.eye(form.shape[1], dtype=form.dtype)[:2]:
        u = start + 0.1
        for _ in range(10):
            _, sigma, v = torch.linalg.svd(torch.einsum("iab,a->ib", form, u / u.norm()))
            u = torch.linalg.svd(torch.einsum("iab,b->ia", form, v[0]))[2][0]
        best = max(best, sigma[0].item())
    return best


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("depth", SIZES)
@pytest.mark.parametrize("trained", ["W", "Ub", "WUb"])
def test_derivatives_obey_the_constants(name: str, depth: int, trained: str) -> None:
    """Operator norms of first and second derivatives, climbed in their directions, stay below."""
    cell = system(name, depth)
    c = constants(cell, trained=trained)
    w = vector(cell, trained)
    draw = torch.Generator().manual_seed(9)
    for _ in range(4):
        h, x = torch.randn(2, 2, dtype=torch.float64, generator=draw)
        h, x = min(c["B_h"].item(), 20.0) * h / h.norm(), x / x.norm()

        def phi(h: Tensor, w: Tensor, x: Tensor = x) -> Tensor:
            return moved(cell, trained, w).step(h[None, :, None], x[None, :, None])[0, :, 0]

        of_h, of_w = torch.func.jacfwd(phi, (0, 1))(h, w)
        (hh, hw), (wh, ww) = torch.func.jacfwd(torch.func.jacfwd(phi, (0, 1)), (0, 1))(h, w)
        for constant, matrix in (("lam", of_h), ("L_w", of_w)):
            assert torch.linalg.matrix_norm(matrix, 2).item() <= c[constant].item() * HAIR
        forms = {"beta_hh": hh, "beta_hw": hw, "beta_wh": wh, "beta_ww": ww}
        for constant, form in forms.items():
            assert largest(form) <= c[constant].item() * HAIR


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("trained", TRAINABLE)
def test_one_layer_is_a_recurrent_cell(name: str, trained: str) -> None:
    """One layer has the constants of the vanilla cell, with ‖W‖₂ for the largest row."""
    deep = system(name, 1)
    flat = RNN(deep.W[0], deep.U, deep.b[0], deep.activation)
    c = constants(deep, "squared", trained)
    own = Constants(flat, c.B_x, loss=readout("squared"), trained=trained)
    box = (own["M_rho"] * math.sqrt(2)).item()
    assert c["S_0"].item() == pytest.approx(min(own["S_0"].item(), box), rel=1e-12)
    for constant in ("lam", "L_x", "B_h", "L_w", "L_p", "beta_p", "G_0"):
        assert c[constant].item() == pytest.approx(own[constant].item(), rel=1e-12)
    for constant in ("beta_hh", "beta_wh", "beta_hw", "beta_ww", "D_1", "beta"):
        assert c[constant].item() >= own[constant].item() * (1 - 1e-12)
    mixed = own["beta_rho"] * own["L_w"] / own["L_rho"] * own["W_norm"]
    if "W" in trained:
        mixed = mixed + own["L_rho"]
    assert c["beta_wh"].item() == pytest.approx(mixed.item(), rel=1e-12)
    step = torch.ones(1, 2, 3, dtype=torch.float64)
    torch.testing.assert_close(deep.step(step, step), flat.step(step, step))


def gradient(cell: DeepTransition, x: Tensor, p: Loss, k: int) -> Tensor:
    """∇p_T^k in all weights by automatic differentiation, x (T, d)."""
    w = vector(cell, "WUb").requires_grad_()
    run, h = moved(cell, "WUb", w), torch.zeros(1, 2, 1, dtype=torch.float64)
    for row in x[len(x) - k :]:
        h = run.step(h, row[None, :, None])
    return torch.autograd.grad(p.value(h).sum(), w)[0]


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("kind", LOSSES)
def test_gradients_obey_the_window(name: str, kind: str) -> None:
    """‖∇p_T − ∇p_T^k‖ ≤ ε_k for full and truncated deep runs; states stay below B_h."""
    T, draw = 12, torch.Generator().manual_seed(5)
    x = torch.nn.functional.normalize(torch.randn(T, D, dtype=torch.float64, generator=draw), dim=1)
    for depth in SIZES:
        cell = system(name, depth)
        c = constants(cell, kind)
        bounds = c.epsilons(T)[0]
        full = gradient(cell, x, readout(kind), T)
        for k in range(1, T + 1):
            gap = (full - gradient(cell, x, readout(kind), k)).norm().item()
            assert gap <= bounds[k].item() + 1e-12
        h = torch.zeros(1, 2, 1, dtype=torch.float64)
        for row in x:
            h = cell.step(h, row[None, :, None])
            assert h.norm().item() <= c["B_h"].item() * HAIR


def aligned(scales: list[float], name: str) -> DeepTransition:
    """Layers that are multiples of the identity, without inputs and biases."""
    eye = torch.eye(2, dtype=torch.float64)[None]
    zero = torch.zeros(1, 2, dtype=torch.float64)
    W = tuple(scale * eye for scale in scales)
    return DeepTransition(W, 0 * eye, (zero,) * len(scales), activation(name))


@pytest.mark.parametrize("name", ["identity", "tanh", "relu"])
def test_aligned_layers_attain_the_factor(name: str) -> None:
    """λ is the exact growth of the gradient where the layers are aligned, and only a bound else."""
    cell = aligned([0.5, 1.5, -0.75 if name != "relu" else 0.75], name)
    h = torch.full((2,), 1e-9, dtype=torch.float64)
    J = torch.func.jacfwd(lambda h: cell.step(h[None, :, None], h[None, :, None])[0, :, 0])(h)
    lam = constants(cell)["lam"].item()
    assert lam == pytest.approx(0.5625, rel=1e-14)
    assert torch.linalg.matrix_norm(J, 2).item() == pytest.approx(lam, rel=1e-12)
    nilpotent = torch.tensor([[[0.0, 1.0], [0.0, 0.0]]], dtype=torch.float64)
    zero = torch.zeros(1, 2, dtype=torch.float64)
    twice = DeepTransition((nilpotent,) * 2, 0 * nilpotent, (zero,) * 2, activation(name))
    assert constants(twice)["lam"].item() >= 1.0
    assert (twice.step(torch.ones(1, 2, 1, dtype=torch.float64), zero[:, :, None]) == 0).all()


def test_expansive_and_broken_transitions() -> None:
    """Beyond λ = 1 only a bounded activation bounds the states; NaN makes bounds infinite."""
    assert constants(aligned([2.0, 1.0], "identity"), "linear")["beta"].item() == math.inf
    assert constants(aligned([2.0, 1.0], "tanh"))["B_h"].item() == pytest.approx(math.sqrt(2))
    broken = aligned([0.5, 0.5], "tanh")
    broken.W[1][0, 0, 0] = math.nan
    c = constants(broken, "squared")
    assert c["lam"].item() == c["G_0"].item() == c["beta_hh"].item() == math.inf
    assert not any(torch.isnan(value).any() for value in c.known.values())
    assert (c.epsilons(2) == math.inf).all()


def test_shapes() -> None:
    """Layers that do not fit together are refused."""
    cell = system("tanh", 2)
    assert (cell.batch, cell.depth, cell.n, cell.d) == (1, 2, 2, D)
    W, U, b, rho = cell.W, cell.U, cell.b, cell.activation
    for parts in (
        ((), U, ()),
        (W, U, b[:1]),
        ((W[0][0], W[1]), U, b),
        (W[::-1] + W[:1], U, b + b[:1]),
        (W[:1] * 2, U, b[:1] * 2),
        (W, U, b[::-1]),
        (W, U[:, :1], b),
    ):
        with pytest.raises(ShapeError):
            DeepTransition(*parts, rho)
    with pytest.raises(PrecisionError):
        DeepTransition(W, U.float(), b, rho)
    with pytest.raises(ShapeError, match="B_x"):
        DeepConstants(cell, torch.ones(2, dtype=torch.float64))
