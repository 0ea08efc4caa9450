"""Systems near recorded inputs: all that is drawn is that near, and is read alike in balls."""

import pytest
import torch
from msgspec.structs import replace
from rnnbounds.properties.systems.certified.near import worst_near_specs
from rnnbounds.properties.systems.certified.near_batch import (
    last_slopes,
    near_certificate,
    near_model,
    recorded_inputs,
    recorded_pasts,
)
from seen import readings

from rnnbounds.impl.cells.runs import Runner
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.certified.specs import COMMON
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import make_spec

SPEC = make_spec(
    "near", cell="lstm", regime="gaussian", inputs="gaussian", n=2, d=2, T=3, K=3, scale=4.0,
    distance=2.0**-6, start=0.25, seed=5, sequences=8,
)  # fmt: skip
OTHERS = {
    "rnn-relu": {"distance": 0.5},
    "stacked-gru": {"layers": 2, "d": 1},
    "gru": {"start": 0.0, "inputs": "impulse"},
    "stacked-leaky-tanh": {"layers": 2, "units": 3},
}


def spec_of(cell: str) -> SystemSpec:
    """One of that cell."""
    return replace(SPEC, cell=cell, **OTHERS.get(cell, {}))


@pytest.mark.parametrize("cell", ["lstm", *OTHERS])
def test_inputs_and_starts_are_of_the_set_exactly(cell: str) -> None:
    """And some of them at its ends."""
    spec = spec_of(cell)
    batch = build_batch(spec)
    off = (batch.x[0] - recorded_inputs(spec, 0)[:, :, None]).abs()
    assert float(off.amax()) == spec.distance
    assert (recorded_inputs(spec, 0)[:, :, None] + (batch.x[0] - recorded_inputs(spec, 0)[:, :,
    None])
            == batch.x[0]).all()  # fmt: skip
    for h in (batch.h, batch.h_other):
        assert float(h.abs().amax()) == spec.start
    for s in range(8):
        assert torch.equal(build_batch(spec.select_pair(0, s)).x[..., 0], batch.x[..., s])


@pytest.mark.parametrize("cell", ["lstm", *OTHERS])
def test_enclosures_hold_the_balls(cell: str) -> None:
    """Of all quantities, at each k."""
    batch = build_batch(spec_of(cell))
    for name, windows in (
        ("near_off", 1),
        ("near_gap", 4),
        ("near_past_gap", 4),
        ("near_stretch", 1),
    ):
        found = readings(batch, [name], [(0, 0), (0, 5)], precision=200)
        assert len(found) == 2 * windows
        assert all(seen.inside or seen.ball.is_zero() for seen in found)


def test_runs_start_near_the_pasts() -> None:
    """Each sequence from another past, some at the ends of what is stated; each pair alone too."""
    fields = {name: getattr(SPEC, name) for name in SPEC.__struct_fields__}
    spec = make_spec("near-pasts", **fields | {"states": 3})
    batch, pasts = build_batch(spec), recorded_pasts(spec, 0)
    assert pasts is not None
    share = (batch.h[0].T - pasts[torch.arange(8) % 3]).abs() / (pasts.amax(0) - pasts.amin(0))
    assert spec.start * (1 - 1e-9) <= float(share.amax()) <= spec.start
    for s in range(8):
        assert torch.equal(build_batch(spec.select_pair(0, s)).h[..., 0], batch.h[..., s])
    printed = near_certificate(spec, 0)
    assert (printed.pasts, printed.relative, [*printed.gaps]) == (3, True, [0, 1, 2, 3])


def test_every_cell_is_tried() -> None:
    """Without luck: none waits for its turn in what is drawn."""
    assert {spec.cell for spec in worst_near_specs()} >= set(COMMON)


@pytest.mark.parametrize("cell", ["lstm", "rnn-relu", "stacked-gru"])
def test_responses_are_derivatives(cell: str) -> None:
    """|∂s_T/∂x_t| and |∂s_T/∂s_0| by central differences."""
    spec, step = spec_of(cell), 2.0**-12
    one, x = Runner.of(near_model(spec, 0)), recorded_inputs(spec, 0)

    def last(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        for t in range(len(x)):
            s = one.step(s, x[None, None, t])
        return s[0, 0]

    zero = one.zero(1)
    found, of_starts = map(torch.from_numpy, last_slopes(spec, 0))
    for t, j in torch.cartesian_prod(torch.arange(len(x)), torch.arange(x.shape[1])).tolist():
        moved = torch.zeros_like(x)
        moved[t, j] = step
        slope = (last(x + moved, zero) - last(x - moved, zero)) / (2 * step)
        torch.testing.assert_close(found[:, t, j], slope.abs(), rtol=1e-5, atol=1e-7)
    for i in range(one.states):
        moved = torch.zeros_like(zero)
        moved[..., i] = step
        slope = (last(x, moved) - last(x, -moved)) / (2 * step)
        torch.testing.assert_close(of_starts[:, i], slope.abs(), rtol=1e-5, atol=1e-7)
