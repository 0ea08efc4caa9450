"""Tubes: no run near the recorded one leaves them, of any cell, from any of the stated states."""

import math

import numpy as np
import pytest
import torch
from flint import arb, ctx

from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.cells.table import CELLS
from rnnbounds.impl.errors import InputError, RangeError
from rnnbounds.impl.memory import exact
from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.memory.tube import near as limits
from rnnbounds.impl.memory.tube import runs
from rnnbounds.impl.memory.tube.near import NearCertificate, near
from rnnbounds.impl.memory.tube.runs import Around
from rnnbounds.impl.memory.tube.zonotopes import Zonotope
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.properties.systems.certified.near import NearData
from rnnbounds.properties.systems.certified.near_batch import near_model, recorded_inputs
from rnnbounds.properties.systems.certified.specs import COMMON, RARE_STACKS

T, DELTA, START = 6, 2.0**-5, 2.0**-4


def tube(cell: str, start: float = 0.0, **fields: object) -> Around:
    """Around a recorded sequence of a model of that kind."""
    layers = 2 if cell.startswith(("stacked", "deep")) else 1
    told = {"n": 2, "lam": 1.5, "scale": 1.0, "bias": 0.5, "seed": 7} | fields
    spec = NearData(
        cell=cell, T=T, K=T, regime="gaussian", inputs="gaussian", layers=layers, distance=DELTA,
        **told,
    )  # fmt: skip
    return Around(Runner.of(near_model(spec, 0)), recorded_inputs(spec, 0)[None], DELTA, start)


