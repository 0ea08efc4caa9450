"""Pairs that exact arithmetic decides are built once for all forms of a claim."""

from __future__ import annotations

import numpy as np
import pytest

from rnnbounds.properties.judging.judge import judge
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.properties.systems.vanilla.networks import Networks
from rnnbounds.theory import claim

SPEC = make_spec(
    activation="identity", regime="orthogonal", n=2, T=4, K=4, lam=0.5, batch=3, sequences=2
)

CERTIFIED = ("lam", "S_0", "lam_box", "S_0_box", "B_h_box", "x_gap", "G_0", "eps_k")


@pytest.mark.parametrize("kind", ["rnn", "gradient", "lstm", "gru", "leaky"])
def test_a_pair_has_the_constants_of_its_batch(kind: str) -> None:
    """Bit for bit, in shapes of its own; they differ from those of the pair rebuilt by rounding."""
    batch = build_batch(
        make_spec(kind=kind, n=2, T=4, K=2, inputs="gaussian", batch=3, sequences=2)
    )
    pair, again = batch.pair(1, 1), build_batch(batch.spec.select_pair(1, 1))
    for name, part in pair.weights.items():
        assert np.array_equal(part, again.weights[name])
    for name in CERTIFIED:
        told, own, anew = (one.constant(name).hi for one in (batch, pair, again))
        assert own.shape == anew.shape
        assert own.ravel()[0] == told[1, min(1, told.shape[1] - 1)].ravel()[0]
        assert np.allclose(own, anew, rtol=2.0**-50, atol=0)


def test_a_second_form_builds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs left open by the first form are kept, and decided as if built anew."""
    form = claim("truncation").form("finite")
    batch, taken, pair = build_batch(SPEC), [], Networks.pair

    def counting(systems: Networks, i: int, s: int) -> Networks:
        taken.append((i, s))
        return pair(systems, i, s)

    monkeypatch.setattr(Networks, "pair", counting)
    first, second = (judge(form.statement, form.assumptions, batch) for _ in range(2))
    assert first.escalated == second.escalated > 0
    assert len(taken) == len(set(taken)) > 0
    assert (first.verdicts == second.verdicts).all()
    assert np.array_equal(first.lhs.hi, second.lhs.hi)
