"""Training and projections: what float64 encloses, what balls follow, what is exact."""

import itertools
import math

import numpy as np
import pytest
from flint import ctx, fmpq
from msgspec.structs import replace
from seen import readings

from rnnbounds.impl.training.projection import Ball
from rnnbounds.properties.errors import DisagreementError, SpecError
from rnnbounds.properties.judging.judge import judge
from rnnbounds.properties.judging.verdict import Verdict
from rnnbounds.properties.measures.readings.exact_training import quadratic_gap
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.spec import SystemSpec, check_spec
from rnnbounds.properties.systems.spec_choices import BALLS, LOSSES
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.properties.systems.vanilla.learning_instances import (
    scalar_loss_spec,
    worst_projections,
    worst_quadratics,
    worst_training,
)
from rnnbounds.properties.systems.vanilla.specs import Training
from rnnbounds.theory import claim
from rnnbounds.theory.language.parse import parse_statement

TRAINED_GAPS = ("w_gap", "trained_gap")
MATRIX_GAPS = ("proj_gap", "matrix_gap", "proj_distance", "feasible_distance")


def check(spec: SystemSpec, names: tuple[str, ...]) -> int:
    """Float enclosure ∋ ball ∋ root of the rational square; how many balls were finite."""
    batch = build_batch(spec)
    found = readings(batch, names, {(0, 0), (batch.cell.batch - 1, 0)}, squares=True)
    for seen in found:
        assert math.isfinite(seen.high)
        assert seen.held, seen  # a ball that is not finite meets everything
    return sum(seen.ball.is_finite() for seen in found)


@pytest.mark.slow
@pytest.mark.parametrize("activation", ["identity", "tanh", "sigmoid", "sin"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_descents_are_enclosed(activation: str, n: int) -> None:
    """Both descents in float64 hold those in balls, where these can follow the projections."""
    spec = make_spec(
        kind="training", activation=activation, inputs="gaussian",
        regime=("diagonal", "gaussian", "orthogonal")[n - 1], n=n, T=6, K=6, lam=0.75, bias=0.5,
        steps=4, batch=3, seed=n,
        alpha=(1.0, 0.125, 16.0)[n - 1], trained=("W", "WUb", "U")[n - 1], loss=LOSSES[n - 1],
    )  # fmt: skip
    finite = check(spec, TRAINED_GAPS)
    assert n > 1 or finite > 15


def test_a_projection_that_ships_and_is_none_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own error bound would hold the exact point, and the claim would hold of that alone."""
    monkeypatch.setattr(Ball, "project", lambda ball, W: W * 0.5)
    batch = build_batch(next(iter(worst_projections())))
    with pytest.raises(DisagreementError, match=r"the readings of projected [AB] disagree: "):
        MEASURES["proj_gap"].enclose(batch)


def test_outside_of_training_nothing_is_known() -> None:
    """Descents of systems that are not trained are NaN in every arithmetic."""
    batch = build_batch(make_spec(n=2, T=3, K=2, sequences=2))
    for name in TRAINED_GAPS:
        assert np.isnan(MEASURES[name].enclose(batch).hi).all()
        assert not MEASURES[name].ball(build_batch(make_spec()), 0, 64).is_finite()


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


def test_rising_weights_nearly_meet_the_theorem() -> None:
    """One step towards the edge of Ω comes within a third of the bound on predictions."""
    bound = parse_statement(
        "trained_gap <= L_f/(1 - lam)*(L_w*alpha*eps_k + lam**k*S_0)"  # M_1 = α
    )
    best = 0.0
    for spec in (one for one in worst_training() if one.values is not None):
        seen = judge(bound, (), build_batch(spec))
        assert (seen.verdicts[..., 1:] == Verdict.HOLDS).all()
        best = max(best, float(np.nanmax(seen.ratio)))
    assert best > 2 / 3


@pytest.mark.parametrize("ball", BALLS)
def test_matrices_are_enclosed(ball: str) -> None:
    """Projections of two matrices agree in three arithmetics."""
    for n, radius, distance in itertools.product((1, 2, 3), (1.0, 0.5, 4.0), (0.25, 2.0**-20)):
        spec = make_spec(
            kind="projection", regime="orthogonal", n=n, lam=1.0, scale=radius, distance=distance,
            ball=ball, batch=2,
        )  # fmt: skip
        assert check(spec, MATRIX_GAPS) == 2 * len(MATRIX_GAPS)


def test_projections_do_not_expand() -> None:
    """All instances: Π brings no two matrices apart."""
    fair = parse_statement("proj_gap <= matrix_gap")
    for spec in worst_projections():
        assert (judge(fair, (), build_batch(spec)).verdicts == Verdict.HOLDS).all()


def test_specs_of_training_and_pairs() -> None:
    """Training goes along one sequence; two weights written out are both there."""
    with pytest.raises(SpecError, match="one sequence"):
        check_spec(make_spec(kind="training", sequences=2))
    pair = next(worst_projections())
    assert pair.values is not None
    with pytest.raises(SpecError, match="other weights"):
        check_spec(replace(pair, values=replace(pair.values, W2=None)))
    with pytest.raises(SpecError, match="shapes"):
        check_spec(replace(pair, values=replace(pair.values, b2=[1.0, 2.0, 3.0])))
    with pytest.raises(SpecError, match="unknown loss"):
        check_spec(make_spec("gradient", loss="absolute"))
