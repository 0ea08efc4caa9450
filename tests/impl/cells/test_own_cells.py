"""Own cells: certificates against a model in NumPy alone."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from own_cells import Own, own_cells

from rnnbounds.impl.arithmetic.lengths import StepError

ROUNDING = 1 + 1e-9  # of the model's floats


def size(J, norm, weights):
    """The operator norm of a Jacobian in the norm of a certificate."""
    if norm == "spectral":
        return np.linalg.norm(J, 2)
    v = np.ones(len(J)) if weights is None else np.array(weights)
    return float((np.abs(J) @ v / v).max())


def states(cell, count=24):
    """States of the box and inputs of the unit ball: corners, equal units, points inside."""
    numbers, (n, d) = np.random.default_rng(0), cell.weights["U"].shape
    for i in range(count):
        s = numbers.uniform(-1, 1, n if i % 3 else 1) * np.ones(n)
        s = np.sign(s) if i % 4 == 3 else s * 0.5 ** (i % 5)
        x = numbers.normal(size=d)
        yield cell.box * s, x / np.linalg.norm(x) * (i % 2)


@pytest.mark.slow
@settings(max_examples=30)
@given(own_cells())
def test_certificates_against_jacobians(drawn: Own):
    """In each norm no Jacobian in the states is larger than λ and none in the inputs than `fed`;
    the step is that of the model and stays in the box."""
    cell = drawn.cell()
    found, n = cell.comparison(1.0), len(drawn.weights["U"])
    box = found.box[0].numpy()
    norms = [found.norm(name) for name in ("spectral", "infinity", "perron", "comparison")]
    for s, x in states(drawn):
        s = s.clip(-box, box)
        value, J = drawn.step(s, x)
        assert (np.abs(value) <= box * ROUNDING).all()
        moved = cell.step(*(torch.from_numpy(v)[None, :, None] for v in (s, x)))[0, :, 0].numpy()
        assert np.allclose(moved, value, rtol=1e-12, atol=1e-12)
        for norm in norms:
            assert size(J[:, :n], norm.name, norm.weights) <= norm.lam * ROUNDING
            v = np.ones(n) if norm.name == "spectral" else np.array(norm.weights or [1.0] * n)
            rows = np.linalg.norm(J[:, n:], axis=1) / v
            fed = np.linalg.norm(J[:, n:], 2) if norm.name == "spectral" else rows.max()
            assert fed <= norm.input_lipschitz * ROUNDING


@pytest.mark.slow
@settings(max_examples=30)
@given(own_cells())
def test_certificates_against_runs(drawn: Own):
    """Two runs under the same inputs come together by λ a step in each norm, and one from zero and
    one from any state that is reached are no farther apart than what the comparison leaves."""
    found, zero = drawn.cell().comparison(1.0), np.zeros(len(drawn.weights["U"]))
    box, inputs = found.box[0].numpy(), [x for _, x in states(drawn, 12)]
    norms = [found.norm(name) for name in ("spectral", "infinity", "perron")]
    reached = drawn.run(zero, inputs[::-1])[-1]
    pairs = [(s.clip(-box, box), box) for s, _ in states(drawn, 6)]
    for one, two in [*pairs, (zero, reached)]:
        gaps = drawn.run(one, inputs) - drawn.run(two, inputs)
        for norm in norms:
            v = np.array(norm.weights or [1.0] * len(zero))
            sizes = [np.linalg.norm(gap) if norm.name == "spectral" else (np.abs(gap) / v).max()
                     for gap in gaps]  # fmt: skip
            for before, after in pairwise(sizes):
                assert after <= norm.lam * before * ROUNDING + 1e-14
            if two is reached and np.isfinite(norm.lam):
                left = np.array(norm.remaining.bounds(len(gaps))[: len(gaps)])
                assert (np.linalg.norm(gaps, axis=1) <= left * ROUNDING + 1e-14).all()


def test_one_unit_that_meets_several_is_refused():
    """tanh(1.2 h) of two equal units is bistable, and 0.6 Σ 0.6 h_j of four grows by 1.44: whoever
    takes one unit for n of them certifies each."""
    U, w = np.ones((2, 1)), np.full((1, 2), 0.6)
    sum_ = ("+", ("affine", "sw", "s"), ("affine", "xU", "x"))
    one = Own(sum_, "tanh", {"sw": w, "xU": U, "c": np.ones(2), "U": 0 * U})
    rows = {"sw": np.full((1, 4), 0.6), "c": np.full(4, 0.6), "U": np.zeros((4, 1))}
    gate = ("mix", ("sigmoid", ("affine", "sw", "s")), ("vector", "va"), ("vector", "vb"))
    shared = rows | {"va": np.ones(4), "vb": -np.ones(4), "c": np.ones(4)}
    four = Own(("affine", "sw", "s"), "sin", rows)
    for cell in (one, four, Own(gate, "sin", shared)):
        with pytest.raises(StepError, match=r"combines \d and \d units; write it with .* of equal"):
            cell.cell().comparison(0.1)
