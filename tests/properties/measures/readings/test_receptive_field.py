"""Receptive field of a feed-forward model: huge inputs outside, and the edge inside."""

import numpy as np
import pytest
import torch
from msgspec.structs import replace

from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.properties.attacks.search import visit_random_specs
from rnnbounds.properties.measures import receptive_field as field
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.read.worlds.leaves import changed_inputs as edge_inputs
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import FAMILIES, make_spec

SPEC = make_spec(
    regime="gaussian", inputs="gaussian", n=2, d=2, T=4, K=4, bias=0.5, batch=2, sequences=2
)


def test_the_field_is_exactly_the_window() -> None:
    """No bit of the output changes with inputs before the window; the oldest inside matters."""
    batch = build_batch(SPEC)
    found = field.field_gap(batch)
    assert not found.lo.any()
    assert not found.hi.any()
    edge = MEASURES["edge_gap"].enclose(batch)
    assert np.isnan(edge.lo[..., 0]).all()
    assert (edge.lo[..., 1:] > 0).all()


def test_a_leak_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that looks one input too far back has a field gap that is certainly not zero."""
    init = FeedForward.__init__

    def leaky(self: FeedForward, *args: object, k: int, **named: object) -> None:
        init(self, *args, k=min(k + 1, 4), **named)

    monkeypatch.setattr(FeedForward, "__init__", leaky)
    found = field.field_gap(build_batch(SPEC))
    assert (found.lo[..., :4] > 0).all()
    assert not found.hi[..., 4].any()
    assert (field.forward_gap(build_batch(SPEC)).lo[..., :3] > 0).all()


@pytest.mark.parametrize("kind", FAMILIES["cell"].members)
def test_every_cell_has_the_field_of_its_window(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its truncated model hears nothing outside; one that looks one input further back does."""
    drawn: list[SystemSpec] = []
    visit_random_specs(kind, drawn.append, examples=4, batch=2, sequences=2, seed=3, family="cell")
    batches = [build_batch(replace(spec, T=max(spec.T, 3), K=2)) for spec in drawn]
    assert not any(field.field_gap(batch).hi.any() for batch in batches)
    init = FeedForward.__init__

    def leaky(self: FeedForward, *args: object, k: int, **named: object) -> None:
        init(self, *args, k=k + 1, **named)

    monkeypatch.setattr(FeedForward, "__init__", leaky)
    for batch in batches:
        batch.clear_caches()  # the modules that were made before
    assert any((field.field_gap(batch).lo > 0).any() for batch in batches)


def test_foreign_inputs_are_the_same_alone() -> None:
    """The inputs outside the field are a pair's own, in its batch and rebuilt alone, at least 1."""
    whole = field.replacement_inputs(build_batch(SPEC))
    for member, sequence in ((0, 1), (1, 0)):
        alone = field.replacement_inputs(build_batch(SPEC.select_pair(member, sequence)))
        assert (alone[0, ..., 0] == whole[member, ..., sequence]).all()
    assert (whole.abs() >= 1).all()
    zero = build_batch(make_spec(inputs="zero", d=2, T=3))
    edges = edge_inputs(zero)
    assert (edges[:, :, 0] == 1).all()
    assert (edges[:, :, 1] == 0).all()
    assert (edge_inputs(build_batch(SPEC)) == -build_batch(SPEC).x).all()


def test_gaps_between_programs() -> None:
    """Module and truncated model agree within rounding; a full model forgets nothing exactly."""
    batch = build_batch(SPEC)
    same = field.forward_gap(batch)
    assert (same.lo == 0).all()
    assert (same.hi < 1e-12).all()
    assert (MEASURES["recurrent_gap"].enclose(batch).lo[..., :3] > 0).all()
    padding = MEASURES["padding_gap"].enclose(batch)
    assert (padding.lo[..., 1:3] > 0).all()
    silent = build_batch(make_spec(activation="identity", n=2, T=4, K=4))
    assert (MEASURES["padding_gap"].enclose(silent).lo == 0).all()


def test_nan_is_not_the_same() -> None:
    """An output that is NaN does not equal itself, so its gap decides nothing."""
    batch = build_batch(SPEC)
    batch.cell.b[0] = float("nan")
    assert not np.isfinite(field.field_gap(batch).hi[0, :, 1:]).any()
    assert torch.isfinite(batch.x).all()


@pytest.mark.parametrize(("n", "d", "T"), [(17, 2, 9), (17, 5, 9), (9, 9, 5)])
def test_the_field_is_exact_in_every_layout(n: int, d: int, T: int) -> None:
    """The inputs' layout and alignment differ between the two runs; the module's bits do not."""
    spec = make_spec(
        activation="tanh", regime="gaussian", inputs="gaussian", n=n, d=d, T=T, K=T,
        lam=0.875, bias=0.25, seed=n, batch=2, sequences=3,
    )  # fmt: skip
    assert not field.field_gap(build_batch(spec)).hi.any()
