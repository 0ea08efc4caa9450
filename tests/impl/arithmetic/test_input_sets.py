"""Sets of inputs: what is bounded over them is; and their certificates are proved anew."""

import json
import math
from pathlib import Path

import pytest
import torch
from draws import normal, small
from flint import arb, fmpq

from rnnbounds.impl.arithmetic.inputs.images import image_of_set
from rnnbounds.impl.arithmetic.inputs.maximisers import BallSet
from rnnbounds.impl.arithmetic.inputs.sets import InputSet, data_box, input_box, input_rows
from rnnbounds.impl.arithmetic.intervals import Interval
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import read_certificate
from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.format.fields import InputBox, RecordError, converted


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


def test_the_ball_that_holds_a_set():
    """Its radius is `float` of the set; no two sets are one."""
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
    assert (float(table), table.to_dict()["rows"]) == (2.0, 2)
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


def test_where_activations_turn():
    """A sine at odd multiples of π/2, of both signs; where balls do not tell, it may turn."""
    sine = BALL_ACTIVATIONS["rnn-sin"]
    still = [(3.0, 3.5), (-1.5, 1.5), (-2.0, -1.6), (1.6, 4.7), (2.0, 2.0)]
    turning = [(1.5, 1.6), (-1.6, -1.5), (1.6, 4.8), (0.0, 100.0), (1e300, 1e300)]
    assert all(sine.monotone(arb(a), arb(b)) for a, b in still)
    assert not any(sine.monotone(arb(a), arb(b)) for a, b in turning)
    assert BALL_ACTIVATIONS["rnn-tanh"].monotone(arb(-9), arb(9))
    assert not BALL_ACTIVATIONS["rnn-gelu"].monotone(arb(1), arb(2))


@pytest.mark.parametrize(
    "more", [{"set": "hull", "frames": [[0.5] * 3]}, {"change": [0.1] * 3}], ids=["hull", "change"]
)
def test_sets_of_earlier_versions_are_refused(more):
    """A certificate that states one is not read as that of a box, nor are its parts skipped."""
    told = certify(small(torch.nn.RNN, 3, 5), inputs=input_box(0.5, 0.75, 3), eps=(1e-3,)).to_dict()
    assert read_certificate(json.dumps(told).encode(), Path("c.json")).inputs is not None
    assert converted(told["inputs"], InputBox).low == [0.5] * 3
    told["inputs"] |= more
    with pytest.raises(InputError, match="no certificate"):
        read_certificate(json.dumps(told).encode(), Path("c.json"))
    with pytest.raises(RecordError):
        converted(told["inputs"], InputBox)


@pytest.mark.parametrize("d", [-1, 0, 2.5, "a", True, 10**12])
def test_numbers_of_channels(d) -> None:
    """A whole number from 1 on."""
    with pytest.raises(InputError, match="the number of channels"):
        input_box(0, 1, d)


@pytest.mark.parametrize(
    "table", [torch.ones(2, 2, device="meta"), torch.eye(2).to_sparse(), torch.eye(2) * 1j]
)
def test_tables_without_plain_numbers(table: torch.Tensor) -> None:
    """Refused in a line."""
    with pytest.raises(InputError, match="must be a tensor of real numbers"):
        input_rows(table)
