"""Sets of inputs: what is bounded over them is; and their certificates are proved anew."""

import json
import math
from pathlib import Path

import pytest
import torch
from checked import seal_of
from draws import normal
from flint import arb, fmpq
from safetensors.torch import load_file, save_file

from rnnbounds.impl.arithmetic.inputs.input_images import image_of_set
from rnnbounds.impl.arithmetic.inputs.maximisers import BallSet
from rnnbounds.impl.arithmetic.inputs.sets import InputSet, data_box, input_box, input_rows
from rnnbounds.impl.arithmetic.intervals import Interval
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.document import read_certificate
from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS
from rnnbounds.impl.checker.truncated import check_truncated
from rnnbounds.impl.convert.files import save_truncated
from rnnbounds.impl.convert.truncate import truncate
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.format.fields import RecordError, converted
from rnnbounds.impl.format.input_sets import StatedSet, record_inputs
from rnnbounds.impl.format.sealed import TRUNCATED


def rnn(kind: type[torch.nn.RNNBase] = torch.nn.RNN, d: int = 3, n: int = 5, scale: float = 0.5):
    """A small module."""
    torch.manual_seed(1)
    made = kind(d, n)
    with torch.no_grad():
        for part in made.parameters():
            part.mul_(scale)
    return made


def within(inputs: InputSet, W: torch.Tensor, x: torch.Tensor) -> None:
    """W x of an input lies in what is told of the set, in rationals."""
    told = image_of_set(inputs, W, Interval)
    for i, row in enumerate(W[0].tolist()):
        exact = sum((fmpq(*w.as_integer_ratio()) * fmpq(*a.as_integer_ratio())
                     for w, a in zip(row, x.tolist(), strict=True)), fmpq(0))  # fmt: skip
        low, high = float(told.low[0, i]), float(told.high[0, i])
        assert fmpq(*low.as_integer_ratio()) <= exact <= fmpq(*high.as_integer_ratio())


def test_affine_maps_of_sets():
    """At the corners of a box, at every row of a table, of every scale; and the box is tight."""
    for scale in (1.0, 1e-150, 1e150):
        W = normal(1, 4, 3) * scale
        ends = normal(2, 3, seed=1)
        box = input_box(ends.amin(0), ends.amax(0))
        for signs in torch.tensor([[0, 0, 0], [1, 0, 1], [1, 1, 1], [0, 1, 0]]):
            within(box, W, torch.where(signs == 1, box.high, box.low))
        rows = input_rows(normal(7, 3, seed=2))
        assert rows.rows is not None
        for row in rows.rows:
            within(rows, W, row)
        exact = (W[0] @ rows.rows.mT).aminmax(dim=1)
        told = image_of_set(rows, W, Interval)
        assert torch.allclose(told.low[0], exact.min, rtol=1e-12, atol=0)
        assert torch.allclose(told.high[0], exact.max, rtol=1e-12, atol=0)


def test_a_set_is_a_number_that_holds_it():
    """Whoever knows of balls alone is told of one that holds the set; no two sets are one."""
    box = input_box(-3.0, 4.0, 2)
    assert float(box) >= math.hypot(4, 4)
    other = input_box(-3.0, 4.0, 2)
    assert len({box, other}) == 2
    assert box.holds((4.0, -3.0))
    assert not box.holds((4.5, 0.0))
    near = data_box(5.0, (torch.tensor([0.0]), torch.tensor([5.0])), 0.5)
    assert (float(near), near.low.item(), near.high.item()) == (5.5, -0.5, 5.5)
    assert near.what == "the box around the data and all within 0.5 of it"
    assert data_box(5.0, (near.low, near.high)).what == "the box around the data"
    table = input_rows(torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 0.0]]))
    assert (float(table), table.to_json()["rows"]) == (2.0, 2)
    assert table.holds((1.0, 0.0))
    assert not table.holds((0.5, 1.0))


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1.0, 1e300])
def test_the_furthest_input_is_at_the_edge_for_gradients_of_any_size(size: float):
    """Of a ball of radius 2, towards the first axis."""
    (x,) = BallSet(2.0).maximiser(torch.tensor([[size, 0.0]], dtype=torch.float64))
    assert 1.99 < float(x[0]) <= 2
    assert float(x[1]) == 0


