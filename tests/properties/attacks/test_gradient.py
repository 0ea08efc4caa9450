"""The gradient attack climbs, stays in the contractive set and ends where it was highest."""

from functools import partial

import numpy as np
import pytest
import torch

from rnnbounds.properties.attacks import gradient as climbs
from rnnbounds.properties.attacks.gradient import ascend, ascent_obstacle, gradient_specs, log_ratio
from rnnbounds.properties.judging.judge import Verdict, judge
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.spec import SystemSpec, check_spec
from rnnbounds.properties.systems.table import KINDS as ALL
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.properties.systems.vanilla.ascent import Ascent
from rnnbounds.theory import claim
from rnnbounds.theory.language.parse import parse_statement
from rnnbounds.theory.proof.claim import Form


def ratio_of(form: Form, spec: SystemSpec) -> float:
    """The largest lhs/rhs of a batch, which violates nothing."""
    seen = judge(form.statement, form.assumptions, build_batch(spec))
    assert not (seen.verdicts == Verdict.VIOLATED).any()
    return float(np.nanmax(seen.ratio, initial=0.0))


@pytest.mark.slow
def test_the_gradient_climbs() -> None:
    """From a drawn start, ascent alone raises the ratio and reaches 0.99."""
    stated = claim("state-bound").form("finite")
    ratio = partial(ratio_of, stated)

    found = gradient_specs(stated.statement, ALL["rnn"], count=4, steps=100, seed=0)
    assert max(ratio(spec) for spec in found) >= 0.99
    start = make_spec(
        activation="tanh", regime="gaussian", inputs="gaussian", n=3, d=2, T=4, K=2, lam=0.75,
        scale=0.125, batch=3,
    )  # fmt: skip
    first, last = ratio(start), max(ratio(s) for s in ascend(stated.statement, start, 60))
    assert first < 0.8
    assert last > first + 0.1


def test_the_gradient_is_deterministic_and_stays_contractive() -> None:
    """Two climbs end in the same specs, with ‖W‖₂ as it was set and inputs within B_x."""
    stated = claim("truncation").form("uniform")
    spec = next(ALL["rnn"].starts(1, 7))
    one, two = (ascend(stated.statement, spec, 10) for _ in range(2))
    assert one == two
    for found in one:
        check_spec(found)
        batch = build_batch(found)
        assert float(batch.constants["lam"][0]) == pytest.approx(0.75, rel=1e-6)
        assert float(batch.B_x[0]) <= spec.scale * (1 + 1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "h_gap <= min(S_0, 1)*max(lam, k)",
        "h_norm <= sqrt(S_0) + exp(lam) - log(2 - lam)",
        "y_gap <= W_radius + 1",
        "h_norm <= 0",
    ],
)
def test_objectives_of_any_statement(text: str) -> None:
    """Min, max, roots, logarithms and all constants have finite objectives."""
    gain = log_ratio(parse_statement(text), Ascent.start(make_spec(n=2, T=3, K=2, batch=3)))
    assert gain.shape == (3,)
    assert torch.isfinite(gain).all()


def test_a_climb_ends_where_it_was_highest() -> None:
    """Not where its last step led: from a start at the bound all steps lead down."""
    stated = claim("gradient-gap").form("finite")
    spec = next(ALL["gradient"].starts(1, 1))
    start = log_ratio(stated.statement, Ascent.start(spec))
    found = [ratio_of(stated, end) for end in ascend(stated.statement, spec, 12)]
    assert (np.log(found) >= start.detach().numpy() - 1e-9).all()


def test_a_climb_that_nothing_leads_on_ends() -> None:
    """A linear loss has no curvature that a bound on that of squares could be attacked with."""
    stated, steps = claim("loss-constants").form("squared"), list[object]()
    spec = next(ALL["gradient"].starts(1, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(climbs, "adam", lambda *step, **options: steps.append(step))
        assert len(ascend(stated.statement, spec, 5)) == spec.batch
    assert not steps


def test_what_has_no_gradient_is_left_alone() -> None:
    """Without a differentiable reading there are no specs; a flat objective stops at once."""
    assert "trained_gap" in ascent_obstacle(parse_statement("trained_gap <= 1"))
    assert (
        list(
            gradient_specs(
                parse_statement("trained_gap <= 1"), ALL["quadratic"], count=2, steps=2, seed=0
            )
        )
        == []
    )
    spec = make_spec(n=1, T=2, K=1, batch=2)
    assert len(ascend(parse_statement("L_rho <= 2"), spec, 5)) == 2
