"""A model is certified on a device as it is on the CPU."""

import math

import pytest
import torch
from cell_systems import weights_of
from elsewhere import elsewhere
from program_draws import weights

from rnnbounds.impl.arithmetic.inputs.sets import input_box
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import Certificate

TORCHS, OTHERS = ("linear", "lstm"), ("deep-tanh",)


def drawn(cell: str, layers: int = 1, scale: float = 0.4) -> dict[str, torch.Tensor]:
    """Weights of two units under torch's names."""
    held = weights_of(cell, n=2, d=2, layers=layers, seed=1, scale=scale)
    return {name: part.double() for name, part in held.items()}


def both(held: dict[str, torch.Tensor], bound: float, **asked: object) -> tuple[Certificate, ...]:
    """On the CPU, and elsewhere."""
    here = certify(held, inputs=bound, **asked)
    with elsewhere() as device, pytest.MonkeyPatch.context() as patch:
        patch.setattr("rnnbounds.impl.certificate.certify.check_device", str)
        return here, certify(held, inputs=bound, device=device, **asked)


def agree(here: Certificate, there: Certificate, off: float = 1e-12) -> None:
    """One verdict, for the same reason, with the same windows; and its numbers to rounding."""
    for told in ("verdict", "norm", "windows", "skipped", "rounds_to_one", "states", "digest"):
        assert getattr(there, told) == getattr(here, told), told
    assert there.constants.keys() == here.constants.keys()
    numbers = [("λ", here.lam, there.lam)] + [
        (name, value, there.constants[name]) for name, value in here.constants.items()
    ]
    for name, value, other in numbers:
        assert math.isclose(other, value, rel_tol=off), name
    assert math.isinf(there.rounding.state) == math.isinf(here.rounding.state)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*TORCHS, *OTHERS])
def test_every_sort_of_cell(name):
    """By all norms."""
    held = drawn(name, scale=0.2) if name in TORCHS else weights(name, n=2, scale=0.05)
    here, there = both(held, 1.0, cell=name)
    agree(here, there)
    assert here.lam < 1


@pytest.mark.slow
def test_stacks():
    """Layer by layer, each in its best norm; of a box, which lies where the weights do."""
    held, box = drawn("stacked-rnn-tanh", layers=2, scale=0.2), input_box([-1.0, 0.0], [1.0, 0.5])
    agree(*both(held, box, cell="stacked-rnn-tanh", norm="cascade"))


@pytest.mark.parametrize("cell", ["rnn-tanh", "gru"])
def test_what_is_refuted(cell):
    """By the same witness: it is sought on the CPU."""
    held = drawn(cell)
    held["weight_hh_l0"][-2:] = 8.0 * torch.eye(2)
    here, there = both(held, 1.0, cell=cell, norm="infinity")
    assert (here.verdict, here.witness) == (there.verdict, there.witness)
    assert here.verdict == "refuted"


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("name", ["rnn-tanh", "lstm"])
def test_a_card(name):
    """The same on a CUDA device, whose products are summed in another order: what is sought step by
    step ends elsewhere by what a step may still change."""
    held = drawn(name, scale=0.2)
    agree(
        *(certify(held, inputs=1.0, cell=name, device=device) for device in ("cpu", "cuda")),
        off=1e-8,
    )