def test_a_set_is_its_own():
    """The tensors that it was made of may change, it does not."""
    low, high = torch.zeros(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
    box = input_box(low, high)
    low -= 5
    high += 5
    assert (box.low.tolist(), box.high.tolist()) == ([0.0, 0.0], [1.0, 1.0])


@pytest.mark.parametrize("kind", [torch.nn.RNN, torch.nn.LSTM, torch.nn.GRU])
def test_less_is_said_of_more(kind: type[torch.nn.RNNBase]):
    """A set is certified no worse than its box, and that no worse than its ball; the certificate
    says which."""
    table = normal(9, 3, seed=4).float() * 0.7 + 0.5
    rows = input_rows(table, "the rows of embed.weight")
    told = [certify(rnn(kind, scale=0.25), one) for one in (float(rows), rows.box, rows)]
    drives = [one.constants["drive"] for one in told]
    ks = [one.windows[-1][1] for one in told]
    assert None not in ks
    assert ks == sorted(ks, reverse=True)
    assert drives[2] < drives[0] or kind is not torch.nn.RNN
    assert told[0].to_json()["inputs"] is None
    record = told[2].to_json()["inputs"]
    assert (record["set"], record["what"], record["rows"]) == (
        "rows",
        "the rows of embed.weight",
        9,
    )
    assert told[2].speaks_of.startswith("every x_t in the rows of embed.weight, ‖x_t‖₂ ≤ ")


def test_a_witness_is_of_the_set():
    """Two fixed points under x = 0 refute over a ball, others under inputs of a box without 0; and
    none where the inputs of the box hold the state on one side."""
    cell = {"weight_hh": torch.tensor([[3.0]]), "weight_ih": torch.tensor([[0.001]])}
    assert certify(cell, 1.0, cell="rnn-tanh").witness.input == (0.0,)
    box = input_box(0.5, 1.0, 1)
    told = certify(cell, box, cell="rnn-tanh")
    assert told.verdict == "refuted"
    assert box.holds(told.witness.input)
    cell["weight_ih"] = torch.tensor([[8.0]])
    assert certify(cell, 1.0, cell="rnn-tanh").verdict == "refuted"
    assert certify(cell, box, cell="rnn-tanh").verdict == "undecided"


@pytest.mark.parametrize("ends", [(3.0, 3.5), (3.0, 3.000001), (1.5, 1.75), (-1.5, 0.25)])
def test_a_box_of_a_sine_is_proved_anew(tmp_path, ends: tuple[float, float]):
    """Intervals where the sine falls, where it is flat, and where it turns."""
    weights = {"weight_hh": torch.tensor([[0.3]]), "weight_ih": torch.tensor([[1.0]])}
    module, told = truncate(weights, 1e-2, input_box(*ends, 1), cell="rnn-sin")
    save_truncated(module, told, tmp_path / "t.safetensors")
    assert all(found.holds for found in check_truncated(tmp_path / "t.safetensors")[1])


def test_where_activations_turn():
    """A sine at odd multiples of π/2, of both signs; where balls do not tell, it may turn."""
    sine = BALL_ACTIVATIONS["rnn-sin"]
    still = [(3.0, 3.5), (-1.5, 1.5), (-2.0, -1.6), (1.6, 4.7), (2.0, 2.0)]
    turning = [(1.5, 1.6), (-1.6, -1.5), (1.6, 4.8), (0.0, 100.0), (1e300, 1e300)]
    assert all(sine.monotone(arb(a), arb(b)) for a, b in still)
    assert not any(sine.monotone(arb(a), arb(b)) for a, b in turning)
    assert BALL_ACTIVATIONS["rnn-tanh"].monotone(arb(-9), arb(9))
    assert not BALL_ACTIVATIONS["rnn-gelu"].monotone(arb(1), arb(2))


def test_forged_boxes(tmp_path):
    """A box that is wider than what was certified falls; one that is none is not read."""
    weights = {name: 0.3 * part.detach() for name, part in rnn().state_dict().items()}
    module, told = truncate(weights, 1e-3, input_box(0.5, 0.75, 3), cell="rnn-tanh")
    assert told["information"]["inputs"] == "[0.5, 0.75], each of 3 channels"
    path = tmp_path / "t.safetensors"

    def forged(**change) -> set[str]:
        record = json.loads(json.dumps(told))
        record["inputs"] |= change
        save_truncated(module, told, path)
        text = json.dumps(record, sort_keys=True)
        meta = {"format": TRUNCATED.format, "k": str(module.k), "cell": "rnn-tanh"}
        meta["output"] = "all"
        meta["certificate"] = text
        tensors = load_file(path)
        save_file(tensors, path, meta | {"sha256": seal_of(meta, tensors)})
        return {found.name for found in check_truncated(path)[1] if not found.holds}

    assert forged() == set()
    assert "drive" in forged(high=[2.0, 2.0, 2.0])
    assert "drive" in forged(low=[-7.0, 0.0, 0.75], high=[-0.75, 0.0, 0.75])
    for wrong in (
        {"low": [1.0, 1.0, 1.0]},
        {"high": [1.0]},
        {"set": "rows"},
        {"set": "hull", "frames": [[0.5, 0.5, 0.5]]},  # as of an earlier version
        {"change": [0.1, 0.1, 0.1]},
        {"what": "[0, 1]"},
        {"rows": None},
        {"low": [5.0, 0.0, 0.0], "high": [6.0, 0.0, 0.0]},  # beyond ‖x‖₂ ≤ B
    ):
        with pytest.raises(InputError, match="holds no readable certificate"):
            forged(**wrong)


@pytest.mark.parametrize(
    "more", [{"set": "hull", "frames": [[0.5] * 3]}, {"change": [0.1] * 3}], ids=["hull", "change"]
)
def test_sets_of_earlier_versions_are_refused(more):
    """A certificate that states one is not read as that of a box, nor are its parts skipped."""
    told = certify(rnn(scale=0.25), input_box(0.5, 0.75, 3), (1e-3,)).to_json()
    assert read_certificate(json.dumps(told).encode(), Path("c.json")).inputs is not None
    assert converted(record_inputs(told["inputs"]), StatedSet).low == [0.5] * 3
    told["inputs"] |= more
    with pytest.raises(InputError, match="no certificate"):
        read_certificate(json.dumps(told).encode(), Path("c.json"))
    with pytest.raises(RecordError):
        converted(record_inputs(told["inputs"]), StatedSet)
