"""Gradients of cells at two weights, and cells that are trained, against torch's own."""

import pytest
import torch
from msgspec.structs import replace
from seen import loss_at, run_of_cells

from rnnbounds.properties.judging.judge import Verdict, judge
from rnnbounds.properties.measures.ball_descent import w_gap_ball
from rnnbounds.properties.measures.descent import DescentBatch
from rnnbounds.properties.measures.measure import ball_pair
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import Batch, build_batch
from rnnbounds.properties.systems.cells.batch import omega_of_cells, require_cells
from rnnbounds.properties.systems.cells.constants import CONSTANTS
from rnnbounds.properties.systems.spec import LOSSES, SystemSpec
from rnnbounds.properties.systems.table import FAMILIES, make_spec
from rnnbounds.theory import claim

KINDS = FAMILIES["cell"].members
SMALL = 1e-11
LIPSCHITZ, WEIGHT_GAP = (claim(id).form("box") for id in ("gradient-lipschitz", "weight-gap"))
Weights = dict[str, torch.Tensor]


def spec_of(kind: str, i: int = 1, **fields: object) -> SystemSpec:
    """Another loss and size for every i."""
    regimes = KINDS[kind].regimes
    spec = make_spec(
        kind=kind, regime=regimes[-1 - i % 2], n=1 + i % 2, d=1, inputs="gaussian", T=4, K=4,
        lam=0.0625, bias=0.5, loss=LOSSES[i % 3], distance=0.125, seed=i, batch=3, sequences=2,
        scale=0.5,
    )  # fmt: skip
    return replace(spec, **fields)


def loss_of(batch: Batch, weights: Weights, member: int, s: int, start: int = 0) -> torch.Tensor:
    """The loss after the run from zero at that time, differentiable."""
    x = batch.x[member, start:, :, s]
    return loss_at(batch, member, run_of_cells(batch, weights, x))


def leaves(weights: Weights, member: int) -> Weights:
    """One member's weights, to be trained."""
    return {name: part[member].clone().requires_grad_() for name, part in weights.items()}


def flat(parts: Weights) -> torch.Tensor:
    """All of them in a row."""
    return torch.cat([part.detach().flatten() for part in parts.values()])


