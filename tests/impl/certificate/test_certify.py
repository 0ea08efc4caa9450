import json
import math

import numpy as np
import pytest
import torch
from draws import normal

from rnnbounds.impl.arithmetic.inputs.sets import input_box
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.epsilons import epsilons_of
from rnnbounds.impl.convert.truncate import truncate
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.gradients.windows.rollout import truncations
from rnnbounds.impl.reading.adapters import load_model

NILPOTENT = [[2.0, 4.0], [-1.0, -2.0]]


def model(W, cell="rnn-tanh", b=None, U=None, dtype=torch.float64):
    """A loaded cell of those weights."""
    n = len(W)
    tensors = {
        "weight_hh": torch.tensor(W, dtype=dtype),
        "weight_ih": torch.ones(n, 1, dtype=dtype) if U is None else torch.tensor(U, dtype=dtype),
    }
    if b is not None:
        tensors["bias_hh"] = torch.tensor(b, dtype=dtype)
    return load_model(tensors, cell)


def contractive(n, cell, lam, seed=0, d=2):
    """A random cell with ‖W‖₂ = lam."""
    W = normal(n, n, seed=seed)
    W = W * (lam / torch.linalg.matrix_norm(W, 2))
    U, b = normal(n, d, seed=seed + 1), normal(n, seed=seed + 2)
    return model(W.tolist(), cell, b.tolist(), U.tolist())


def test_scalar_linear_by_hand():
    """h = h/2 + x with B = 1: the gap of a long run is exactly 2·2⁻ᵏ, and so is the window; without
    inputs there is no memory, and with W = 0 one input is remembered."""
    certificate = certify(model([[0.5]], "linear"), inputs=1.0, eps=(2.0**-9, 2.0**-10))
    assert (certificate.verdict, certificate.stable) == ("certified", True)
    assert certificate.lam == 0.5
    assert certificate.windows == ((2.0**-9, 10), (2.0**-10, 11))
    for held, B, k in (
        (model([[0.5]], U=[[0.0]]), 1.0, 0), (model([[0.5]]), 0.0, 0), (model([[0.0]]), 1.0, 1)
    ):  # fmt: skip
        assert certify(held, inputs=B).windows[0][1] == k
    for lam in (math.nextafter(1, 0), 1.0, math.nextafter(1, 2)):  # a unit below 1, and above
        assert certify(model([[lam]], "linear"), inputs=1.0).stable == (lam < 1)


@pytest.mark.parametrize(
    ("W", "cell", "norms"),
    [
        ([[0.5, 100.0], [0.0, 0.5]], "linear", {"perron", "diagonal", "quadratic"}),
        ([[0.5, 100.0], [0.0, 0.5]], "rnn-tanh", {"perron", "diagonal", "quadratic-sdp"}),
        (NILPOTENT, "linear", {"quadratic"}),  # which no diagonal norm certifies
    ],
)
def test_beyond_the_spectral_norm(W, cell, norms):
    """‖W‖₂ ≥ 5 and yet certified, in a weighted norm; the gap holds."""
    loaded = model(W, cell)
    certificate = certify(loaded, inputs=1.0, eps=(1e-3,))
    assert certificate.verdict == "certified"
    assert certificate.norm in norms
    assert {name for name, lam, _ in certificate.tried if lam < 1} <= norms
    assert certificate.weights is not None
    k = certificate.window(1e-3)
    full, short = truncations(loaded.cell, torch.ones(1, k + 20, 1, 1, dtype=torch.float64), k)
    assert float((full - short[:, :, k]).norm()) <= 1e-3


def test_best_norm_is_kept():
    """The norm with the least k at the smallest ε wins; a norm by name is that one alone."""
    loaded = contractive(6, "rnn-tanh", 0.8)
    auto = certify(loaded, inputs=1.0)
    alone = {name: certify(loaded, inputs=1.0, norm=name) for name, _, _ in auto.tried}
    assert all(certificate.norm == name for name, certificate in alone.items())
    known = [c.window(1e-6) for c in alone.values() if c.verdict == "certified"]
    assert auto.window(1e-6) == min(known)
    assert {name: k for name, _, k in auto.tried} == {
        name: c.windows[-1][1] for name, c in alone.items()
    }


def test_rounding_needs_room():
    """Half precision of a wide cell, or λ next to 1, leaves no rounding bound."""
    close = certify(model([[1 - 2.0**-52]], "rnn-relu"), inputs=1.0)
    assert close.verdict == "certified"
    assert math.isinf(close.rounding.state)
    wide = {"weight_hh": torch.zeros(2, 2), "weight_ih": torch.ones(2, 1200)}
    half = load_model({name: part.half() for name, part in wide.items()}, "rnn-tanh")
    assert math.isinf(certify(half, inputs=1.0).rounding.state)
    assert certify(model([[0.5]], "linear", U=[[0.0]]), inputs=0.0).rounding.state == 0.0


def test_huge_weights():
    """Weights whose products overflow are undecided: λ < 1 without any k says nothing of memory."""
    certificate = certify(model([[0.5]], "linear", U=[[1e308]]), inputs=1e10)
    assert (certificate.verdict, certificate.lam) == ("undecided", 0.5)
    assert "one step has no finite bound" in certificate.reason
    assert certificate.windows[0][1] is None
    json.dumps(certificate.to_dict(), allow_nan=False)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("cell", ["rnn-relu", "rnn-leaky-relu", "rnn-gelu", "rnn-tanh", "linear"])
