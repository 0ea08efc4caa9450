"""No run near a recorded one leaves its enclosure, and no two come further apart than is told.

Small cells on recorded inputs are attacked, inside of the boxes of inputs and starts and at corners
to which slopes lead. Bounds on the rounding of each run make sure that what convicts is certain.
"""

from typing import Any, NamedTuple

import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from torch import Tensor

from rnnbounds.impl.arithmetic.base import Floats, Rows
from rnnbounds.impl.arithmetic.running import Running, RunningError
from rnnbounds.impl.cells.runs import Runner
from rnnbounds.impl.near.near import Enclosure, end_states, near, radius
from rnnbounds.impl.reading.adapters import load_model

MODULES = {"rnn-tanh": torch.nn.RNN, "lstm": torch.nn.LSTM, "gru": torch.nn.GRU}
GRID, ASCENTS, SHOTS = 64, 2, 96
Runs = list[Any]  # states (1, S, N) at each time, as numbers of an arithmetic


class Case(NamedTuple):
    """A model, windows (M, T, d) of recorded inputs, and δ."""

    runner: Runner
    x: Tensor
    delta: float
    by: torch.Generator


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """One to three units with weights of any size, perhaps a readout; corners are exact floats."""
    kind, by = draw(st.sampled_from(sorted(MODULES))), torch.Generator()
    n, d, T = (draw(st.integers(1, most)) for most in (3, 2, 5))
    by.manual_seed(draw(st.integers(0, 2**16)))

    def drawn(*shape: int) -> Tensor:
        return (torch.randn(*shape, generator=by, dtype=torch.float64) * GRID).round() / GRID

    scale = draw(st.sampled_from((0.5, 1.0, 2.0)))
    shapes = {name: part.shape for name, part in MODULES[kind](d, n).state_dict().items()}
    weights = {name: scale * drawn(*shape) for name, shape in shapes.items()}
    asked = {"layer": "."}
    if draw(st.booleans()):
        weights["head.weight"], asked["readout"] = 4 * drawn(2, n), "head"
    runner = Runner.of(load_model(weights, kind, **asked))
    return Case(runner, drawn(4, T, d), draw(st.sampled_from((2.0**-8, 2.0**-4, 0.5))), by)


def run(case: Case, m: Any, start: Any, x: Tensor) -> Runs:
    """A run over an arithmetic from a state (1, S, N) on inputs (S, T, d)."""
    made, found = Rows if isinstance(m, Floats) else RunningError.exactly, [start]
    for inputs in x.unbind(1):
        found.append(case.runner.program(m, found[-1], made(inputs[None])))
    return found


def apart(case: Case, m: Any, one: Any, other: Any) -> Any:
    """h − h′ of two runs, or f(h) − f(h′)."""
    units = case.runner.states - case.runner.n, case.runner.states
    return case.runner.apart(m, one.part(*units), other.part(*units))


def truncated(case: Case, m: Any, runs: Runs, x: Tensor) -> list[Any]:
    """The run in full less the one on the last k inputs, for k = 0 … T."""
    T, zero = x.shape[1], runs[0].constant(0.0)
    return [apart(case, m, runs[-1], run(case, m, zero, x[:, T - k :])[-1]) for k in range(T + 1)]


def beside(case: Case, m: Any, runs: Runs, x: Tensor) -> list[Any]:
    """The run less the one from zero on the same inputs, at t = 0 … T."""
    others = run(case, m, runs[0].constant(0.0), x)
    return [apart(case, m, one, other) for one, other in zip(runs, others, strict=True)]


