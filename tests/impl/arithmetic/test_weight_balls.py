"""Bounds that hold for all weights of a set, against the weights at its edge."""

import pytest
import torch
from program_draws import SAMPLES, cells
from torch import Tensor

from rnnbounds.impl.arithmetic.derivatives.second_order import constants, jets
from rnnbounds.impl.arithmetic.roundings import Runs
from rnnbounds.impl.arithmetic.slopes import compare, stepped
from rnnbounds.impl.arithmetic.spans import SpanArithmetic
from rnnbounds.impl.cells.gated.gru import GRU
from rnnbounds.impl.cells.gated.lstm import LSTM
from rnnbounds.impl.cells.programs import jacobian
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.numbers.outward import norm_up

B, SYSTEMS, TRIES = 0.5, 2, 5
TORCH = ("lstm", "gru", "gru-cho")
NAMES = (*TORCH, *SAMPLES)
FIXED = ("leak",)


def cell_of(name: str):
    """Two cells of two units."""
    if name not in TORCH:
        return cells(name, SYSTEMS, n=2, d=1)
    gates, by = kind_of(name).gates, torch.Generator().manual_seed(3)
    shapes = {"weight_ih": (2 * gates, 1), "weight_hh": (2 * gates, 2)}
    shapes |= {"bias_ih": (2 * gates,), "bias_hh": (2 * gates,)}
    drawn = {
        part: 0.4 * torch.randn(SYSTEMS, *shape, generator=by, dtype=torch.float64)
        for part, shape in shapes.items()
    }
    return kind_of(name).build(drawn)


def radii_of(cell, share: float = 0.2) -> dict[str, Tensor]:
    """A share of each parameter's own size."""
    sizes = {name: share * norm_up(part.flatten(1)) for name, part in cell.parameters.items()}
    return {name: size for name, size in sizes.items() if name not in FIXED}


def at_the_edge(cell, radii: dict[str, Tensor], by: torch.Generator) -> dict[str, Tensor]:
    """Weights at the edge in every parameter."""
    found = dict(cell.parameters)
    for name, radius in radii.items():
        way = torch.randn(found[name].shape, generator=by, dtype=torch.float64)
        size = way.flatten(1).norm(dim=1)
        step = (1 - 1e-12) * radius / size
        found[name] = found[name] + way * step.reshape(-1, *[1] * (way.ndim - 1))
    return found


def box_of(cell) -> Tensor:
    """Some box: it need not be invariant."""
    gated = isinstance(cell, LSTM | GRU)
    units = cell.n * (1 + isinstance(cell, LSTM)) if gated else cell.comparison(B).box.shape[1]
    return torch.full((SYSTEMS, units), 0.75, dtype=torch.float64)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_weights_of_the_set_are_steeper(name: str) -> None:
    """Slopes and jets at the edge are below those of the set, and so are Jacobians and values."""
    cell, by = cell_of(name), torch.Generator().manual_seed(1)
    radii, box = radii_of(cell), box_of(cell)
    v = torch.ones_like(box)
    whole = stepped(cell.program, cell.parameters, box, B, cell.d, radii)
    known = constants(jets(cell.program, cell.parameters, box, v, B, cell.d, radii=radii), v)
    for _ in range(TRIES):
        other = at_the_edge(cell, radii, by)
        s = box[:, :, None] * (
            2 * torch.rand(*box.shape, 16, generator=by, dtype=torch.float64) - 1
        )
        x = B * (2 * torch.rand(SYSTEMS, cell.d, 16, generator=by, dtype=torch.float64) - 1)
        A, E = jacobian(cell.program, other, s, x / cell.d)
        slopes = whole.worst[:, None]
        assert (torch.cat([A, E], dim=3).abs() <= slopes * (1 + 1e-12) + 1e-12).all()
        there = stepped(cell.program, other, box, B, cell.d)
        assert (there.range.high <= whole.range.high).all()
        assert (there.range.low >= whole.range.low).all()
        found = constants(jets(cell.program, other, box, v, B, cell.d), v)
        assert all((found[part] <= known[part] * (1 + 1e-12)).all() for part in known)


@pytest.mark.parametrize("name", NAMES)
def test_no_weights_of_the_set_are_driven_further(name: str) -> None:
    """The drive at the edge is below that of the set, and above that of the middle somewhere."""
    cell, by = cell_of(name), torch.Generator().manual_seed(1)
    radii, box = radii_of(cell), box_of(cell)
    whole = compare(cell.program, cell.parameters, box, B, cell.d, radii=radii).drive
    for _ in range(TRIES):
        other = at_the_edge(cell, radii, by)
        assert (compare(cell.program, other, box, B, cell.d).drive <= whole).all()
    assert (whole > compare(cell.program, cell.parameters, box, B, cell.d).drive).any()


@pytest.mark.parametrize("of_inputs", [False, True])
def test_a_run_with_weights_of_the_set_is_not_rounded_further(of_inputs: bool) -> None:
    """Of all weights near 0 sums are off by what those at the edge are off by."""
    run, still = Runs((torch.float16,), fused=True), torch.zeros(1, 1, 1, dtype=torch.float64)
    edge = {"W": still + 1, "b": still[0] + 1}
    radii = {name: torch.ones(1, dtype=torch.float64) for name in edge}
    box = still[0] + 1
    whole = SpanArithmetic({name: 0 * value for name, value in edge.items()}, run, radii=radii)
    v = whole.inputs(1.0, box, 1) if of_inputs else whole.box(box)
    told, one = (m.affine("W", "b", v).range for m in (whole, SpanArithmetic(edge, run)))
    assert told.high >= one.high


@pytest.mark.parametrize("name", ["lstm", "gru", "deep-tanh"])
def test_one_cell_does_not_speak_for_the_set(name: str) -> None:
    """Without the radii some weights of the set exceed what is said of all."""
    cell, by = cell_of(name), torch.Generator().manual_seed(1)
    radii, box = radii_of(cell), box_of(cell)
    alone = stepped(cell.program, cell.parameters, box, B, cell.d)
    there = stepped(cell.program, at_the_edge(cell, radii, by), box, B, cell.d)
    assert (there.worst > alone.worst).any()
    assert (there.range.high > alone.range.high).any()


@pytest.mark.parametrize("name", ["lstm", "min-lstm", "complex"])
def test_a_set_of_one_is_the_cell(name: str) -> None:
    """Radii of 0 change no bit."""
    cell = cell_of(name)
    box, still = box_of(cell), {part: 0 * size for part, size in radii_of(cell).items()}
    one = stepped(cell.program, cell.parameters, box, B, cell.d)
    two = stepped(cell.program, cell.parameters, box, B, cell.d, still)
    assert torch.equal(one.slopes, two.slopes)
    assert torch.equal(one.range.high, two.range.high)
    v = torch.ones_like(box)
    first = jets(cell.program, cell.parameters, box, v, B, cell.d)
    second = jets(cell.program, cell.parameters, box, v, B, cell.d, radii=still)
    assert torch.equal(first.second, second.second)


def test_an_endless_set_fails_closed() -> None:
    """Of weights that may be anything nothing is known."""
    cell = cell_of("lstm")
    radii = {name: torch.full_like(r, torch.inf) for name, r in radii_of(cell).items()}
    found = stepped(cell.program, cell.parameters, box_of(cell), B, cell.d, radii)
    assert not (found.worst[:, :, :4] < 1e9).any(dim=2).all()
