"""The gain of a certificate: how far apart inputs δ apart can drive two runs from one state."""

import math

import gated_draws
import program_draws
import pytest
import stack_draws
import torch

from impl.cells.table import kind_of
from impl.certificate.certify import certify

VANILLA = {
    "weight_hh_l0": torch.tensor([[0.5, -0.25], [0.25, 0.375]], dtype=torch.float64),
    "weight_ih_l0": torch.tensor([[1.0, 0.5], [-2.0, 0.25]], dtype=torch.float64),
    "bias_ih_l0": torch.tensor([0.25, -0.5], dtype=torch.float64),
    "bias_hh_l0": torch.zeros(2, dtype=torch.float64),
}
NAMES = ("linear", "rnn-tanh", "rnn-relu", "lstm", "gru", *program_draws.SAMPLES)


def weights_of(name: str) -> tuple[str, dict[str, torch.Tensor]]:
    """A small cell of that name, as stored."""
    if name in ("lstm", "gru"):
        return name, dict(gated_draws.layer(name).state_dict())
    if name in program_draws.SAMPLES:
        small = 0.5 if name.startswith("leaky-relu") else 1.0
        found = program_draws.weights(name, scale=0.05 * small)
        return program_draws.KIND.get(name, name), found
    return name, VANILLA


def outputs(name: str, weights: dict[str, torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """h_1 … h_T from zero: x (N, T, d) -> (N, T, n)."""
    kind = kind_of(name)
    named = {key.removesuffix(kind.suffix): part for key, part in weights.items()}
    sizes = kind.layout(named).sizes(named)
    s, found = x.new_zeros(len(x), sizes.state), []
    for drive in kind.drive(named, x).unbind(1):
        s = kind.step(named, drive, s)
        found.append(s[:, -sizes.n :])
    return torch.stack(found, dim=1)


def nearby(x: torch.Tensor, size: float) -> torch.Tensor:
    """Inputs within twice that of x, no longer than 1: one constant shift, one reversed, …"""
    by = torch.Generator().manual_seed(7)
    moved = size * torch.nn.functional.normalize(
        torch.randn(x.shape, generator=by, dtype=torch.float64), dim=2
    )
    moved[::2] = moved[::2, :1]
    other = x * (1 - size) + moved * (1 - 2.0**-20)
    other[-1] = -x[-1]
    return other


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_two_runs_come_further_apart(name):
    """In every norm that certifies it, for every length."""
    cell, weights = weights_of(name)
    x = program_draws.inputs(8, 24, 2, 1.0)
    other = nearby(x, 0.25)
    assert float(other.norm(dim=2).max()) < 1
    apart = (outputs(cell, weights, x) - outputs(cell, weights, other)).norm(dim=2).amax(1)
    delta = (x - other).norm(dim=2).amax(1)
    certified = 0
    for norm in kind_of(cell).norms:
        found = certify(weights, 1.0, norm=norm, cell=cell)
        gain = found.constants["gain"]
        assert math.isfinite(gain) == (found.verdict == "certified")
        assert bool((apart <= gain * delta).all()), norm
        certified += math.isfinite(gain)
    assert certified


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rnn-tanh", "lstm", "gru"])
def test_of_stacks(name):
    """Through all layers: what the lowest is moved by, it passes on."""
    net = stack_draws.net(name, 2).double()
    x = stack_draws.inputs()
    other = nearby(x, 0.25)
    with torch.no_grad():
        apart = (net(x)[0] - net(other)[0]).norm(dim=2).amax(1)
    delta = (x - other).norm(dim=2).amax(1)
    for norm in ("cascade", "perron", "infinity", "spectral"):
        found = certify(net, 1.0, norm=norm)
        assert found.verdict == "certified"
        assert bool((apart <= found.constants["gain"] * delta).all())


@pytest.mark.parametrize(
    "norm", [norm for norm in kind_of("linear").norms if norm != "semidefinite"]
)
def test_attained(norm):
    """h = λh + u x: no smaller gain would do, in no norm."""
    scalar = {"weight_hh_l0": torch.tensor([[0.75]]), "weight_ih_l0": torch.tensor([[-1.5]])}
    gain = certify(scalar, 1.0, norm=norm, cell="linear").constants["gain"]
    assert 6.0 <= gain <= 6.0 * (1 + 2.0**-40)
    x = torch.ones(1, 200, 1, dtype=torch.float64)
    double = {key: part.double() for key, part in scalar.items()}
    forced = (outputs("linear", double, x) - outputs("linear", double, -x)).abs().amax()
    assert float(forced) > 2 * 6.0 * (1 - 2.0**-40)


def test_of_all_inputs():
    """A vanilla network's gain does not depend on how large the inputs are."""
    gains = [certify(VANILLA, B, cell="rnn-tanh").constants["gain"] for B in (0.5, 2.0)]
    assert gains[0] == gains[1]


def test_none_where_nothing_is_certified():
    """Infinite, null in the record."""
    wide = VANILLA | {"weight_hh_l0": 2 * torch.eye(2, dtype=torch.float64)}
    found = certify(wide, 1.0, cell="rnn-tanh")
    assert found.constants["gain"] == math.inf
    assert found.to_json()["constants"]["gain"] is None
