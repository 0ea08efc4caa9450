"""Light GRUs of speechbrain and flax's minimal gated unit, as the libraries save and run them."""

import importlib.util
from pathlib import Path

import make_gated
import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import rnnbounds
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.recognition.misfit import AmbiguousCellError

CELLS = {
    "li_gru_relu": "li-gru-relu",
    "li_gru_leaky_relu": "li-gru-leaky-relu",
    "li_gru_tanh": "li-gru-tanh",
    "mgu": "mgu",
}


@pytest.fixture(params=["kept", pytest.param("live", marks=pytest.mark.slow)])
def folder(request: pytest.FixtureRequest, name: str, tmp_path: Path) -> Path:
    """The folder of the kept files, and of those that an installed library writes."""
    if request.param == "kept":
        return make_gated.FILES
    library = "flax" if name == "mgu" else "speechbrain"
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    make_gated.LIBRARIES[library](tmp_path)
    return tmp_path


def model(folder: Path, name: str) -> LoadedModel:
    """The layer as it is read; the kernels of flax are put in torch's order by hand."""
    path = folder / f"{name}.safetensors"
    if name != "mgu":
        return load_model(path, CELLS[name])
    held = {full.removeprefix("cell/"): part for full, part in load_file(path).items()}
    fed, kept = ((held[f"{side}f/kernel"].T, held[f"{side}n/kernel"].T) for side in "ih")
    return load_model({
        "weight_ih": torch.cat(fed), "bias_ih": torch.cat([held["if/bias"], held["in/bias"]]),
        "weight_hh": torch.cat(kept),
        "bias_hh": torch.cat([0 * held["if/bias"], held["hn/bias"]]),
    }, "mgu")  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
def test_outputs(name: str, folder: Path) -> None:
    """Run from zero over the library's inputs the cell has its outputs, to float32's roundings."""
    loaded, run = model(folder, name), load_file(folder / f"{name}-run.safetensors")
    kind = kind_of(loaded.name)
    weights = {role: part.double() for role, part in loaded.weights.items()}
    s, found = torch.zeros(len(run["x"]), loaded.n, dtype=torch.float64), []
    for t in range(run["x"].shape[1]):
        s = kind.step(weights, kind.drive(weights, run["x"][:, t].double()), s)
        found.append(s)
    np.testing.assert_allclose(torch.stack(found, 1), run["h"], rtol=0, atol=2e-6)
    assert float(run["h"].abs().max()) > 0.1


def test_a_light_gru_is_found_in_a_state_dict() -> None:
    """By its names, of which none says the activation."""
    path = make_gated.FILES / "li_gru_relu.safetensors"
    with pytest.raises(AmbiguousCellError, match="li-gru-relu or li-gru-leaky-relu"):
        load_model(path)
    (layer,) = rnnbounds.layers(path, "li-gru-relu")
    assert (layer.cell, layer.n, layer.d) == ("li-gru-relu", make_gated.n, make_gated.d)
    told = rnnbounds.certify(path, 1.0, 1e-2, cell="li-gru-relu")
    assert told.cell == "li-gru-relu"
