"""Training and projections: what float64 encloses, what balls follow, what is exact."""

import pytest
from flint import ctx, fmpq

from rnnbounds.impl.training.projection import Ball
from rnnbounds.properties.errors import DisagreementError
from rnnbounds.properties.judging.judge import Verdict, judge
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.measures.training import quadratic_gap
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.properties.systems.vanilla.learning import (
    Training,
    scalar_loss_spec,
    worst_projections,
    worst_quadratics,
)
from rnnbounds.theory import claim


def test_a_projection_that_ships_and_is_none_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own error bound would hold the exact point, and the claim would hold of that alone."""
    monkeypatch.setattr(Ball, "project", lambda ball, W: W * 0.5)
    batch = build_batch(next(iter(worst_projections())))
    with pytest.raises(DisagreementError, match=r"the readings of projected [AB] disagree: "):
        MEASURES["proj_gap"].enclose(batch)


def test_the_step_size_is_what_the_spec_says() -> None:
    """αβ is the spec's alpha to rounding; where β is not finite there is no step."""
    batch = build_batch(scalar_loss_spec(Training, T=8, K=4, steps=3, alpha=0.5))
    alpha, beta = batch.parameters["alpha"].item(), batch.constant("beta").hi.item()
    assert alpha * beta == pytest.approx(0.5, rel=1e-15)
    kinked = build_batch(scalar_loss_spec(Training, activation="relu", T=8, steps=3))
    assert kinked.parameters["alpha"].item() == 0


def test_equal_gradients_give_equal_weights() -> None:
    """Without memory the weights stay together from k = 2 on, exactly."""
    spec = scalar_loss_spec(
        Training, activation="tanh", regime="zero", n=2, lam=0.0, T=5, K=4, steps=3,
        alpha=1.0, trained="U", loss="squared",
    )  # fmt: skip
    pair = build_batch(spec)
    with ctx.workprec(128):
        assert MEASURES["w_gap"].ball(pair, 3, 128).is_zero()
        assert not MEASURES["w_gap"].ball(pair, 0, 128).is_zero()


def test_the_quadratic_instance_is_exact() -> None:
    """δ_{N+1} = (Π (1 + αβ/t) − 1) ε/β: <= HOLDS, < is VIOLATED, and the closed form agrees."""
    from dataclasses import replace as changed

    losses = claim("weight-gap").form("losses")
    for spec in worst_quadratics():
        batch = build_batch(spec)
        if spec.steps <= 100:
            seen = judge(losses.statement, (), batch)
            assert (seen.verdicts == Verdict.HOLDS).all()
            strict = judge(changed(losses.statement, relation="<"), (), batch)
            assert (strict.verdicts == Verdict.VIOLATED).all()
    one = build_batch(make_spec(kind="quadratic", lam=0.5, epsilon=0.25, alpha=0.75, steps=3))
    c, product = fmpq(3, 8), fmpq(1)
    for t in (1, 2, 3):
        product *= 1 + c / t
    assert quadratic_gap(one) == (product - 1) / 2
