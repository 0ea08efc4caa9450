import math

import torch
from flint import arb, arb_mat, ctx
from gated_draws import corners, directions, draw, generator, gru, lstm

from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.arithmetic.derivatives.second_order import constants, jets
from rnnbounds.impl.arithmetic.entries.balls import Balls, Columns
from rnnbounds.impl.cells.programs import float_step


def found_of(cell, gates: int = 1):
    """Box, weights of the norm and jets of a cell."""
    told = cell.comparison(1.0)
    v = told.perron()
    return told.box, v, jets(cell.program, cell.parameters, told.box, v, 1.0, cell.d, gates=gates)


def derivatives(cell, s, x, ways):
    """Second derivatives of one step along pairs of ways (δs, δparameters), and the first along
    each of them, by torch."""

    def run(move, at):
        return float_step(cell.program, at[1], at[0], x)

    point = (s, cell.parameters)
    first = [torch.func.jvp(lambda a: run(None, a), (point,), (way,))[1] for way in ways]
    second = [
        [
            torch.func.jvp(
                lambda a, p=p: torch.func.jvp(lambda b: run(None, b), (a,), (p,))[1], (point,), (q,)
            )[1]
            for p in ways
        ]
        for q in ways
    ]
    return first, second


def way(cell, s, v, block, by):
    """A direction of norm 1: in the state for block None, else in one block of the parameters."""
    rest = {name: torch.zeros_like(part) for name, part in cell.parameters.items()}
    if block is None:
        signs = torch.randn(s.shape, generator=by, dtype=torch.float64).sign()
        return signs * v[:, :, None], rest
    name, rows = block
    moved = torch.randn(rest[name][:, rows].shape, generator=by, dtype=torch.float64)
    sizes = moved.flatten(1).norm(dim=1).reshape(-1, *[1] * (moved.ndim - 1))
    rest[name][:, rows] = moved / sizes
    return torch.zeros_like(s), rest


def test_gates_are_blocks_of_their_own():
    """A parameter whose gates are told apart has no larger constants."""
    cell = draw(lstm, 3, systems=20, seed=7)
    _, v, whole = found_of(cell)
    _, _, parts = found_of(cell, 4)
    before, after = constants(whole, v), constants(parts, v)
    for name in before:
        assert bool((after[name] <= before[name] * (1 + 1e-9)).all())
    assert float((after["L_w"] / before["L_w"]).min()) < 0.9


def test_linear_systems_are_exact():
    """For W s + U x + b: L_w = √(‖box‖² + B² + 1) over the least v, β_hw = ‖v‖₂/v, no curvature."""

    def step(m: Arithmetic[V], s: V, x: V) -> V:
        return m.affine("W", "b", s) + m.affine("U", None, x)

    by = generator(1)
    parameters = {
        "W": torch.randn(1, 3, 3, generator=by).double(),
        "U": torch.randn(1, 3, 2, generator=by).double(),
        "b": torch.randn(1, 3, generator=by).double(),
    }
    box, v = torch.tensor([[1.0, 2.0, 2.0]]).double(), torch.tensor([[1.0, 2.0, 0.5]]).double()
    told = constants(jets(step, parameters, box, v, 2.0, 2), v)
    assert math.isclose(float(told["L_w"]), math.sqrt(9 + 4 + 1) / 0.5, rel_tol=1e-12)
    assert math.isclose(float(told["beta_hw"]), math.sqrt(5.25) / 0.5, rel_tol=1e-12)
    assert float(told["beta_hh"]) == 0.0
    assert float(told["beta_ww"]) <= 1e-300
    fewer = constants(jets(step, parameters, box, v, 2.0, 2, trained=("U",)), v)
    assert math.isclose(float(fewer["L_w"]), 2 / 0.5, rel_tol=1e-12)
    assert float(fewer["beta_hw"]) == 0.0


def test_in_balls():
    """Differences of the step in balls, tiny ones in one block of weights, obey the jets."""
    cell = draw(gru, 2, seed=3)
    box, _, found = found_of(cell)
    s, x = corners(box, 1, generator(2)), directions(cell, 1, generator(3))
    with ctx.workprec(400):
        state, drive = (Columns.of(arb_mat(part[0].tolist())) for part in (s, x))
        still = Balls({name: part[0] for name, part in cell.parameters.items()})
        for a, name in enumerate(cell.parameters):
            part = cell.parameters[name][0]
            moved = {n: p[0].clone() for n, p in cell.parameters.items()}
            step = torch.zeros_like(part)
            step.view(-1)[:] = 2.0**-20
            moved[name] = part + step
            size = (moved[name] - part).norm()
            there, here = (
                cell.program(m, state, drive).matrix.entries() for m in (Balls(moved), still)
            )
            for i, (p, q) in enumerate(zip(there, here, strict=True)):
                bound = found.first[0, i, 1 + a] * (1 + 1e-4)
                assert abs(p - q) <= arb(float(size)) * arb(float(bound))


def test_infinite_boxes_fail_closed():
    """Where a gate may stay open nothing is bounded, and nothing is NaN."""
    cell = draw(lstm, 2, seed=1)
    box = torch.tensor([[torch.inf, torch.inf, 1.0, 1.0]]).double()
    v = torch.ones(1, 4).double()
    told = constants(jets(cell.program, cell.parameters, box, v, 1.0, 2), v)
    assert all(not bool(part.isnan().any()) for part in told.values())
    assert float(told["L_w"]) == torch.inf
