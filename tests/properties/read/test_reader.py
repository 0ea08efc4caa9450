"""Quantities are read from their definitions, and fast paths read what these say."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch
from flint import arb, ctx, fmpq
from seen import PRECISION, readings

from rnnbounds.properties.attacks.search import random_specs
from rnnbounds.properties.measures.measure import FastPath, Opaque
from rnnbounds.properties.measures.table import MEASURES, paths
from rnnbounds.properties.read import quantity
from rnnbounds.properties.systems.batch import Batch, build
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import KINDS, system
from rnnbounds.theory.language.statement import le
from rnnbounds.theory.language.vocabulary import VOCABULARY, symbols, unfold

SMALL = 24  # steps of the runs on which fast paths are held against the reader
FAST = [path for path in paths() if not isinstance(path, Opaque)]
# Weights after descents, shipped networks and projections in floats are what fast paths alone know.
UNREAD = {"w_gap", "w_gap_before", "trained_gap"}


def drawn(kind: str) -> Iterator[Batch]:
    """Small batches of a kind, as the quick profile draws them."""
    specs: list[SystemSpec] = []
    random_specs(kind, specs.append, examples=6, batch=2, sequences=2, seed=1)
    return (build(spec) for spec in specs if spec.T <= SMALL)


def test_every_measured_quantity_is_read_or_opaque_for_a_reason() -> None:
    """At most 25 are opaque, each with its reason, and no path is of an unknown name."""
    measured = {name for name, one in VOCABULARY.items() if one.role == "measured"}
    opaque = [path for path in paths() if isinstance(path, Opaque)]
    assert set(MEASURES) == measured
    assert {path.name for path in paths()} <= measured
    assert len({path.name for path in opaque}) <= 25
    assert all(path.reason for path in opaque)


@pytest.mark.parametrize("kind", KINDS)
def test_fast_paths_read_what_definitions_say(kind: str) -> None:
    """Of each kind: enclosures and balls meet the reader's, exact squares are its squares."""
    with torch.no_grad():
        for batch in drawn(kind):
            for path in FAST:
                if path.where(batch) and path.name not in UNREAD:
                    hold(path, batch)


def hold(path: FastPath, batch: Batch) -> None:
    """Hold one fast path against the reader on a batch, at a few windows of its first pair."""
    pair, name = batch.pair(0, 0), path.name
    windows = {0, 1, batch.K} if VOCABULARY[name].windowed else {0}
    for k in (k for k in windows if k <= batch.K):
        read = quantity.size(name, pair, k, PRECISION)
        if not read.ball.is_finite():
            continue
        if path.enclosure is not None:
            found = path.enclosure(batch)
            low, high = (float(end[0, 0, min(k, end.shape[2] - 1)]) for end in found.ends)
            assert not arb(low) > read.ball, (name, k, batch.spec.text)
            assert not arb(high) < read.ball, (name, k, batch.spec.text)
        with ctx.workprec(PRECISION):
            assert read.ball.overlaps(MEASURES[name].ball(pair, k, PRECISION)), (name, k)
        square = None if path.square is None else path.square(pair, k)
        assert square in (None, quantity.exact_square(name, pair, k, PRECISION)), (name, k)


@pytest.mark.parametrize("kind", KINDS)
def test_readings_of_a_quantity_agree(kind: str) -> None:
    """Of each kind: the enclosure meets the ball, and the ball the root of the exact square."""
    own = {"rnn", "gradient", "smooth", "linear"}
    for batch in drawn(kind):
        names = [
            name for name, one in VOCABULARY.items()
            if one.role == "measured" and (kind in one.about or (not one.about and kind in own))
        ]  # fmt: skip
        for seen in readings(batch, names, [(0, 0)], squares=True):
            known = not (math.isnan(seen.low) or math.isnan(seen.high) or seen.ball.is_nan())
            assert not known or seen.held, (seen, batch.spec.text)


@pytest.mark.parametrize("precision", [64, 128])
def test_another_definition_is_measured_without_another_edit(
    monkeypatch: pytest.MonkeyPatch, precision: int
) -> None:
    """Where theory defines a gap as twice the difference, twice the gap is read, in each carrier;
    the fast paths of the old one are refused by the test that holds them against the reader."""
    batch = build(system(activation="relu", n=2, T=4, K=4, bias=0.5))
    (before,) = (quantity.exact_square("h_gap", batch, 1, precision),)
    assert before is not None
    old, two = VOCABULARY["h_gap"], 2
    monkeypatch.setitem(VOCABULARY, "h_gap", replace(old, definition=two * old.definition))
    assert quantity.exact_square("h_gap", batch, 1, precision) == 4 * before
    with ctx.workprec(precision):
        assert quantity.size("h_gap", batch, 1, precision).ball.overlaps(arb(4 * before).sqrt())
    found, root = quantity.enclose("h_gap", batch), math.sqrt(float(4 * before))
    assert found.lo[0, 0, 1] <= root * (1 + 1e-15)
    assert found.hi[0, 0, 1] >= root * (1 - 1e-15)
    (fast,) = (path for path in FAST if path.name == "h_gap" and path.where(batch))
    with pytest.raises(AssertionError):
        hold(fast, batch)


def test_what_is_read_is_what_ledgers_unfold() -> None:
    """One definition for both."""
    (h_gap,) = symbols("h_gap")
    assert unfold(le(h_gap, 1)).lhs == VOCABULARY["h_gap"].definition


def test_a_gap_that_vanishes_is_seen_to_vanish() -> None:
    """Where the recurrent matrix is nilpotent the difference of two tanh runs is exactly 0."""
    pair = build(system(regime="nilpotent", n=2, T=4, K=4)).pair(0, 0)
    for name in ("h_gap", "y_gap", "forward_gap"):
        assert quantity.size(name, pair, 3, 64).ball.is_zero(), name
    assert quantity.exact_square("h_gap", pair, 4, 64) == fmpq(0)


def test_a_quantity_of_other_systems_is_not_read() -> None:
    """A vanilla network has no gates: no enclosure, no ball, no square."""
    batch = build(system(sequences=2))
    for name in ("gate_gap", "stack_gap", "scan_gap", "w_gap", "unitary_gap"):
        found = MEASURES[name].enclose(batch)
        assert np.isnan(found.hi).all(), name
        assert not MEASURES[name].ball(batch.pair(0, 0), 0, 64).is_finite(), name
        assert MEASURES[name].exact_square(batch.pair(0, 0), 0, 64) is None, name
