"""Certificates of sets that data fill: attacked with inputs of the set, proved anew, forged."""

import json
import math
from types import SimpleNamespace

import pytest
import torch
from checked import seal_of
from draws import normal
from flint import arb
from safetensors.torch import load_file, save_file

from rnnbounds.impl.arithmetic.inputs.data_sets import (
    changing_box,
    input_axes,
    input_frames,
    input_hull,
    input_zonotope,
)
from rnnbounds.impl.arithmetic.inputs.maximisers import input_set_of
from rnnbounds.impl.arithmetic.inputs.sets import InputSet, input_box
from rnnbounds.impl.bidirectional.calls import certify as certify_any
from rnnbounds.impl.bidirectional.file_calls import load_certificate, save_truncated
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.checker.bidirectional import _holds
from rnnbounds.impl.checker.input_ranges import InputRanges
from rnnbounds.impl.checker.truncated import check_truncated
from rnnbounds.impl.convert.truncate import truncate
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.format.fields import RecordError, converted
from rnnbounds.impl.format.input_sets import StatedSet, record_inputs
from rnnbounds.impl.format.sealed import TRUNCATED
from rnnbounds.impl.memory.adversary.attack import attack, bracket
from rnnbounds.impl.reading.adapters import load_model

CELLS = {"rnn-tanh": torch.nn.RNN, "gru": torch.nn.GRU, "lstm": torch.nn.LSTM}
FRAMES = torch.stack([torch.sin(torch.arange(30.0)), torch.sin(torch.arange(30.0) + 0.2)], 1)
BOX = input_box(FRAMES.amin(0), FRAMES.amax(0))
SETS = {
    "frames": input_frames(FRAMES), "hull": input_hull(FRAMES), "axes": input_axes(FRAMES),
    "zonotope": input_zonotope(FRAMES), "change": changing_box(BOX, 0.25),
}  # fmt: skip


def model(cell: str):
    """A cell whose gates open further in the corners of the box than on the data."""
    torch.manual_seed(3)
    made = CELLS[cell](2, 4)
    with torch.no_grad():
        for name, part in made.named_parameters():
            part.mul_(0.35 if "hh" in name else 1.0)
    return load_model(made.state_dict(), cell)


@pytest.mark.parametrize(("cell", "name"), [*(("gru", name) for name in SETS), ("lstm", "hull")])
def test_runs_of_the_set_forget_within_k(cell: str, name: str) -> None:
    """Gaps under random inputs from the corners of the set, which change slowly where they must,
    are within ε after the certified k, and so is what an attack proves; k is no more than that of
    the box."""
    given, loaded = SETS[name], model(cell)
    told = certify(loaded, given, 0.01)
    box = certify(loaded, BOX, 0.01)
    k = told.window(0.01)
    if box.verdict == "certified":
        assert told.verdict == "certified"
        assert name in ("axes", "zonotope") or told.lam <= box.lam
    found = attack(loaded, given, 0.01, work=2**30)
    assert found.least(0.01) > 0
    assert all(given.holds_run(one.inputs) for one in found.witnesses)
    if k is None:
        return
    assert bracket(told, found)[0][2] == k
    inputs, T = input_set_of(given), k + 30
    x = inputs.admissible(inputs.maximiser(normal(T, 8, 2)))
    assert given.holds_run(x[:, 0])
    size = {"lstm": 8}.get(cell, 4)
    full, short = torch.zeros(1, size, 8).double(), torch.zeros(1, size, 8).double()
    for t in range(T):
        full = loaded.cell.step(full, x[t].mT[None])
        short = loaded.cell.step(short, x[t].mT[None]) if t >= T - k else short
    assert float((full - short)[:, -4:].norm(dim=1).max()) <= 0.01


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_data_are_certified_where_their_box_is_not(cell: str) -> None:
    """With inputs near a line, gates open less far than in the corners of the box."""
    found = {
        name: certify(model(cell), SETS[name], 0.01).lam for name in ("hull", "axes", "change")
    }
    assert found["hull"] < found["change"] * 0.99
    assert found["axes"] < found["change"]


def forged(path, module, told, **change) -> set[str]:
    """What falls of a truncated file with other inputs in its record."""
    record = json.loads(json.dumps(told))
    record["inputs"] |= change
    record["inputs"] = {name: part for name, part in record["inputs"].items() if part is not None}
    save_truncated(module, told, path)
    meta = {"format": TRUNCATED.format, "k": str(module.k), "cell": told["cell"], "output": "all"}
    meta["certificate"] = json.dumps(record, sort_keys=True)
    tensors = load_file(path)
    save_file(tensors, path, meta | {"sha256": seal_of(meta, tensors)})
    return {found.name for found in check_truncated(path)[1] if not found.holds}


@pytest.mark.parametrize(("cell", "name"), [
    *((cell, "hull") for cell in CELLS), ("gru", "frames"), ("gru", "axes"), ("rnn-tanh", "change"),
])  # fmt: skip
def test_sets_are_proved_anew(tmp_path, cell: str, name: str) -> None:
    """The file states the whole set, and the checker proves the certificate of it."""
    module, told = truncate(model(cell), 0.01, SETS[name])
    assert forged(tmp_path / "t.safetensors", module, told) == set()


