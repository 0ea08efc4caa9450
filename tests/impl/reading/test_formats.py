"""The table of formats: for each format a small model, and every action that the table says."""

import gzip
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from stack_draws import net

import rnnbounds
from rnnbounds.impl.checker.truncated import check_truncated
from rnnbounds.impl.convert.truncate import unrolled
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.formats import ACTIONS, FORMATS, TESTS, documented_table, format_table

ROOT = Path(__file__).parents[3]
WILD = ROOT / "tests/wild/files"
EPSILON, B = 1e-2, 0.125
Made = Callable[[Path], LoadedModel]


def module() -> torch.nn.GRU:
    """A GRU of 5 units that certifies."""
    return net("gru", 1)


def made_by_a_factory(folder: Path) -> LoadedModel:
    """A module on the path whose function returns the GRU."""
    (folder / "made_here.py").write_text(
        "from stack_draws import net\n\n\ndef module():\n    return net('gru', 1)\n"
    )
    sys.path.insert(0, str(folder))
    try:
        return load_model("made_here:module")
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("made_here", None)


def saved_by_torch(folder: Path) -> LoadedModel:
    """torch.save of a state dict."""
    torch.save(module().state_dict(), folder / "m.pt")
    return load_model(folder / "m.pt")


def saved_as_safetensors(folder: Path) -> LoadedModel:
    """safetensors of a state dict."""
    save_file(module().state_dict(), folder / "m.safetensors")
    return load_model(folder / "m.safetensors")


def saved_truncated(folder: Path) -> LoadedModel:
    """The truncated form is read as the cell that it was made of."""
    rnnbounds.save_truncated(*rnnbounds.truncate(module(), EPSILON, B), folder / "t.safetensors")
    return load_model(folder / "t.safetensors")


def exported_to_onnx(folder: Path) -> LoadedModel:
    """One node of ONNX's."""
    pytest.importorskip("onnx")
    from onnx_graphs import graph, node

    one, constants = node(module(), "GRU", "rnn", linear_before_reset=1)
    return load_model(graph(folder / "m.onnx", one, constants=constants))


def light_gru(folder: Path) -> LoadedModel:
    """speechbrain's, from the file that it wrote, with recurrent weights that certify."""
    from safetensors.torch import load_file

    held = load_file(ROOT / "tests/wild/files/gated/li_gru_tanh.safetensors")
    save_file(held | {"rnn.0.u.weight": held["rnn.0.u.weight"] / 8}, folder / "m.safetensors")
    return load_model(folder / "m.safetensors", "li-gru-tanh")


def unpacked(folder: Path, name: str) -> Path:
    """A file of Keras that is kept compressed."""
    (folder / name).write_bytes(gzip.decompress((WILD / f"{name}.gz").read_bytes()))
    return folder / name


def recurrence(folder: Path) -> LoadedModel:
    """A layer of Mamba-2."""
    return load_model(WILD / "sequence/mamba2/model.safetensors", layer="layers.0.mixer")


FLAX = "params.OptimizedLSTMCell_0"
MADE: dict[str, Made] = {
    "module": lambda folder: load_model(module()),
    "factory": made_by_a_factory,
    "state-dict": saved_by_torch,
    "safetensors": saved_as_safetensors,
    "truncated": saved_truncated,
    "onnx": exported_to_onnx,
    "keras": lambda folder: load_model(unpacked(folder, "keras_cells.keras"), layer="bare"),
    "keras-weights": lambda folder: load_model(
        unpacked(folder, "keras_cells.weights.h5"), layer="cell"
    ),
    "flax": lambda folder: load_model(WILD / "jax_model.msgpack", layer=FLAX),
    "npz": lambda folder: load_model(WILD / "jax_model.npz", layer=FLAX),
    "sb3": lambda folder: load_model(WILD / "ppo.zip", layer="lstm_actor"),
    "sequence": recurrence,
    "li-gru": light_gru,
}


def each(action: str) -> pytest.MarkDecorator:
    """Every format with that action, by its key."""
    keys = [one.key for one in FORMATS if action in one.actions and one.home == TESTS]
    return pytest.mark.parametrize("model", keys, indirect=True)


@pytest.fixture
def model(request: pytest.FixtureRequest, tmp_path: Path) -> LoadedModel:
    """The model of that format, as it is read."""
    return MADE[request.param](tmp_path)


@pytest.fixture
def truncated(model: LoadedModel):
    """Its truncated form with the record."""
    return rnnbounds.truncate(model, EPSILON, B)


@each("certified")
def test_certified(model):
    """A window is certified."""
    told = rnnbounds.certify(model, B, EPSILON)
    assert (told.verdict, told.cell) == ("certified", model.name)


def drawn(model: LoadedModel) -> torch.Tensor:
    """Inputs (8, 60, d) of norm B in the model's dtype."""
    x = torch.randn(8, 60, model.d, generator=torch.Generator().manual_seed(0))
    return (B * (1 - 1e-3) * x / x.norm(dim=2, keepdim=True)).to(getattr(torch, model.dtype))


@each("measured")
def test_measured(model):
    """Measured on data, it forgets no slower than is certified."""
    (seen,) = rnnbounds.measure(model, drawn(model).numpy(), eps=EPSILON).to_json()["memory"]
    assert 0 < seen["k"] <= rnnbounds.certify(model, B, EPSILON).window(EPSILON)


@each("truncated")
def test_truncated(truncated, model):
    """The truncated form is within ε of the run."""
    x = drawn(model)
    full = unrolled(model, 60)(x)
    assert float((truncated[0](x) - full).detach().norm(dim=2).max()) <= EPSILON * (1 + 1e-3)


@pytest.mark.slow
@each("exported")
def test_exported(model, tmp_path):
    """The exported program has the outputs of the truncated form, of a few layers."""
    windows = rnnbounds.certify(model, B, [EPSILON * 1.25**i for i in range(40)]).windows
    short, record = rnnbounds.truncate(model, next(eps for eps, k in windows if k <= 8), B)
    assert short.k > 0
    rnnbounds.export_truncated(short, record, tmp_path / "m.pt2")
    program = torch.export.load(tmp_path / "m.pt2").module()
    x = drawn(model)[:, :20]
    torch.testing.assert_close(program(x), short(x), rtol=0, atol=1e-5)


@each("checked")
def test_checked(truncated, tmp_path):
    """The checker proves the file of the truncated form again."""
    rnnbounds.save_truncated(*truncated, tmp_path / "k.safetensors")
    assert all(found.holds for found in check_truncated(tmp_path / "k.safetensors")[1])


def test_every_named_test_exists():
    """Each cell names a test that pytest finds under that id, and each key is a model here."""
    assert [one.key for one in FORMATS if one.home == TESTS] == list(MADE)
    assert all(set(one.actions) <= set(ACTIONS) for one in FORMATS)
    named = {one.outputs for one in FORMATS}
    ids = (one.test_of(action) for one in FORMATS for action in ACTIONS)
    named |= {test.partition("[")[0] for test in ids if test}
    for test in named:
        path, _, function = test.partition("::")
        assert f"\ndef {function}(" in (ROOT / path).read_text(encoding="utf-8"), test


def test_both_tables_have_a_row_for_each_format():
    """The command prints as many rows as the page of the documentation has."""
    assert len(list(format_table())) == len(FORMATS) == len(list(documented_table())) - 2
    assert all(len(row) == 3 + len(ACTIONS) for row in format_table())
