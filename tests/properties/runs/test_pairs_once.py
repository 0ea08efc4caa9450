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
