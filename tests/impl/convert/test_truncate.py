import json
from functools import cache

import pytest
import torch
from draws import normal
from safetensors import safe_open
from safetensors.torch import load_file

from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert.files import load_truncated, save_truncated
from rnnbounds.impl.convert.truncate import NotCertifiedError, truncate
from rnnbounds.impl.errors import InputError, RangeError
from rnnbounds.impl.reading.adapters import load_model


def rnn(seed=0, lam=0.6, dtype=torch.float32, **options):
    """A random torch RNN with ‖W‖₂ = lam."""
    torch.manual_seed(seed)
    made = torch.nn.RNN(2, 4, batch_first=True, dtype=dtype, **options)
    with torch.no_grad():
        made.weight_hh_l0 *= lam / float(torch.linalg.matrix_norm(made.weight_hh_l0, 2))
    return made


HEAD = {"readout": "head", "cell": "rnn-tanh"}


def headed(factor=2.0):
    """The state dict of `rnn` with a head of two outputs, whose weights are all equal."""
    return {"head.weight": torch.full((2, 4), factor), **rnn().state_dict()}


@cache
def short(epsilon=1e-2, **options):
    """The truncated model of `rnn`, and its certificate."""
    return truncate(rnn(**options), eps=epsilon, inputs=1.0)


def inputs(bound=1.0, dtype=torch.float32):
    """Random inputs of norm just below the bound."""
    x = normal(3, 50, 2, seed=1)
    return (0.999 * bound * x / x.norm(dim=2, keepdim=True)).to(dtype)


def names(folder):
    """The names of all files in a folder."""
    return [entry.name for entry in folder.iterdir()]


def test_file_is_a_model(tmp_path):
    """The file is itself a model: it loads into torch.nn.RNN and certifies as the original."""
    path = tmp_path / "t.safetensors"
    recurrent = rnn(nonlinearity="relu")
    forward, certificate = truncate(recurrent, eps=1e-2, inputs=1.0)
    save_truncated(forward, certificate, path)
    recurrent.load_state_dict(load_file(path))
    loaded = load_model(path)
    assert loaded.name == "rnn-relu"
    assert (
        certify(loaded, inputs=1.0, eps=(1e-2,)).to_dict()["truncation"]
        == certificate["truncation"]
    )
    with safe_open(path, framework="pt") as file:
        assert file.metadata()["k"] == str(forward.k)


def test_of_a_readout(tmp_path):
    """k is that of `certify` for values C h; the file gives h and holds C, whatever its name, of
    which the same is certified again."""
    path, told = (tmp_path / "t.safetensors", truncate(headed(), eps=1e-2, inputs=1.0, **HEAD))
    certificate = certify(headed(), inputs=1.0, eps=1e-2, **HEAD)
    assert told.k == certificate.window(1e-2) > short().k
    assert "of values y = head.weight h" in str(told)
    save_truncated(*told, path)
    x, again = inputs(), load_truncated(path)
    assert torch.equal(again(x), told.module(x))
    assert again(x).shape == (3, 50, 4)
    assert torch.equal(again.readout, headed()["head.weight"])
    save_truncated(again, told.certificate, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    assert (
        certify(path, inputs=1.0, eps=1e-2, **HEAD | {"readout": "readout"}).window(1e-2) == told.k
    )


def test_not_certified():
    """A refuted or undecided model is not truncated; the error carries the certificate."""
    for weight, verdict in ((3.0, "refuted"), (1.0, "undecided")):
        weights = {"weight_hh": torch.tensor([[weight]]), "weight_ih": torch.tensor([[1.0]])}
        with pytest.raises(NotCertifiedError, match=verdict) as caught:
            truncate(weights, eps=1e-2, inputs=0.0, cell="rnn-tanh")
        assert caught.value.certificate.verdict == verdict
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["t", "m.pt2"])
def test_certificate_of_another_model(tmp_path, name):
    """A certificate of other weights, or of another window, is not written."""
    forward, certificate = short()
    other, _ = short(seed=1)
    longer, _ = short(1e-6)
    relu, _ = short(nonlinearity="relu")
    for wrong in (other, longer, relu):
        with pytest.raises(InputError, match="certificate"):
            save_truncated(wrong, certificate, tmp_path / name)
    for wrong in ({}, {"truncation": 3}, {"truncation": [3]}, certificate | {"schema": "?"}):
        with pytest.raises(InputError, match="certificate"):
            save_truncated(forward, wrong, tmp_path / name)
    read = [truncate(headed(head), eps=1e-2, inputs=1.0, **HEAD) for head in (2.0, 3.0)]
    for wrong, kept in ((read[0], certificate), (forward, read[0][1]), (read[0], read[1][1])):
        with pytest.raises(InputError, match=r"certificate of another model|window k"):
            save_truncated(getattr(wrong, "module", wrong), kept, tmp_path / name)
    assert names(tmp_path) == []


def test_a_certificate_that_no_file_can_keep_is_refused() -> None:
    """A stack whose lower layer is driven beyond all floats: its k is known, its record is not."""
    stack = torch.nn.RNN(1, 1, 2).double()
    for name, part in stack.named_parameters():
        part.data.fill_(1e300 if name == "weight_ih_l0" else 0.1)
    told = certify(stack, inputs=1e300, eps=0.1)
    assert told.verdict == "certified"
    json.dumps(told.to_dict(), allow_nan=False)
    with pytest.raises(RangeError, match="so small that no bound overflows"):
        truncate(stack, eps=0.1, inputs=1e300)