def test_nothing_leaks_from_huge_weights(cell: str) -> None:
    """A recurrent matrix near the largest float: a verdict, and no warning of NumPy's."""
    W = torch.rand(2, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 2 - 1
    for huge in (1.7e308 * W, torch.full((2, 2), 1e308, dtype=torch.float64)):
        found = certify(model(huge.tolist(), cell, [0.5, 0.5]), inputs=1.0)
        assert found.verdict != "certified"
        assert json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("dtype", "bound"), [(torch.float16, 4e4), (torch.float16, 6e4), (torch.float32, 3e38)]
)
def test_no_rounding_bound_where_the_dtype_overflows(dtype: torch.dtype, bound: float) -> None:
    """States up to 2B are infinite in the model's own dtype: nothing bounds their error."""
    model = {
        "weight_ih_l0": torch.tensor([[1.0]], dtype=dtype),
        "weight_hh_l0": torch.tensor([[0.5]], dtype=dtype),
    }
    h = torch.zeros(1, dtype=dtype)
    for _ in range(60):
        h = model["weight_hh_l0"][0] * h + torch.tensor([bound], dtype=dtype)
    assert torch.isinf(h).all()
    assert math.isinf(certify(model, inputs=bound, cell="linear").rounding.state)
    assert math.isfinite(certify(model, inputs=1.0, cell="linear").rounding.state)


def test_what_units_return_bounds_a_window():
    """tanh returns at most 1: at B = 10³⁰⁰ the window is that of √n, not of B; a linear system's
    grows with B."""
    told = [
        certify(contractive(4, "rnn-tanh", 0.5), inputs=B, norm="spectral") for B in (10.0, 1e300)
    ]
    assert told[0].windows == told[1].windows
    for epsilon, k in told[1].windows:
        assert k == math.ceil(math.log(2 / epsilon) / -math.log(told[1].lam))
    assert told[1].constants["radius"] == 2.0
    free = certify(contractive(4, "linear", 0.5), inputs=1e300, norm="spectral")
    assert (free.constants["radius"], free.windows[0][1]) == (math.inf, 1006)


def test_a_half_infinite_box_is_a_box():
    """An LSTM whose forget gate rounds to 1 at the bound: |h| is bounded though |c| is not, and
    what is printed of it is of that box."""
    layer = torch.nn.LSTM(1, 1)
    with torch.no_grad():
        for part in layer.parameters():
            part.fill_(0.5)
    told = certify(layer, inputs=1e3)
    assert told.constants["h_bar"] <= 1
    assert told.constants["B_c"] == math.inf
    assert "box" in told.states


def test_accuracies_may_be_tensors() -> None:
    """One without a dimension is one number; a model is truncated at one."""
    assert epsilons_of(torch.tensor(0.5)) == (0.5,)
    assert epsilons_of(torch.tensor([0.5, 0.25])) == (0.5, 0.25)
    quarter = model([[0.25]], "linear")
    for several in (torch.tensor([0.5, 0.25]), np.array([0.5, 0.25]), iter([0.5, 0.25])):
        found = certify(quarter, inputs=1.0, eps=several)
        assert [eps for eps, _ in found.windows] == [0.5, 0.25]
    with pytest.raises(InputError, match=r"ε = \(0\.5, 0\.25\), but it must be a number > 0"):
        truncate(quarter, inputs=1.0, eps=(0.5, 0.25))


def test_arguments_have_one_order_and_no_set_is_a_number():
    """Inputs and ε are keywords, an ε may be a share, a set is no ε and has no arithmetic, and no
    certificate is true or false."""
    model, box = torch.nn.RNN(1, 2), input_box(-1, 1, 1)
    with torch.no_grad():
        for part in model.parameters():
            part.fill_(0.1)
    for function in (certify, truncate):
        with pytest.raises(TypeError, match="positional"):
            function(model, 1.0, 0.1)
        with pytest.raises(InputError, match=r"ε = .* must be a number > 0"):
            function(model, inputs=1.0, eps=box)
    assert not isinstance(box, float)
    for compute in (lambda: box * 2, lambda: 2 - box, lambda: box < 1, lambda: torch.ones(1) * box):
        with pytest.raises(TypeError, match="InputSet"):
            compute()
    assert repr(box) == "InputSet([-1.0, 1.0], ‖x‖₂ ≤ 1)"
    found = certify(model, inputs=box, eps="5%")
    ((eps, k),) = found.windows
    assert 0.049 < eps / found.constants["B_h"] <= 0.05
    assert truncate(model, inputs=box, eps="5%").module.k == k
    with pytest.raises(InputError, match="a share above 0% and up to 100%, as 5%"):
        certify(model, inputs=box, eps="5 per cent")
    with pytest.raises(InputError, match="compare its verdict"):
        bool(found)
    assert found.stable
    undecided = found.replaced(verdict="undecided", is_stable=None)
    with pytest.raises(InputError, match="neither stable nor unstable"):
        print(undecided.stable)