@pytest.mark.parametrize("i", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_at_two_weights_are_autograds(kind: str, i: int) -> None:
    """torch's reverse mode finds their difference, and balls find what floats find."""
    batch, member, s = build_batch(spec_of(kind, i)), 1, 1
    seen = {name: MEASURES[name].enclose(batch) for name in ("grad_gap_weights", "weight_distance")}
    found = []
    for weights in (require_cells(batch).parameters, omega_of_cells(batch).other_weights):
        parts = leaves(weights, member)
        grads = torch.autograd.grad(
            loss_of(batch, parts, member, s), list(parts.values()),
            allow_unused=True, materialize_grads=True,
        )  # fmt: skip
        gradient = dict(zip(parts, grads, strict=True))
        found.append((flat(gradient), flat(parts)))
    for name, (one, two) in zip(seen, zip(*found, strict=True), strict=True):
        assert float(seen[name].hi[member, s, 0]) == pytest.approx(float((one - two).norm()), 1e-8)
        pair = build_batch(batch.spec.select_pair(member, s))
        exact = MEASURES[name].ball(pair, 0, 128)
        assert seen[name].lo[member, s, 0] <= float(exact.upper())
        assert float(exact.lower()) <= seen[name].hi[member, s, 0]


def trained_by_torch(batch: Batch, member: int, s: int, start: int) -> Weights:
    """By torch's own optimiser, without any projection."""
    parts = leaves(require_cells(batch).parameters, member)
    names = [name for name, radius in omega_of_cells(batch).radii.items() if radius[member] > 0]
    alpha = float(batch.step_size[member, 0, 0])
    for t in range(1, batch.spec.steps + 1):
        optimiser = torch.optim.SGD([parts[name] for name in names], lr=alpha / t)
        optimiser.zero_grad()
        loss = loss_of(batch, parts, member, s, start)
        if loss.requires_grad:
            loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return parts


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_descent_is_torchs(kind: str) -> None:
    """Both descents are SGD's as long as no projection moves them, and their gap is enclosed."""
    spec = spec_of(kind, 2, steps=3, alpha=2.0**-5, lam=0.03125, scale=0.25)
    spec = replace(spec, regime="gaussian", bias=0.125)
    batch, member, s = build_batch(spec), 0, 1
    (weights, error), seen = DescentBatch(batch).descents[-1], MEASURES["w_gap"].enclose(batch)
    row, width = member * 2 + s, 3 * 2
    full = trained_by_torch(batch, member, s, 0)
    assert 0 < error[row] < 1e-12
    for k in range(spec.K + 1):
        short = trained_by_torch(batch, member, s, spec.T - k)
        own = {name: part[row + (k + 1) * width] for name, part in weights.items()}
        assert torch.allclose(flat(own), flat(short), atol=1e-14)
        gap = float((flat(full) - flat(short)).norm())
        assert seen.lo[member, s, k] - SMALL <= gap <= seen.hi[member, s, k] + SMALL
        assert gap == 0 or gap > 100 * (seen.hi - seen.lo)[member, s, k]
    assert seen.hi[member, s, spec.T] == 0


@pytest.mark.parametrize("kind", ["lstm", "leaky", "deep"])
def test_projected_descents_in_balls_are_those_in_floats(kind: str) -> None:
    """Steps far out of Ω land on its edge in both arithmetics."""
    spec = spec_of(kind, 1, steps=2, alpha=2.0**14, sequences=1, batch=1, regime="driven")
    batch = build_batch(spec)
    folded, seen = DescentBatch(batch), MEASURES["w_gap"].enclose(batch)
    weights, error = folded.descents[-1]
    assert folded.is_in_omega(weights).all()
    away = [flat({"": weights[n][0] - folded.initial_weights[n][0]}).norm() for n in weights]
    edge = [folded.radii[name][0] for name in weights]
    assert any(a > 0.999 * r > 0 for a, r in zip(away, edge, strict=True))
    assert torch.isfinite(error).all()
    for k in (1, 2, spec.T):
        exact = w_gap_ball(ball_pair(batch, 160), k)
        assert seen.lo[0, 0, k] <= float(exact.upper())
        assert float(exact.lower()) <= seen.hi[0, 0, k]
        assert float(exact.rad()) < 1e-9


def test_a_block_that_stands_still_is_projected_onto_itself() -> None:
    """With radius 0 nothing moves."""
    spec = spec_of("leaky", 2, steps=2, alpha=1.0)
    folded = DescentBatch(build_batch(spec))
    assert torch.equal(folded.descents[-1][0]["leak"], folded.initial_weights["leak"])
    assert not torch.equal(folded.descents[-1][0]["W"], folded.initial_weights["W"])


def test_larger_sets_have_larger_constants() -> None:
    """Each constant grows with Ω, from the cell's own on; α shrinks."""
    names = [name for name in CONSTANTS if name.endswith("_omega")] + ["beta"]
    batches = [build_batch(spec_of("lstm", 2, distance=share)) for share in (0.0, 2.0**-6, 0.125)]
    for name in names:
        small, middle, large = (batch.constant(name).hi for batch in batches)
        assert (small <= middle).all()
        assert (middle <= large).all()
    assert (batches[0].constant("lam_omega").hi < batches[2].constant("lam_omega").hi).any()
    alone = build_batch(spec_of("lstm", 2).select_pair(1, 1))
    assert alone.constant("beta").hi[0] == batches[2].constant("beta").hi[1]


def test_where_nothing_contracts_nothing_is_said() -> None:
    """λ ≥ 1 on Ω: every check is vacuous, and no step is made."""
    batch = build_batch(spec_of("gru", 1, regime="gaussian", lam=4.0, steps=1))
    for form in (LIPSCHITZ, WEIGHT_GAP):
        found = judge(form.statement, form.assumptions, batch)
        assert (found.verdicts == Verdict.VACUOUS).all()
    assert (batch.step_size == 0).all()
