"""Dilations of contractions, and the unitary equivalent of a contractive ReLU model."""

import math

import pytest
import torch
from draws import doubles, normal
from flint import arb, arb_mat, ctx, fmpq
from safetensors.torch import load_file

from rnnbounds.impl.convert.dilation import dilate, orthogonality_defect, polar
from rnnbounds.impl.convert.rational_unitary import RationalRNN
from rnnbounds.impl.convert.unitary import NoUnitaryError, save_unitary, unitary
from rnnbounds.impl.errors import NotFiniteError
from rnnbounds.impl.numbers.rationals import rational_matrix
from rnnbounds.impl.reading.adapters import load_model


def model(n, d=2, lam=0.9, seed=0, dtype=torch.float64, kind="dense"):
    """A random torch.nn.RNN with ReLU and ‖W‖₂ near lam, dense, defective or 0."""
    draw = torch.Generator().manual_seed(seed)
    made = torch.nn.RNN(d, n, nonlinearity="relu", batch_first=True, dtype=dtype)
    with torch.no_grad():
        for part in made.parameters():
            part.copy_(torch.randn(part.shape, dtype=dtype, generator=draw))
        W = made.weight_hh_l0
        if kind == "defective":
            W.copy_(0.5 * torch.eye(n, dtype=dtype) + torch.diag(W.new_ones(n - 1), 1))
        if kind == "zero":
            W.zero_()
        else:
            W *= lam / float(torch.linalg.matrix_norm(W.double(), 2))
    return made


def inputs(N, T, d, bound=1.0, seed=1, dtype=torch.float64):
    """Random inputs on the sphere of that radius, just inside."""
    x = normal(N, T, d, seed=seed)
    return (x * (bound * (1 - 1e-12) / x.norm(dim=2, keepdim=True))).to(dtype)


NAMES = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")


def worst(recurrent, h, steps, bound):
    """Inputs at the bound that push along the state: the largest states there are."""
    U, path = recurrent.weight_ih_l0.detach(), []
    for _ in range(steps):
        push = U.mT @ (h + 1e-3)
        x = bound * (1 - 1e-12) * push / push.norm().clamp(min=1e-300)
        h = recurrent(x[None, None], h[None, None])[0][0, 0].detach()
        path.append(x)
    return torch.stack(path)[None]


def both(recurrent, made, x, start):
    """The states of the model and of its equivalent, and the equivalent's further units."""
    N = len(x)
    h = recurrent(x, start.to(x.dtype).expand(1, N, -1).contiguous())[0].detach()
    first = made.initial.expand(1, N, -1).contiguous()
    s = made.rnn(batch_first=True)(x.double(), first)[0].detach()
    return h, made.original(s), s[..., made.n :]


@pytest.mark.slow
def test_a_hundred_models():
    """n = 1 … 32, biases, initial states: equal to rounding, ≤ 2n states, defect ≤ 1e-14 n."""
    lams = (0.3, 0.9, 0.999, 1 - 1e-6, 1 - 1e-9)
    kinds = ("dense", "dense", "dense", "defective", "zero")
    for seed in range(0, 1000, 9):
        n, d = 1 + seed % 32, 1 + seed % 5
        lam, kind = lams[seed % 7 % 5], kinds[seed % 11 % 5]
        recurrent = model(n, d, lam, seed, kind=kind)
        start = normal(n, seed=seed)
        start *= 10.0 ** (seed % 4 - 1)
        made = unitary(recurrent, inputs=1.0, initial=start)
        told = made.certificate
        W = recurrent.weight_hh_l0.detach()
        assert made.states == told["states"] == 2 * n
        assert told["orthogonality_defect"] <= 1e-14 * n
        assert torch.equal(made.weights["weight_hh_l0"][:n, :n], W)
        x = torch.cat([inputs(2, 12, d, seed=seed), worst(recurrent, start, 12, 1.0)])
        h, kept, further = both(recurrent, made, x, start)
        assert not further.any()
        gap = float((h - kept).norm(dim=2).max())
        assert gap <= told["difference"]["float64"]
        assert float(kept.norm(dim=2).max()) <= told["constants"]["B_h_computed"]
        assert gap <= 1e-13 * n * max(1.0, float(h.norm(dim=2).max()))