def shots(case: Case, x: Tensor, centre: Tensor, side: Tensor, pairs: Any) -> tuple[Tensor, Tensor]:
    """Starts (S, N) and inputs (S, T, d) of the boxes: inside, at corners, and at those that are
    climbed to on one of the pairs, or on an entry of the state; a quarter each."""
    rows, m = torch.arange(SHOTS), Floats(case.runner.parameters)

    def moved(*shape: int) -> Tensor:
        inside = torch.rand(SHOTS, *shape, generator=case.by, dtype=torch.float64) * 2 - 1
        corner = (rows % 4 > 0).reshape(-1, *[1] * len(shape))
        return torch.where(corner, inside.sign(), (inside * GRID).round() / GRID)

    moves = [moved(*x.shape[1:]), moved(case.runner.states)]
    for _ in range(ASCENTS):
        moves = [part.detach().requires_grad_() for part in moves]
        inputs = x + case.delta * moves[0]
        runs = run(case, m, Rows((centre + side * moves[1])[None]), inputs)
        gaps = torch.stack([one.value[0] for one in pairs(case, m, runs, inputs)])
        gap = gaps[rows // 4 % len(gaps), rows].square().sum(1)
        entry = runs[-1].value[0, rows, rows // 8 % case.runner.states] * (1 - rows // 4 % 2 * 2)
        goal = torch.where(rows % 4 == 2, gap, entry).sum()
        slopes = torch.autograd.grad(goal, moves, materialize_grads=True)
        moves = [
            torch.where((rows % 4 > 1).reshape(-1, *[1] * (part.ndim - 1)), slope.sign(), part)
            for slope, part in zip(slopes, moves, strict=True)
        ]
    return centre + side * moves[1].detach(), x + case.delta * moves[0].detach()


def attacked(case: Case, x: Tensor, centre: Tensor, side: Tensor, pairs: Any) -> tuple[Runs, Any]:
    """Runs with bounds on their rounding, and at most how far each pair is apart, (P, S)."""
    start, inputs = shots(case, x, centre, side, pairs)
    m, exact = Running(case.runner.parameters), RunningError.exactly(start[None])
    told = pairs(case, m, runs := run(case, m, exact, inputs), inputs)
    sizes = [(one.value.abs() - one.error).clamp(min=0.0).norm(dim=2) for one in told]
    return runs, torch.cat(sizes) * (1 - 2.0**-40)


KEPT = settings(max_examples=settings.default.max_examples // 12, phases=[Phase.generate])


@KEPT
@given(cases())
def test_from_zero(case: Case) -> None:
    """States are in the enclosure, gaps at k below what is told, and within ε at a certified k."""
    enclosure, T = Enclosure(case.runner, case.x[:2], case.delta), case.x.shape[1]
    zero = torch.zeros(SHOTS, case.runner.states, dtype=torch.float64)
    told = torch.stack([enclosure.gap(k) for k in range(T + 1)])
    which = (torch.arange(SHOTS) >= SHOTS // 2).long()
    runs, gaps = attacked(case, case.x[which], zero, zero[0], truncated)
    for t, (stage, s) in enumerate(zip(enclosure.stages, runs, strict=True)):
        assert ((s.value - stage.s[:, which]).abs() - s.error <= enclosure.widths[which, t]).all()
        assert (s.value + s.error >= stage.ends.low[:, which]).all()
        assert (s.value - s.error <= stage.ends.high[:, which]).all()
    assert (gaps <= told[:, which]).all()
    found = near(case.runner, case.x[:2], case.delta, sorted(set(told[1].tolist())))
    assert all((gaps[row.k] <= row.eps).all() for row in found.rows if row.k is not None)


@KEPT
@given(cases())
def test_from_recorded_pasts(case: Case) -> None:
    """From all within 0.001 of the range of each entry around recorded end states: at t = k … T."""
    pasts, x = end_states(case.runner, case.x[1:]), case.x[:1]
    side = (pasts.amax(0) - pasts.amin(0)) * (0.001 * (1 - 2.0**-40))
    told = Enclosure(case.runner, x, case.delta).gaps_after(pasts, radius(pasts))[:, 0]
    centre = pasts[torch.arange(SHOTS) % len(pasts)]
    _, gaps = attacked(case, x.expand(SHOTS, -1, -1), centre, side, beside)
    worst = gaps.amax(1).flip(0).cummax(0).values.flip(0)
    assert (worst <= told).all()
    found = near(case.runner, x, case.delta, sorted({*told[1:3].tolist()}), pasts)
    assert all(worst[row.k] <= row.eps for row in found.rows if row.k is not None)
