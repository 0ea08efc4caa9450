"""The least k near recorded inputs: what is found holds, k − 1 was tried; windows and pasts."""

import numpy as np
import pytest
import torch

from rnnbounds.impl.cells.runs import Runner
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.memory.calls import measure
from rnnbounds.impl.near import near as limits
from rnnbounds.impl.near.near import (
    Enclosure,
    affordable,
    end_states,
    least,
    near,
    past_inputs,
    spread,
)
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.data.sequences import read_data

T, DELTA = 6, 2.0**-7
EPS = (0.2, 0.05)


def gru() -> tuple[Runner, torch.Tensor]:
    """A module as torch makes it, and windows (6, T, 1) of which the last ones are loud."""
    torch.manual_seed(0)
    runner = Runner.of(load_model(torch.nn.GRU(1, 3)))
    scale = torch.tensor([0.5, 0.5, 1.0, 1.0, 2.0, 2.0], dtype=torch.float64)
    return runner, torch.randn(6, T, 1, dtype=torch.float64) * scale[:, None, None]


@pytest.mark.parametrize("inside", [{*range(4, 10)}, {3, 5, 6, 9}, {1, 7, 8, 9}, {9}, {2, 4, 9}])
def test_least(inside: set[int]) -> None:
    """What is found is inside, and the one below is not."""
    tried: list[int] = []
    found = least(lambda k: tried.append(k) or k in inside, 9)
    assert found in inside
    assert found - 1 not in inside
    assert len(set(tried)) == len(tried) <= 6
    assert found == 9 or found in tried
    assert found == 1 or found - 1 in tried


def test_linear_units_meet_it() -> None:
    """Of a linear unit the enclosure and the gap are what its worst inputs come to."""
    weights = {"weight_hh_l0": torch.tensor([[0.5]]), "weight_ih_l0": torch.ones(1, 1)}
    around = Enclosure(Runner.of(load_model(weights, "linear")), torch.ones(1, 4, 1).double(), 0.25)
    widths = [0, 0.25, 0.375, 0.4375, 0.46875]
    assert around.widths[0, :, 0].tolist() == pytest.approx(widths, rel=1e-12)
    assert float(around.gap(2)) == pytest.approx(1.875 / 4, rel=1e-12)  # h_2 ≤ 1.25 · 1.5
    past = torch.tensor([[2.0]], dtype=torch.float64)
    gaps = around.gaps_after(past, torch.tensor([0.5]).double())[:, 0].tolist()
    assert gaps == pytest.approx([2.5 / 2**t for t in range(5)], rel=1e-12)


def test_windows_that_have_none() -> None:
    """k is then one of the others alone, and of all windows there is none."""
    runner, x = gru()
    last = Enclosure(runner, x, DELTA).gap(T - 1)
    eps = float(last.sort().values[2] * (1 + 1e-6))
    found = near(runner, x, DELTA, (eps, *EPS))
    row, *others = found.rows
    assert (row.k, row.windows) == (None, int((last <= eps).sum()))
    assert 3 <= row.windows < 6
    assert float(Enclosure(runner, x[last <= eps], DELTA).gap(row.shared).amax()) <= eps
    for each in others:
        assert each.k is not None
        assert found.gaps[each.k] <= each.eps
        assert each.k == 1 or float(Enclosure(runner, x, DELTA).gap(each.k - 1).amax()) > each.eps


@pytest.mark.parametrize("recorded", [False, True])
def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch, recorded: bool) -> None:
    """One window at a time comes to what all together do."""
    runner, x = gru()
    pasts = end_states(runner, x[1::2]) if recorded else None
    together = near(runner, x[::2], DELTA, EPS, pasts)
    monkeypatch.setattr(limits, "STEP", 1)
    done: list[int] = []
    apart = near(runner, x[::2], DELTA, EPS, pasts, done=done.append)
    assert done == [1] * 3
    assert [row.k for row in apart.rows] == [row.k for row in together.rows]


def test_windows_are_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first one on, evenly; a measurement has as many as its work pays for."""
    assert spread(3, 10).tolist() == [0, 3, 6]
    assert spread(4, 4).tolist() == [0, 1, 2, 3]
    torch.manual_seed(0)
    module, x = torch.nn.GRU(1, 3), torch.randn(6, T, 1)
    runner = Runner.of(load_model(module))
    monkeypatch.setattr(limits, "WORK", 2.5 * T * runner.products * 48 * 3 * 73)
    found = measure(module, x, eps=0.1, near=DELTA).near
    assert found is not None
    assert affordable(runner, 6, T) == found.windows == 2
    assert found.to_dict() == near(runner, x[[0, 3]].double(), DELTA, (0.1,)).to_dict()
    with pytest.raises(InputError, match="cut shorter windows with --window"):
        affordable(runner, 6, 10**9)


def test_pasts_are_stretches_of_the_data() -> None:
    """As long as a window, from the first on, evenly; all where there are few."""
    data = read_data(np.arange(3 * 5, dtype=float).reshape(3, 5, 1))
    assert past_inputs(data, 5)[:, 0, 0].tolist() == [0, 5, 10]
    assert past_inputs(data, 4)[:, 0, 0].tolist() == [0, 1, 5, 6, 10, 11]


def test_what_is_no_activation_is_refused() -> None:
    """Of states; a function of parameters alone moves no run."""
    torch.manual_seed(0)

    def program(m, s, x):
        return m.vector("b").exp() * s.tanh() + x.cos()

    runner = Runner(program, {"b": torch.zeros(1, 1).double()}, 1, 1)
    with pytest.raises(InputError, match="the step of the cell takes cos of its states"):
        Enclosure(runner, torch.zeros(1, 2, 1).double(), 0.5).gap(1)
