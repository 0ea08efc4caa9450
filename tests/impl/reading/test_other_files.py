"""Files that hold a part of a model, or other things: each is refused by its name, and what the
error says to do leads to the right answer."""

import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import safetensors.torch
import torch
import torch.distributed.checkpoint as dcp
from refusals import refused
from torch.distributed.checkpoint.format_utils import dcp_to_torch_save

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.adapters import load_model

torch.manual_seed(0)
MODEL = torch.nn.GRU(2, 3, 2).eval()
STATE = {name: tensor / 4 for name, tensor in MODEL.state_dict().items()}
MODEL.load_state_dict(STATE)
LAYERS = [{name: one for name, one in STATE.items() if name.endswith(end)} for end in ("l0", "l1")]


def is_the_model(path: Path) -> None:
    """A file is read as the module is."""
    same_model(load_model(str(path)), load_model(MODEL))


def same_model(one: LoadedModel, two: LoadedModel) -> None:
    """One cell, with equal weights."""
    assert one.name == two.name
    assert one.weights.keys() == two.weights.keys()
    assert all(torch.equal(one.weights[role], two.weights[role]) for role in one.weights)


@pytest.mark.parametrize("names", ["model-0000{}-of-00002", "part{}"])
def test_a_shard_is_not_the_model(names: str, tmp_path: Path):
    """One of two files, by its name or by an index; all tensors in one file are the model."""
    files = [tmp_path / f"{names.format(one)}.safetensors" for one in (1, 2)]
    for layer, file in zip(LAYERS, files, strict=True):
        safetensors.torch.save_file(layer, file)
    if names.startswith("part"):
        load_model(str(files[0]))  # nothing says yet that it is not all
    else:
        refused(str(files[0]), InputError, "is a shard")  # by its name alone
    index = tmp_path / "model.safetensors.index.json"
    held = {one: file.name for layer, file in zip(LAYERS, files, strict=True) for one in layer}
    index.write_text(json.dumps({"weight_map": held}))
    sources = dict.fromkeys(files, "is a shard") | {index: "index", tmp_path: "of shards"}
    for source, words in sources.items():
        assert "join the tensors of all its files" in refused(str(source), InputError, words)
    whole = tmp_path / "whole.safetensors"
    joined = {k: v for f in files for k, v in safetensors.torch.load_file(f).items()}
    safetensors.torch.save_file(joined, whole)
    is_the_model(whole)


def test_a_distributed_checkpoint_is_joined_first(tmp_path: Path):
    """Its folder and its files are refused; what torch makes of it is read."""
    dcp.save(dict(STATE), checkpoint_id=str(tmp_path / "dcp"))
    for source in (tmp_path / "dcp", tmp_path / "dcp" / "__0_0.distcp"):
        assert "dcp_to_torch_save(folder, 'model.pt')" in refused(
            str(source), InputError, "distributed"
        )
    dcp_to_torch_save(str(tmp_path / "dcp"), str(tmp_path / "model.pt"))
    is_the_model(tmp_path / "model.pt")


@pytest.mark.parametrize("name", ["rnn._fsdp_wrapped_module._flat_param", "other.flat_param"])
def test_flat_weights_are_not_passed_over(name: str):
    """What a sharded model holds beside a whole layer is told, never left out."""
    refused({name: torch.zeros(9)} | LAYERS[0], InputError, "FULL_STATE_DICT")


def exported(path: Path) -> object:
    """A program of torch.export, and how the error says that it is loaded."""
    torch.export.save(torch.export.export(MODEL, (torch.zeros(4, 1, 2),)), path)
    return lambda: torch.export.load(path)


def scripted(path: Path) -> object:
    """A file of torch.jit.save."""
    torch.jit.save(torch.jit.script(MODEL), path)
    return lambda: torch.jit.load(path)


@pytest.mark.parametrize(
    ("made", "name", "what"),
    [(exported, "m.pt2", "an exported program"), (scripted, "m.pt", "TorchScript")],
)
def test_programs_tell_how_their_weights_are_saved(
    made: Callable[[Path], Callable[[], object]], name: str, what: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):  # fmt: skip
    """The call that the error prints, made as it stands."""
    load = made(tmp_path / name)
    told = refused(str(tmp_path / name), InputError, f"is {what}.*; load it with torch")
    monkeypatch.chdir(tmp_path)
    call = re.search(r"safetensors\.torch\.save_file\(.*\)", told)
    assert call is not None
    eval(call[0], {"safetensors": safetensors, "model": load()})
    is_the_model(tmp_path / "model.safetensors")


@pytest.mark.parametrize("save", [pickle.dump, torch.save, lambda d, f: np.savez(f, **d)])
def test_arrays_of_numpy(save: Callable[[object, object], None], tmp_path: Path, monkeypatch):
    """A pickled dictionary of arrays is not called damaged."""
    arrays = {name: tensor.numpy() for name, tensor in STATE.items()}
    with (tmp_path / "arrays.pt").open("wb") as file:
        save(arrays, file)
    told = refused(str(tmp_path / "arrays.pt"), InputError, "holds NumPy's arrays")
    monkeypatch.chdir(tmp_path)
    eval(told.split(": ")[-1], {"safetensors": safetensors, "arrays": arrays})
    is_the_model(tmp_path / "model.safetensors")


class Wrapped(torch.nn.Module):
    """A module of which freezing makes constants."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = MODEL

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Its outputs."""
        return self.rnn(x)[0]


def test_frozen_torchscript_has_no_weights_left():
    """Its weights are constants of its code; before it is frozen it has them."""
    live = torch.jit.script(Wrapped().eval())
    refused(torch.jit.freeze(live), InputError, "frozen TorchScript")
    same_model(load_model(live), load_model(MODEL))


KINDS = {
    "x.so": (b"\x7fELF" + bytes(64), "compiled library"),
    "saved_model.pb": (b"\x08\x01\x12\x10" + bytes(64), "model of TensorFlow"),
    "model.mlmodel": (b"\x08\x05\x12\x10" + bytes(64), "model of Core ML"),
    "model.eqx": (b'{"a": 1}\n\x93NUMPY' + bytes(64), "file of Equinox"),
}


@pytest.mark.parametrize("name", KINDS)
def test_other_kinds_are_named(name: str, tmp_path: Path):
    """What it is, and what to do."""
    (tmp_path / name).write_bytes(KINDS[name][0])
    refused(str(tmp_path / name), InputError, f"{KINDS[name][1]}; .* weights")
    if name == "saved_model.pb":
        refused(str(tmp_path), InputError, "model of TensorFlow")


@pytest.mark.parametrize(
    ("change", "words"),
    [(lambda w: w.to(torch.float8_e4m3fn), r"\.float\(\)"), (lambda w: w.to_sparse(), "to_dense")],
    ids=["float8", "sparse"],
)
def test_tensors_of_other_kinds_are_converted(change: Callable[..., torch.Tensor], words: str):
    """Each says by which call it becomes one that is read."""
    changed = {name: change(one) if one.dim() == 2 else one for name, one in STATE.items()}
    told = refused(changed, InputError, words)
    call = "float" if "float()" in told else "to_dense"
    again = {name: getattr(one, call)() if one.dim() == 2 else one for name, one in changed.items()}
    assert load_model(again, "gru").n == 3


@pytest.mark.parametrize("name", ["a" * 300 + ".pt", "x\0y.pt"], ids=["too long", "a null"])
def test_names_of_no_file_or_folder(name: str):
    """What cannot be looked up is refused in a line, too."""
    refused(name, InputError, "name a file of weights")