def shots(around: Around, count: int = 12) -> tuple[torch.Tensor, torch.Tensor]:
    """Starts and inputs of the set: corners, and what is drawn inside."""
    rng = torch.Generator().manual_seed(3)

    def share(*shape: int) -> torch.Tensor:
        draws = torch.rand(count, *shape, generator=rng, dtype=torch.float64) * 2 - 1
        draws[: count // 2] = draws[: count // 2].sign()
        draws[0] = 1.0
        return draws

    starts = around.start * share(around.runner.states)
    return starts, around.x + around.delta * share(*around.x.shape[1:])


def run(around: Around, start: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """States in float64, (M, T + 1, N)."""
    s, found = start[None], [start[None]]
    for t in range(x.shape[1]):
        s = around.runner.step(s, x[None, :, t])
        found.append(s)
    return torch.cat(found).transpose(0, 1)


SLACK = 1e-11  # of float64 runs; what is asked of them is much larger


RNNS = tuple(name for name in CELLS if name.startswith("rnn-"))


@pytest.mark.slow
@pytest.mark.parametrize("cell", [*COMMON, *RARE_STACKS, *RNNS])
@pytest.mark.parametrize("start", [0.0, START, 1.0])
def test_no_run_leaves(cell: str, start: float) -> None:
    """Nor are two runs further apart than the gap says, from any states of the set each."""
    around = tube(cell, start)
    starts, x = shots(around)
    seen = run(around, starts, x)
    states = torch.stack([stage.s[0] for stage in around.stages], dim=1)
    assert ((seen - states).abs() <= around.widths + SLACK).all()
    n = around.runner.n
    for k in (0, 1, 3, T):
        late = run(around, starts.roll(1, 0), x[:, T - k :])[:, -1, -n:]
        gaps = torch.linalg.vector_norm(seen[:, -1, -n:] - late, dim=1)
        assert (gaps <= around.gaps(k) + SLACK).all()


@pytest.mark.parametrize("cell", ["rnn-tanh", "lstm", "gru"])
@pytest.mark.parametrize("start", [0.25, 1.0])
@pytest.mark.parametrize("lam", [1.5, 64.0])
def test_no_tube_leaves_the_box(cell: str, start: float, lam: float) -> None:
    """|h| ≤ 1 of these cells, however steep they are, and so two runs are within 2√n."""
    around, n = tube(cell, start, lam=lam), 2
    for stage in around.stages:
        assert (stage.ends.high[..., -n:] <= 1 + SLACK).all()
        assert (stage.ends.low[..., -n:] >= -1 - SLACK).all()
        assert (stage.reach <= stage.ends.radius(stage.s)[0]).all()
    assert (around.gaps(2) <= 2 * n**0.5 + SLACK).all()


def test_linear_units_meet_it() -> None:
    """Of a linear unit the tube and the gap are what its worst inputs come to."""
    cell = load_model(
        {"weight_hh_l0": torch.tensor([[0.5]]), "weight_ih_l0": torch.ones(1, 1)}, "linear"
    )
    around = Around(Runner.of(cell), torch.ones(1, 4, 1, dtype=torch.float64), 0.25, 0.5)
    assert around.widths[0, :, 0].tolist() == pytest.approx([0.5, 0.5, 0.5, 0.5, 0.5], rel=1e-12)
    # h_2 ≤ 1.5·1.25 + 0.125, less the other run's −0.5, halved twice.
    assert float(around.gaps(2)) == pytest.approx((1.875 + 0.125 + 0.5) / 4, rel=1e-12)


def test_what_rounding_alone_moves_is_within() -> None:
    """Around one sequence exactly, the run in balls is held, and hardly more."""
    around = tube("lstm")
    alone = Around(around.runner, around.x, 0.0)
    with ctx.workprec(200):
        (true,) = zip(*exact.enclosed(alone.runner, alone.x).units, strict=True)
    n = alone.runner.n
    last, width = alone.stages[-1].s[0, 0, -n:].tolist(), alone.widths[0, -1, -n:].tolist()
    for exactly, told, room in zip(true, last, width, strict=True):
        assert abs(exactly - arb(told)) <= arb(room)
        assert room < 1e-13


def test_few_generators_hold_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tube is only wider where the rest of its generators go to the box."""
    wide = tube("gru", START)
    monkeypatch.setattr(runs, "LEAST", 1)
    monkeypatch.setattr(runs, "MOST", 1)
    monkeypatch.setattr(runs, "KEPT", 1)
    few = tube("gru", START)
    assert few.order == 1
    starts, x = shots(few)
    states = torch.stack([stage.s[0] for stage in few.stages], dim=1)
    assert ((run(few, starts, x) - states).abs() <= few.widths + SLACK).all()
    assert float(few.widths.amax()) >= float(wide.widths.amax()) * (1 - 1e-12)
    assert float(few.gaps(2)) > 0


def test_reduced_sets_hold_what_they_held() -> None:
    """Each generator that is not kept is within the box that takes its place."""
    G = torch.tensor(np.random.default_rng(0).integers(-8, 9, (1, 3, 20)) / 8.0)
    box = torch.tensor([[0.5, 0.0, 0.25]], dtype=torch.float64)
    whole = Zonotope(G, box)
    some = whole.unboxed(9)
    assert some.generators.shape[-1] == 9
    assert not some.box.any()
    assert (some.reach >= whole.spread + box).all()


@pytest.mark.parametrize("size", [1e200, 1e308])
def test_what_overflows_is_not_known(size: float) -> None:
    """Infinite widths and gaps, not NaN and no bound."""
    weights = {"weight_hh_l0": torch.full((2, 2), size, dtype=torch.float64),
               "weight_ih_l0": torch.full((2, 1), size, dtype=torch.float64)}  # fmt: skip
    for cell in ("linear", "rnn-relu"):
        around = Around(
            Runner.of(load_model(weights, cell)), torch.ones(1, 4, 1, dtype=torch.float64), 0.5
        )
        assert math.isinf(float(around.widths[0, -1].amax()))
        assert math.isinf(float(around.gaps(1)))


def lstm() -> tuple[Runner, torch.Tensor]:
    """A module as torch makes it, and three windows."""
    torch.manual_seed(0)
    module = torch.nn.LSTM(1, 2)
    return Runner.of(load_model(module)), torch.randn(3, 7, 1, dtype=torch.float64)


def test_the_least_k_that_is_found() -> None:
    """Is good for its ε, and the smaller k that was tried is not."""
    runner, x = lstm()
    found = near(runner, x, 2.0**-8, (0.05, 1e-30))
    around = [Around(runner, window[None], 2.0**-8) for window in x]
    for eps, k in found.windows_of[:1]:
        assert k is not None
        assert max(float(one.gaps(k)) for one in around) == found.gaps[k] <= eps
        assert max(float(one.gaps(k - 1)) for one in around) > eps
    assert found.windows_of[1] == (1e-30, None)
    assert "larger ε" in str(found.advice)
    assert found.to_json()["memory"][0]["k"] == found.windows_of[0][1]


def test_what_is_said_to_make_it_smaller_is_not_zero() -> None:
    """Of a tube that grows from states alone no smaller --near is asked for."""
    runner, x = lstm()
    kept = NearCertificate(0.0, 0.05, 0, 3, 7, math.inf, {}, ((0.1, None),))
    assert "take a smaller --states or shorter windows" in str(kept.advice)
    open_ = near(runner, x, 0.0, (1e-30,), states=0.05)
    assert open_.advice == "take a smaller --states or a larger ε or longer windows"
    both = NearCertificate(0.1, 0.05, 0, 3, 7, math.inf, {}, ((0.1, None),))
    assert "take a smaller --near or a smaller --states or shorter windows" in str(both.advice)


def test_what_blows_up_is_undecided() -> None:
    """No k, a width that is null in JSON, and what to do."""
    runner, x = lstm()
    found = near(runner, x * 100, 1e3, (0.1,))
    told = found.to_json()
    if math.isinf(found.width):
        assert told["width"] is None
    nothing = {"windows": 0, "k": None, "median": None, "largest": None}
    assert told["memory"] == [{"eps": 0.1, "k": None, "certified": nothing}]
    assert "smaller --near" in told["advice"]


def test_work_and_memory_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many windows as are paid for; one that is too large is refused with what to do."""
    runner, _ = lstm()
    one = 9 * 7 * runner.products * 9 * 48 * runner.states / 1e9
    assert [limits.affordable(runner, 3, 7, 0, one * w) for w in (0, 1, 2.5, 9)] == [1, 1, 2, 3]
    with pytest.raises(RangeError, match="work"):
        limits.affordable(runner, 3, 7, 0, -1.0)
    monkeypatch.setattr(limits, "LARGEST", 1)
    with pytest.raises(InputError, match="--window"):
        limits.affordable(runner, 3, 7)


class Feedforward:
    """h⁺ = tanh(U x), as a user may register it."""

    def __call__(self, m: Arithmetic[V], s: V, x: V, /) -> V:
        return m.affine("U", None, x).tanh()


def test_a_step_that_sees_no_state() -> None:
    """Both runs are alike after one input; states lie within δ of what was computed there."""
    U = torch.tensor([[[0.5, -0.25], [1.0, 0.5]]], dtype=torch.float64)
    x = torch.zeros(1, 3, 2, dtype=torch.float64)
    around = Around(Runner(Feedforward(), {"U": U}, 2, 2), x, 0.125, 0.5)
    assert around.widths[0, 0].tolist() == pytest.approx([0.5, 0.5])
    assert float(around.widths[0, 3, 1]) >= math.tanh(0.125 * 1.5)
    assert float(around.gaps(0)) >= math.hypot(math.tanh(0.09375), math.tanh(0.1875))
    assert float(around.gaps(1)) < 1e-14
