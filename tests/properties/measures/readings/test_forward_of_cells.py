"""The module that `truncate` ships, against the step of the cell that it was made of."""

import pytest
import torch

from rnnbounds.properties.measures import receptive_field as field
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.table import FAMILIES, make_spec


@pytest.mark.parametrize("kind", FAMILIES["cell"].members)
def test_the_module_is_the_truncated_cell(kind: str):
    """Of every kind of cell, for every window, the two differ by no more than rounding."""
    batch = build_batch(make_spec(kind, regime="driven", n=2, d=2, T=5, K=5, batch=2, sequences=2))
    seen = MEASURES["forward_gap"].enclose(batch)
    assert seen.lo.shape == (2, 2, 6)
    assert (seen.lo == 0).all()
    assert (seen.hi < 1e-12).all()


@pytest.mark.parametrize("kind", ["lstm", "stack"])
def test_another_module_is_told(kind: str, monkeypatch: pytest.MonkeyPatch):
    """A module whose outputs are off by a millionth is another model."""
    read = field.cached_outputs

    def off(*given: object) -> torch.Tensor:
        return read(*given) + 1e-6  # type: ignore[arg-type]

    monkeypatch.setattr(field, "cached_outputs", off)
    batch = build_batch(make_spec(kind, regime="driven", n=2, T=4, K=3))
    assert (MEASURES["forward_gap"].enclose(batch).lo > 1e-7).all()
