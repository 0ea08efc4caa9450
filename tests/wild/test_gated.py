"""Gated layers as their libraries save and run them: light GRUs of speechbrain, flax's minimal
gated unit, and Keras' layers with other activations."""

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
from rnnbounds.impl.reading.recognition.gated_activations import keras_cell
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


def outputs(cell: str, weights: dict[str, torch.Tensor], x: torch.Tensor, n: int) -> torch.Tensor:
    """h_1, …, h_T (N, T, n) of the cell in float64, from zero."""
    kind, found = kind_of(cell), []
    s = torch.zeros(len(x), kind.layout(weights).sizes(weights).state, dtype=torch.float64)
    for t in range(x.shape[1]):
        s = kind.step(weights, kind.drive(weights, x[:, t].double()), s)
        found.append(s[:, -n:])
    return torch.stack(found, 1)


@pytest.mark.parametrize("name", CELLS)
def test_outputs(name: str, folder: Path) -> None:
    """Run from zero over the library's inputs the cell has its outputs, to float32's roundings."""
    loaded, run = model(folder, name), load_file(folder / f"{name}-run.safetensors")
    weights = {role: part.double() for role, part in loaded.weights.items()}
    found = outputs(loaded.name, weights, run["x"], loaded.n)
    np.testing.assert_allclose(found, run["h"], rtol=0, atol=2e-6)
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


KERAS = (
    ("LSTM", "relu", "hard_sigmoid", {}),
    ("LSTM", "leaky_relu", "sigmoid", {}),
    ("LSTM", "softsign", "hard_sigmoid", {}),
    ("LSTM", "gelu", "sigmoid", {}),
    ("GRU", "relu", "hard_sigmoid", {"reset_after": True}),
    ("GRU", "linear", "hard_sigmoid", {"reset_after": False}),
    ("SimpleRNN", "softplus", None, {}),
)


@pytest.mark.slow
@pytest.mark.parametrize(("layer", "activation", "gates", "options"), KERAS)
def test_keras(
    layer: str, activation: str, gates: str | None, options: dict[str, bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The cell that the activations name has Keras' outputs, to float32's roundings."""
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    keras = pytest.importorskip("keras")
    n, x = 4, make_gated.inputs()
    recurrent = {} if gates is None else {"recurrent_activation": gates}
    built = getattr(keras.layers, layer)(
        n, activation=activation, return_sequences=True, **recurrent, **options
    )
    built(x)
    by = np.random.default_rng(1)
    built.set_weights([0.7 * by.standard_normal(part.shape) for part in built.get_weights()])
    kernel, recurrent_kernel, bias = built.get_weights()
    biases = bias if bias.ndim == 2 else [bias, 0 * bias]
    roles = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    weights = {}
    for role, rows in zip(roles, (kernel.T, recurrent_kernel.T, *biases), strict=True):
        blocks = np.split(rows, len(rows) // n)
        ordered = [blocks[place] for place in ((1, 0, 2) if layer == "GRU" else range(len(blocks)))]
        weights[role] = torch.from_numpy(np.concatenate(ordered)).double()
    base = "gru-cho" if options == {"reset_after": False} else layer.lower()
    cell = keras_cell(base.replace("simple", ""), activation, gates or "sigmoid", keras.__version__)
    found = outputs(cell, weights, torch.from_numpy(x), n)
    np.testing.assert_allclose(found, keras.ops.convert_to_numpy(built(x)), rtol=0, atol=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".keras", ".h5"])
def test_keras_files(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A saved model says its activations, and the version whose hard sigmoid it has."""
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    keras = pytest.importorskip("keras")
    x, path = make_gated.inputs(), tmp_path / f"m{ending}"
    layer = keras.layers.LSTM(
        4, activation="relu", recurrent_activation="hard_sigmoid", return_sequences=True, name="enc"
    )
    built = keras.Sequential([keras.Input(x.shape[1:]), layer])
    built.save(path)
    loaded = load_model(path)
    assert loaded.name == "lstm+hard-sigmoid+relu+relu"
    weights = {role: part.double() for role, part in loaded.weights.items()}
    found = outputs(loaded.name, weights, torch.from_numpy(x), 4)
    np.testing.assert_allclose(found, keras.ops.convert_to_numpy(built(x)), rtol=0, atol=2e-6)