@pytest.mark.parametrize("seed", range(6))
def test_exact_in_rationals(seed):
    """Run in exact rationals, the stored float64 networks have the same states, bit for bit."""
    n, d = 1 + seed % 3, 1 + seed % 2
    recurrent, start = model(n, d, 0.95, seed), torch.randn(n, dtype=torch.float64) * 5
    made = unitary(recurrent, inputs=1.0, initial=start)

    def exact(weights, start):
        W, U, *b = (
            rational_matrix(torch.atleast_2d(weights[name])) for name in ("hh", "ih", "bi", "bh")
        )
        sides = (side.entries() for side in b)
        total = tuple(x + y for x, y in zip(*sides, strict=True))
        return RationalRNN(W, U, total, tuple(rational_matrix(start[None]).entries()))

    keys = {"ih": NAMES[0], "hh": NAMES[1], "bi": NAMES[2], "bh": NAMES[3]}
    state = recurrent.state_dict()
    plain = exact({short: state[name] for short, name in keys.items()}, start)
    large = exact({short: made.weights[name] for short, name in keys.items()}, made.initial)
    x = [tuple(rational_matrix(v[None]).entries()) for v in worst(recurrent, start, 5, 1.0)[0]]
    for h, s in zip(plain.states(x), large.states(x), strict=True):
        assert s == (*h, *[fmpq(0)] * (made.states - n))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_own_dtype(dtype):
    """A model in its own dtype stays within the certificate's bound of its float64 equivalent."""
    recurrent = model(3, dtype=dtype)
    made = unitary(recurrent, inputs=1.0)
    assert made.certificate["dtype"] == str(dtype).removeprefix("torch.")
    x = inputs(4, 60, 2, dtype=dtype)
    x = x * (1 - 2 * torch.finfo(dtype).eps)
    h, kept, further = both(recurrent, made, x, made.initial[:3])
    assert not further.any()
    gap = float((h.double() - kept).norm(dim=2).max())
    assert (
        0 < gap <= made.certificate["difference"]["own_dtype"] < 100 * torch.finfo(dtype).eps * 50
    )


def test_the_file_is_a_model(tmp_path):
    """Written bit for bit, it loads into torch.nn.RNN and as a model, with the same outputs."""
    path, recurrent = tmp_path / "u.safetensors", model(3)
    start = doubles([1.0, -2.0, 3.5])
    made = unitary(recurrent, inputs=1.0, initial=start)
    save_unitary(made, path)
    held = load_file(path)
    assert all(torch.equal(held[name], part) for name, part in made.weights.items())
    plain = torch.nn.RNN(2, 6, nonlinearity="relu", batch_first=True, dtype=torch.float64)
    plain.load_state_dict(held)
    x = inputs(2, 9, 2)
    h = recurrent(x, start.expand(1, 2, 3).contiguous())[0]
    s = plain(x, made.initial.expand(1, 2, 6).contiguous())[0]
    assert torch.allclose(h, s[..., :3], rtol=0, atol=made.certificate["difference"]["float64"])
    assert load_model(path).name == "rnn-relu"
    assert [entry.name for entry in tmp_path.iterdir()] == ["u.safetensors"]


def test_scalar_models_by_hand():
    """The margin of b₂ over B_h‖row of W₃‖ is rounding's, not a tuned factor; if rounding may undo
    the contraction nothing is claimed of float64, and equality stays."""
    made, edge = (
        unitary({"weight_hh": doubles([[w]]), "weight_ih": doubles([[1.0]])}, inputs=1.0,
                cell="rnn-relu")
        for w in (0.5, 1 - 2.0**-52)
    )  # fmt: skip
    assert made.certificate["constants"]["B_h"] == 2.0
    row = float(made.weights["weight_hh_l0"][1, 0])
    assert 1 < -float(made.weights["bias_ih_l0"][1]) / (2 * row) < 1 + 1e-13
    told = edge.certificate
    assert told["constants"]["B_h_computed"] is None
    assert (told["difference"]["exact"], told["difference"]["float64"]) == (0.0, None)