def test_forged_sets(tmp_path) -> None:
    """A larger set than the one that was certified falls; one that its box or its ball does not
    hold, or with parts of another set, is not read."""
    path, wide = tmp_path / "t.safetensors", {"low": [-3.0] * 2, "high": [3.0] * 2}
    module, told = truncate(model("gru"), 0.01, input_hull(FRAMES * 0.5))
    told["input_bound"] = told["constants"]["B_x"] = 5.0
    corners = [[1.5, -1.5], [-1.5, 1.5]]
    assert forged(path, module, told, **wide) == set()
    assert forged(path, module, told, **wide, frames=told["inputs"]["frames"] + corners)
    for change in (
        {"frames": [[2.0, 0.0]]},
        {"frames": [[0.0]]},
        {"frames": []},
        {"frames": None},
        {"set": "box"},
        {"set": "rows"},
        {"change": [0.1, 0.1]},
        {"center": [0.0, 0.0]},
        {**wide, "frames": [[0.0, 0.0]] * 2**17},
        {"low": [-30.0] * 2, "high": [30.0] * 2, "frames": [[4.0, 4.0]]},
    ):
        with pytest.raises(InputError, match="holds no readable certificate"):
            forged(path, module, told, **change)
    module, told = truncate(model("gru"), 0.01, input_axes(FRAMES * 0.5))
    told["input_bound"] = told["constants"]["B_x"] = 5.0
    assert forged(path, module, told, **wide) == set()
    longer = [*told["inputs"]["generators"], [0.9, -0.9]]
    assert forged(path, module, told, **wide, generators=longer)
    with pytest.raises(InputError, match="holds no readable certificate"):
        forged(path, module, told, generators=longer)


def test_a_higher_layer_reads_a_box_alone() -> None:
    """A record of a cell above others cannot say that its inputs fill less than their box."""
    box = {"set": "box", "low": [-1], "high": [1]}
    assert converted(box, StatedSet).is_box
    assert not converted(box | {"set": "hull", "frames": [[0.5]]}, StatedSet).is_box
    assert not converted(box | {"change": [0.5]}, StatedSet).is_box
    with pytest.raises(RecordError):
        converted(box | {"frames": [[0.5]]}, StatedSet)
    below = SimpleNamespace(shape=SimpleNamespace(n=1), constants={"B_h": 0.75}, box=[0.75])
    for more, held in (({}, True), ({"change": [0.5]}, False)):
        inputs = converted(box | more, StatedSet)
        cell = SimpleNamespace(shape=SimpleNamespace(d=1), inputs=inputs, input_bound=1.0)
        assert _holds(cell, [below]) is held  # type: ignore[arg-type,list-item]


def test_ranges_of_rows() -> None:
    """w x of frames and of a zonotope in balls; nothing is said of a box."""
    w = [arb(1), arb(-2)]
    ends = {"low": [-9, -9], "high": [9, 9]}
    frames = converted(ends | {"set": "hull", "frames": [[1, 1], [3, 0], [0, 2]]}, StatedSet)
    around = {"set": "zonotope", "center": [1, 0], "generators": [[1, 1], [0, 2]]}
    for stated, low, high in ((frames, -4, 3), (converted(ends | around, StatedSet), -4, 6)):
        ranges = InputRanges.of(stated)
        assert ranges is not None
        assert ranges.of_row(w) == (arb(low), arb(high))
        assert ranges.of_row(w) is ranges.of_row(w)
    box = InputRanges.of(converted(ends | {"set": "box"}, StatedSet))
    assert box is not None
    assert box.of_row(w) is None


@pytest.mark.parametrize("name", SETS)
def test_documents_keep_their_set(tmp_path, name: str) -> None:
    """A certificate that is read again speaks of the set, and knows its members."""
    path = tmp_path / "c.json"
    told = certify(model("rnn-tanh"), SETS[name], 0.01)
    path.write_text(json.dumps(told.to_json()))
    again = load_certificate(path).inputs
    assert isinstance(again, InputSet)
    assert again.to_json() == SETS[name].to_json()
    assert again.holds(FRAMES[3].double().tolist())
    assert not again.holds([1.0, -1.0]) or name == "change"


def test_both_directions_of_a_hull() -> None:
    """A bidirectional model is certified over the set too, and its record states it."""
    torch.manual_seed(3)
    made = torch.nn.GRU(2, 3, bidirectional=True)
    with torch.no_grad():
        for part in made.parameters():
            part.mul_(0.4)
    hull, box = (certify_any(made, one, 0.01) for one in (SETS["hull"], BOX))
    assert hull.verdict == "certified"
    assert sum(hull.window(0.01)) <= sum(box.window(0.01))
    stated = record_inputs(hull.to_json()["inputs"])
    assert stated is not None
    assert len(stated["frames"]) == len(torch.unique(FRAMES, dim=0))
    assert math.isfinite(hull.gain)
