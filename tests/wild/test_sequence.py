"""Recurrences of sequence models, read from files as transformers saves them, and its states."""

import importlib.util
from pathlib import Path

import make_sequence
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

import rnnbounds
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.reading.adapters import load_model

NAMES = ("mamba", "falcon_mamba", "mamba2", "recurrent_gemma", "rwkv", "xlstm")
CELLS = ("selective", "selective", "selective", "rg-lru", "diagonal", "gated-scan")
EACH = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(params=["kept", pytest.param("live", marks=pytest.mark.slow)])
def folder(request: pytest.FixtureRequest, name: str, tmp_path: Path) -> Path:
    """The model's folder: the one that is kept, and one that the installed library writes."""
    if request.param == "kept":
        return make_sequence.FILES / name
    if importlib.util.find_spec("transformers") is None:
        pytest.skip("transformers is not installed")
    make_sequence.write(name, tmp_path)
    return tmp_path


def recorded(folder: Path) -> tuple[str, dict[str, torch.Tensor]]:
    """The layer and its recording in float64."""
    path = folder / "recorded.safetensors"
    with safe_open(path, "pt") as file:
        layer = file.metadata()["layer"]
    return layer, {role: part.double() for role, part in load_file(path).items()}


@EACH
def test_the_recurrence_is_the_librarys(name: str, folder: Path) -> None:
    """Run over the library's inputs the cell ends in its states, to 10⁻⁵ of the largest."""
    layer, kept = recorded(folder)
    model = load_model(folder / "model.safetensors", layer=layer)
    assert model.name == CELLS[NAMES.index(name)]
    s = kept["start"].T[None]
    for t in range(kept["x"].shape[1]):
        s = model.cell.step(s, kept["x"][:, t].T[None])
    wanted = kept["h"].T[None]
    assert float((s - wanted).abs().max()) <= 1e-5 * float(wanted.abs().max())
    assert float(wanted.abs().max()) > 1e-3  # not a run of nothing


@EACH
def test_the_layer_is_listed_and_certified(name: str, folder: Path) -> None:
    """Its decays on the recording are within what is certified for the inputs that it has seen."""
    layer, kept = recorded(folder)
    path = folder / "model.safetensors"
    listed = {one.name: one for one in rnnbounds.layers(path)}
    assert listed[layer].cell == CELLS[NAMES.index(name)]
    assert "recurrence alone, of " in listed[layer].source
    x = kept["x"].reshape(-1, kept["x"].shape[2])
    told = rnnbounds.certify(path, rnnbounds.input_data(x.float().numpy(), 0.0), layer=layer)
    assert told.verdict == "certified"
    assert all(k is not None for _, k in told.windows)
    assert set(told.rounds_to_one) == {"bfloat16", "float16", "float32", "float64"}
    model = load_model(path, layer=layer)
    step = kind_of(model.name).step
    weights = {role: part.double() for role, part in model.weights.items()}
    apart = torch.ones(len(x), model.n).double()
    moved = step(weights, x, apart) - step(weights, x, 0 * apart)
    assert float(moved.abs().max()) <= told.lam * (1 + 1e-12)
