"""Streams: windows run from recorded end states, against the run from zero."""

from fractions import Fraction

import pytest
import torch
from draws import normal
from flint import arb, arb_mat, ctx

from rnnbounds.impl.arithmetic.entries.balls import Balls, Columns
from rnnbounds.impl.memory.exact import after_pasts
from rnnbounds.impl.memory.measure import measure
from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.memory.streams import Streams, first_within, spread, streams
from rnnbounds.impl.memory.tube.pasts import end_states, later
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.data.recordings import Windows

ALPHA, T = Fraction(1, 100), 9


def parts(cell: str = "lstm") -> tuple[Runner, torch.Tensor]:
    """A module as torch makes it, and windows (12, T, 1)."""
    torch.manual_seed(0)
    module = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[cell](1, 3)
    return Runner.of(load_model(module)), torch.randn(12, T, 1, dtype=torch.float64)


def windows(x: torch.Tensor) -> Windows:
    """As they are cut from a recording."""
    M, T, d = x.shape
    return Windows(x.reshape(-1, d).numpy(), torch.arange(0, M * T, T).numpy(), T, M)


def asked(runner: Runner, x: torch.Tensor, eps: float = 0.05) -> Streams:
    """What is seen and stated of windows."""
    found = streams(runner, windows(x), (eps,), ALPHA)
    assert found is not None
    return found


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_gaps_are_those_of_single_runs(cell: str) -> None:
    """The largest over all pasts and all later times, of a run each; the bound is above what
    balls compute."""
    runner, x = parts(cell)
    x, pasts = x[:2], end_states(runner, x[2:5])
    seen, upper = spread(runner, x, pasts)
    m, n = Balls({name: part[0] for name, part in runner.parameters.items()}), runner.n
    for window in range(2):
        with ctx.workprec(200):
            gaps = []
            ends = [Columns.of(arb_mat(s[:, None].tolist())) for s in [pasts[0] * 0, *pasts]]
            for t in range(T + 1):
                if t:
                    u = Columns.of(arb_mat(x[window, t - 1][:, None].tolist()))
                    ends = [runner.program(m, s, u) for s in ends]
                zero, *others = [s.part(runner.states - n, runner.states) for s in ends]
                apart = [[a[0] for a in (s - zero).units] for s in others]
                gaps.append(max(sum((a * a for a in one), arb(0)).sqrt() for one in apart))
            for k in range(T + 1):
                worst = max(gaps[k:])
                assert worst <= arb(float(upper[window, k]))
                assert float(seen[window, k]) == pytest.approx(float(worst.mid()), rel=1e-9)
                assert float(upper[window, k]) == pytest.approx(float(worst.mid()), rel=1e-6)


def test_k_is_chosen_on_the_first_half() -> None:
    """And tried on the others, of which nothing enters the pasts or k."""
    runner, x = parts()
    one, other = asked(runner, x), asked(runner, torch.cat([x[:6], 3 * x[6:]]))
    assert torch.equal(one.gaps, other.gaps)
    assert one.pasts == 6
    assert one.held == 6
    (line,) = one.lines
    assert line.k == first_within(one.gaps, 0.05) == one.window(0.05)
    beyond = (spread(runner, x[6:], end_states(runner, x[:6]))[0][:, line.k] > 0.05).sum()
    assert line.beyond == int(beyond)
    assert asked(runner, x, 1e-9).lines[0].share is None


def test_what_rounding_leaves_open_is_decided_in_balls(monkeypatch) -> None:
    """Runs come together in other coordinates than their own, in which bounds on rounding explode.
    The windows within ε count as such, and what no work is left for says that it is undecided."""
    P, Q = normal(6, 6), torch.linalg.qr(normal(6, 6, seed=1))[0]
    weights = {"weight_hh": 0.6 * P @ Q @ P.inverse(), "weight_ih": normal(6, 1, seed=2)}
    runner, x = Runner.of(load_model(weights, "linear")), normal(12, 60, 1, seed=3)
    pasts = end_states(runner, x[:6])
    seen, upper = spread(runner, x[6:], pasts)
    assert (seen[:, 30] < 1e-3).all()
    assert (upper[:, 30] > 0.5).all()
    (line,) = asked(runner, x, 0.5).lines
    fine = seen[:, line.k] <= 0.5
    assert fine.any()
    assert (line.beyond, line.undecided) == (int((~fine).sum()), 0)
    with ctx.workprec(256):
        for k, eps in ((1, 0.5), (30, 1e-3), (30, 1e-12)):
            told = after_pasts(runner, x[6:], pasts, k, eps)
            assert torch.equal(told.inside, seen[:, k] <= eps)
            assert not told.undecided.any()
    monkeypatch.setattr("rnnbounds.impl.memory.streams.BALLS", 0)
    (line,) = asked(runner, x, 0.5).lines
    assert (line.beyond, line.undecided) == (6, int(fine.sum()))


def test_a_gap_that_grows_again_counts() -> None:
    """At every earlier time, too."""
    gaps = torch.tensor([[4.0, 1.0, 3.0, 2.0], [0.0, 0.0, 1.0, 1.0]])
    assert later(gaps).tolist() == [[4, 3, 3, 2], [1, 1, 1, 1]]
    assert first_within(later(gaps), 2) == 3
    assert first_within(later(gaps), 1) is None


def test_a_reset_moves_no_output_further() -> None:
    """Of a stream that is set to zero where a window begins."""
    runner, x = parts("gru")
    pasts = end_states(runner, x[:6])
    gaps = spread(runner, x[:1], pasts)[0][0]
    s, zero = pasts[None], runner.zero(6)
    for t in range(T):
        inputs = x[:1, t].expand(6, -1)[None]
        s, zero = runner.step(s, inputs), runner.step(zero, inputs)
        moved = float((s - zero)[0, :, -runner.n :].norm(dim=1).amax())
        assert moved <= float(gaps[1]) + 1e-12
        assert moved <= float(gaps[t + 1]) + 1e-12


def test_a_measurement_has_them() -> None:
    """Where there are windows for two pasts, with what is stated of others."""
    module = torch.nn.GRU(1, 2)
    found = measure(module, torch.randn(40, 6, 1), eps=(0.5, 0.1))
    assert found.streams is not None
    assert len(found.streams.lines) == 2
    record = found.to_json()["streams"]
    assert record["pasts"] == 20
    assert len(record["memory"]) == 2
    assert record["reset"] == float(found.streams.gaps[:, 1].amax())
    assert measure(module, torch.randn(3, 6, 1), eps=0.1).streams is None
