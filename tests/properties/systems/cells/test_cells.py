"""Cells of any kind: their runs and derivatives, what bounds them, and the family's attack."""

from typing import Any

import pytest
import torch
from any_kind import any_system
from flint import arb, ctx
from msgspec.structs import replace
from seen import loss_at, run_of_cells

from rnnbounds.properties.attacks.shrink import shrink
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.read.numbers.gaps import Difference
from rnnbounds.properties.read.numbers.rounded import Rounded
from rnnbounds.properties.systems.batch import Batch, build_batch
from rnnbounds.properties.systems.cells.batch import require_cells
from rnnbounds.properties.systems.spec import LOSSES, SystemSpec
from rnnbounds.properties.systems.table import FAMILIES, parse_spec
from rnnbounds.theory.language.parse import parse_statement

KINDS = FAMILIES["cell"].members
NAMES = ("h_norm_box", "h_gap_box", "grad_gap", "dh_dx", "tbptt_gap")


def spec_of(kind: str, i: int) -> SystemSpec:
    """Another regime, input, size and loss for every i."""
    regimes = KINDS[kind].regimes
    return any_system(
        kind=kind, regime=regimes[(3 * i + 1) % len(regimes)], n=1 + i % 3, d=1 + i % 2,
        inputs=("gaussian", "impulse", "zero")[i % 3], T=4, K=4 - i % 2, lam=0.5, bias=0.5,
        loss=LOSSES[i % 3], layers=2, seed=i, batch=3, sequences=2,
        activation=("tanh", "sin", "relu")[i % 3],
    )  # fmt: skip


CASES = [pytest.param(kind, i, id=f"{kind}-{i}") for kind in KINDS for i in range(3)]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "i"), CASES)
def test_readings_are_those_of_autograd(kind: str, i: int) -> None:
    """torch's reverse mode finds the gaps, the gradients and the Jacobians."""
    batch, member, s = build_batch(spec_of(kind, i)), 1, 1
    cells, T = require_cells(batch), batch.spec.T
    n, parts = cells.n, cells.parameters
    weights = {name: part[member].clone().requires_grad_() for name, part in parts.items()}
    x = batch.x[member, :, :, s].clone().requires_grad_()
    full = run_of_cells(batch, weights, x)

    def gradient(h: torch.Tensor) -> torch.Tensor:
        found = torch.autograd.grad(
            loss_at(batch, member, h), list(weights.values()), retain_graph=True, allow_unused=True
        ) if h.requires_grad else [None] * len(weights)  # fmt: skip
        parts = zip(found, weights.values(), strict=True)
        return torch.cat([(torch.zeros_like(w) if g is None else g).flatten() for g, w in parts])

    seen = {name: MEASURES[name].enclose(batch).hi[member, s] for name in NAMES}
    assert seen["h_norm_box"][0] == near_to(box_norm(batch, full, member))
    for k in range(batch.K + 1):
        short = run_of_cells(batch, weights, x[T - k :])
        assert seen["h_gap_box"][k] == near_to(box_norm(batch, full - short, member))
        assert seen["grad_gap"][k] == near_to(float((gradient(full) - gradient(short)).norm()))
    jacobian: Any = torch.autograd.functional.jacobian
    J = jacobian(lambda z: run_of_cells(batch, weights, z)[-n:], x, vectorize=True)
    for k in range(min(batch.K, T - 1) + 1):
        size = float(torch.linalg.matrix_norm(J[:, T - 1 - k], 2))
        assert seen["dh_dx"][k] == near_to(size)
    assert seen["tbptt_gap"][0] == near_to(float(gradient(full).norm()))


def near_to(value: float) -> object:
    """That number, to the last digits."""
    return pytest.approx(value, rel=1e-9, abs=1e-11)


def box_norm(batch: Batch, s: torch.Tensor, member: int) -> float:
    """max |s_j|/v_j."""
    return float((s.detach().abs() / require_cells(batch).v[member]).max())


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_violations_shrink(kind: str) -> None:
    """A false bound comes back small and explained."""
    statement = parse_statement("h_norm_box <= S_0_box/2")
    spec = replace(spec_of(kind, 0), regime="driven", n=2, T=2, K=0)
    check = shrink("typed", "typed", statement, (), spec)
    assert check is not None
    small = parse_spec(check.replay.split("'")[1])
    assert (small.n, small.T) == (1, 1)
    assert check.explanation.startswith(f"{kind}, n = 1")


def test_differences_are_seen_where_values_cancel() -> None:
    """A difference of 10⁻²⁰ at 1 is carried to twelve digits, and none at all stays none."""
    one, tiny = (torch.full((1, 1, 1), v, dtype=torch.float64) for v in (1.0, 1e-20))
    functions: dict[str, Any] = {
        "tanh": arb.tanh, "exp": arb.exp, "reciprocal": lambda a: 1 / a,
        "sigmoid": lambda a: 1 / (1 + (-a).exp()),
    }  # fmt: skip
    for name, f in functions.items():
        moved = getattr(Difference(Rounded.exact(one), Rounded.exact(tiny)), name)().gap
        with ctx.workprec(160):
            at, delta = arb(1), arb(1e-20)
            true = f(at) - f(at - delta)
            assert abs(true - moved.value.item()) <= moved.error.item()
        assert moved.error.item() <= 1e-12 * abs(moved.value.item())
        still = getattr(Difference(Rounded.exact(one), Rounded.exact(0 * tiny)), name)().gap
        assert still.value.item() == still.error.item() == 0
    for name in ("softplus", "sin", "cos"):
        still = getattr(Difference(Rounded.exact(one), Rounded.exact(0 * tiny)), name)().gap
        assert still.value.item() == still.error.item() == 0
