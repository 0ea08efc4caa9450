"""What a hostile review of gated cells found, and what must stay true."""

import json
import struct
from fractions import Fraction

import numpy as np
import pytest
import torch
from flint import arb, ctx
from gated_draws import layer
from safetensors.torch import save

from impl.certificate.gated_refute import _inputs
from impl.convert.truncate import load_truncated
from impl.norms.comparison import two_norm_steps
from impl.norms.state_norms import StateNorm
from impl.reading.adapters import load_model
from impl.reading.files import ModelFileError
from impl.reading.misfit import WeightsError


def test_null_metadata(tmp_path):
    """A header whose metadata is null is read as one without, and is no truncated model."""
    data = save({k: v.contiguous() for k, v in layer("lstm").state_dict().items()})
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length]) | {"__metadata__": None}
    text = json.dumps(header).encode()
    path = tmp_path / "m.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length :])
    assert load_model(path).name == "lstm"
    with pytest.raises(ModelFileError, match="is not of the format"):
        load_truncated(path)


def test_lying_metadata(tmp_path):
    """Metadata of another cell are refused, with a remedy that helps."""
    weights = {k: v.contiguous() for k, v in layer("gru").state_dict().items()}
    path = tmp_path / "m.safetensors"
    path.write_bytes(save(weights, {"cell": "lstm"}))
    with pytest.raises(WeightsError, match="read it as gru"):
        load_model(path)
    assert load_model(path, "gru").name == "gru"


@pytest.mark.parametrize("B", [5e-324, 1e-323, 3e-323, 1e-320, 1e-308, 1.0])
def test_constant_inputs_at_any_scale(B):
    """No constant input that is tried is larger than B, even where B is subnormal."""
    for U in ([[0.6, 0.8], [0.6, 0.8001]], [[1.0, 2.0, 3.0]], [[1e308, 1e308]]):
        for x in _inputs(np.array(U), B):
            assert sum(Fraction(float(a)) ** 2 for a in x) <= Fraction(B) ** 2


@pytest.mark.parametrize("ulps", [1, 2, 3, 6, 17])
def test_two_norm_steps_near_one(ulps):
    """The factor is below 1 and holds for the very r that is named, where r exceeds 2^53 too."""
    lam = 1 - ulps * 2.0**-53
    for n in (2, 4, 7, 100, 4321, 9973):
        norm = StateNorm("infinity", lam, 1.0, 1.0, 1.0)
        r, factor = two_norm_steps(norm, n)
        with ctx.workprec(300):
            assert arb(n).sqrt() * arb(lam) ** int(r) <= factor < 1


def test_bound_on_states_rounds_last():
    """B_h is C S over 1 − λ, in that order of rounding."""
    norm = StateNorm("perron", 0.25, 0.7, 2.6, 1.0)
    assert Fraction(norm.states) >= Fraction(0.7) * Fraction(2.6) / Fraction(0.75)
    assert norm.states == 2.4266666666666667
    assert StateNorm("perron", 0.25, 0.7, 2.6, 1.0, radius=0.5).states == 1.3
    assert torch.isinf(torch.tensor(StateNorm("perron", 1.0, 0.7, 2.6, 1.0).states))
