"""Pairs that the referee decides are built once for all forms of a claim."""

from __future__ import annotations

import numpy as np
import pytest

import properties.systems.batch as module
from properties.judging.judge import judge
from properties.systems.batch import Batch, build
from properties.systems.spec import SystemSpec
from properties.systems.table import system
from theory import claim

SPEC = system(
    activation="identity", regime="orthogonal", n=2, T=4, K=4, lam=0.5, batch=3, sequences=2
)


def test_a_pair_is_the_one_that_its_spec_builds() -> None:
    """To the last bit, and the same one when it is asked for again."""
    batch = build(SPEC)
    pair, again = batch.pair(2, 1), build(SPEC.alone(2, 1))
    assert pair is batch.pair(2, 1)
    assert pair.spec == again.spec
    for name in ("x", "h", "h_other", "C"):
        assert np.array_equal(getattr(pair, name), getattr(again, name))
    assert pair.constant("S_0").hi == again.constant("S_0").hi


def test_a_pair_alone_is_its_own() -> None:
    """There is nothing to build."""
    batch = build(SPEC.alone(1, 0))
    assert batch.pair(0, 0) is batch


def test_only_the_first_pairs_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their balls take memory."""
    monkeypatch.setattr(module, "PAIRS", 2)
    batch = build(SPEC)
    first, last = batch.pair(0, 0), [batch.pair(i, s) for i in range(3) for s in range(2)][-1]
    assert batch.pair(0, 0) is first
    assert batch.pair(2, 1) is not last


def test_a_second_form_builds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first form left open, the referee has at hand, and decides as it would anew."""
    form = claim("truncation").form("finite")
    batch, built = build(SPEC), []

    def counting(spec: SystemSpec, device: str = "cpu") -> Batch:
        built.append(spec)
        return build(spec, device)

    monkeypatch.setattr(module, "build", counting)
    first, second = (judge(form.statement, form.assumptions, batch) for _ in range(2))
    assert first.escalated == second.escalated > 0
    assert len(built) == len({spec.text for spec in built}) > 0
    assert (first.verdicts == second.verdicts).all()
    assert np.array_equal(first.lhs.hi, second.lhs.hi)
