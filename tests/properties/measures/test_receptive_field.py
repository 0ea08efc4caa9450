"""Receptive field of a feed-forward model: huge inputs outside change no bit of its output."""

import numpy as np
import pytest
from msgspec.structs import replace

from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.properties.attacks.search import visit_random_specs
from rnnbounds.properties.measures import receptive_field as field
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import FAMILIES, make_spec

SPEC = make_spec(
    regime="gaussian", inputs="gaussian", n=2, d=2, T=4, K=4, bias=0.5, batch=2, sequences=2
)


def leak(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every module look one input too far back."""
    init = FeedForward.__init__

    def leaky(self: FeedForward, *args: object, k: int, **named: object) -> None:
        init(self, *args, k=k + 1, **named)

    monkeypatch.setattr(FeedForward, "__init__", leaky)


def test_the_field_is_exactly_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """No bit of the output changes with inputs before the window, and the module is the truncated
    model within rounding; a leak is seen at once."""
    batch = build_batch(SPEC)
    assert not field.field_gap(batch).hi.any()
    same = field.forward_gap(batch)
    assert (same.lo == 0).all()
    assert (same.hi < 1e-12).all()
    leak(monkeypatch)
    assert (field.field_gap(build_batch(SPEC)).lo[..., :4] > 0).all()
    assert (field.forward_gap(build_batch(SPEC)).lo[..., :3] > 0).all()


@pytest.mark.parametrize("kind", FAMILIES["cell"].members)
def test_every_cell_has_the_field_of_its_window(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its truncated model is the cell itself, which hears nothing outside; one that looks one input
    further back does."""
    drawn: list[SystemSpec] = []
    visit_random_specs(kind, drawn.append, examples=4, batch=2, sequences=2, seed=3, family="cell")
    batches = [build_batch(replace(spec, T=max(spec.T, 3), K=2)) for spec in drawn]
    assert not any(field.field_gap(batch).hi.any() for batch in batches)
    assert all((field.forward_gap(batch).lo == 0).all() for batch in batches)
    leak(monkeypatch)
    for batch in batches:
        batch.clear_caches()  # the modules that were made before
    assert any((field.field_gap(batch).lo > 0).any() for batch in batches)


def test_foreign_inputs_are_the_same_alone() -> None:
    """The inputs outside the field are a pair's own, in its batch and rebuilt alone, at least 1."""
    whole = field.replacement_inputs(build_batch(SPEC))
    alone = field.replacement_inputs(build_batch(SPEC.select_pair(1, 0)))
    assert (alone[0, ..., 0] == whole[1, ..., 0]).all()
    assert (whole.abs() >= 1).all()


def test_nan_is_not_the_same() -> None:
    """An output that is NaN does not equal itself, so its gap decides nothing."""
    batch = build_batch(SPEC)
    batch.cell.b[0] = float("nan")
    assert not np.isfinite(field.field_gap(batch).hi[0, :, 1:]).any()


@pytest.mark.parametrize(("n", "d", "T"), [(17, 2, 9), (9, 9, 5)])
def test_the_field_is_exact_in_every_layout(n: int, d: int, T: int) -> None:
    """The inputs' layout and alignment differ between the two runs; the module's bits do not."""
    spec = make_spec(
        activation="tanh", regime="gaussian", inputs="gaussian", n=n, d=d, T=T, K=T,
        lam=0.875, bias=0.25, seed=n, batch=2, sequences=3,
    )  # fmt: skip
    assert not field.field_gap(build_batch(spec)).hi.any()
