"""The gain of a certificate: how far apart inputs δ apart can drive two runs from one state."""

import pytest
import torch

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert.truncate import unrolled
from rnnbounds.impl.reading.adapters import load_model

VANILLA = {
    "weight_hh_l0": torch.tensor([[0.5, -0.25], [0.25, 0.375]], dtype=torch.float64),
    "weight_ih_l0": torch.tensor([[1.0, 0.5], [-2.0, 0.25]], dtype=torch.float64),
    "bias_ih_l0": torch.tensor([0.25, -0.5], dtype=torch.float64),
    "bias_hh_l0": torch.zeros(2, dtype=torch.float64),
}


@pytest.mark.parametrize(
    "norm", [norm for norm in kind_of("linear").norms if norm != "semidefinite"]
)
def test_attained(norm):
    """h = λh + u x: no smaller gain would do, in no norm."""
    scalar = {"weight_hh_l0": torch.tensor([[0.75]]), "weight_ih_l0": torch.tensor([[-1.5]])}
    gain = certify(scalar, 1.0, norm=norm, cell="linear").constants["gain"]
    assert 6.0 <= gain <= 6.0 * (1 + 2.0**-40)
    x = torch.ones(1, 200, 1, dtype=torch.float64)
    run = unrolled(load_model({key: part.double() for key, part in scalar.items()}, "linear"), 200)
    assert float((run(x) - run(-x)).detach().abs().amax()) > 2 * 6.0 * (1 - 2.0**-40)


def test_of_all_inputs():
    """A vanilla network's gain does not depend on how large the inputs are."""
    gains = [certify(VANILLA, B, cell="rnn-tanh").constants["gain"] for B in (0.5, 2.0)]
    assert gains[0] == gains[1]