@pytest.mark.parametrize("W", [[[1.0]], [[0.0, 2.0], [0.0, 0.0]], [[1.5]]])
def test_only_contractions(W):
    """‖W‖₂ ≥ 1 raises NoUnitaryError with what is known, as one line."""
    weights = {"weight_hh": torch.tensor(W), "weight_ih": torch.ones(len(W), 1)}
    with pytest.raises(NoUnitaryError, match="needs ‖W‖₂ < 1") as caught:
        unitary(weights, inputs=1.0, cell="rnn-relu")
    assert caught.value.certificate.norm == "spectral"
    assert caught.value.certificate.verdict != "certified"
    assert "\n" not in str(caught.value)


def contraction(n, lam=0.9, seed=0):
    """A random matrix with ‖W‖₂ near lam."""
    W = torch.randn(n, n, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    return W * (lam / torch.linalg.matrix_norm(W, 2))


def exact_defect(V):
    """‖VᵀV − I‖_F in balls."""
    with ctx.workprec(256):
        A = arb_mat(V.tolist())
        gram = A.transpose() * A
        m = gram.nrows()
        entries = [gram[i, j] - int(i == j) for i in range(m) for j in range(m)]
        return sum((v * v for v in entries), arb(0)).sqrt()


@pytest.mark.parametrize("lam", [0.0, 0.5, 1 - 1e-9, 1 - 1e-13])
def test_dilations(lam):
    """W is the leading block to the last bit, and V is orthogonal to 1e-14 n, near ‖W‖ = 1 too."""
    for n in (1, 2, 3, 5, 8, 16):
        W = contraction(n, lam, seed=n)
        found = dilate(W)
        assert torch.equal(found.V[:n, :n], W)
        assert (len(found.V), found.n) == (2 * n, n)
        assert found.defect <= 1e-14 * n
        assert exact_defect(found.V) <= found.defect
        gap = found.W3.mT @ found.W3 - (torch.eye(n) - W.mT @ W)
        assert float(gap.abs().max()) < 1e-14


def test_defect_is_a_bound():
    """The float64 bound is above the exact defect, and near it, from 0 to far from orthogonal."""
    draw = torch.Generator().manual_seed(3)
    for n in (1, 2, 7, 30):
        Q = torch.linalg.qr(torch.randn(n, n, dtype=torch.float64, generator=draw))[0]
        for noise in (0.0, 1e-16, 1e-12, 1e-6, 1e-2):
            V = Q + noise * torch.randn(n, n, dtype=torch.float64, generator=draw)
            exact, bound = exact_defect(V), orthogonality_defect(V)
            assert exact <= bound
            assert bound <= 1.001 * float(exact) + 1e-17 * n
    assert orthogonality_defect(torch.eye(3, dtype=torch.float64)) < 1e-250
    tall = torch.linalg.qr(torch.randn(6, 2, dtype=torch.float64, generator=draw))[0]
    assert exact_defect(tall) <= orthogonality_defect(tall) < 1e-14


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 3.0, 1.9])
def test_defect_fails_closed(bad):
    """NaN, infinity and entries for which the splitting is not exact give infinity."""
    V = torch.eye(2, dtype=torch.float64)
    V[0, 1] = bad
    assert orthogonality_defect(V) == math.inf


def test_defect_sees_what_float64_hides():
    """A defect below the roundoff of plain products is found, not rounded to 0."""
    c = 1 - 2.0**-53
    V = torch.diag(torch.tensor([c, 1.0, 1.0], dtype=torch.float64))
    assert float((V.mT @ V - torch.eye(3)).abs().max()) in (2.0**-52, 2.0**-53, 0.0)
    exact = exact_defect(V)
    assert exact <= orthogonality_defect(V) <= float(exact) * (1 + 1e-12)


def test_polar_is_nearest():
    """The polar factor is orthogonal, fixes orthogonal matrices, and no other one is nearer."""
    draw = torch.Generator().manual_seed(0)
    A, B = torch.randn(2, 4, 4, dtype=torch.float64, generator=draw)
    Q, other = polar(A), torch.linalg.qr(B)[0]
    assert orthogonality_defect(Q) < 1e-14
    assert torch.allclose(polar(Q), Q)
    assert torch.linalg.matrix_norm(A - Q) <= torch.linalg.matrix_norm(A - other)
    with pytest.raises(NotFiniteError):
        polar(torch.tensor([[float("nan")]]))
