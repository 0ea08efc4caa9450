"""The boxes of cells under attack are those of the product, proved, and runs are held to them."""

import pytest
import torch
from any_kind import any_system

from rnnbounds.impl.cells.gated import GRU, LSTM
from rnnbounds.properties.errors import BoxError
from rnnbounds.properties.judging.judge import Verdict, judge, require_boxes
from rnnbounds.properties.systems.batch import Batch, build_batch
from rnnbounds.properties.systems.cells.batch import require_cells
from rnnbounds.properties.systems.table import FAMILIES, make_spec, parse_spec
from rnnbounds.theory import claim as claim_of

TRUNCATION = next(form for form in claim_of("truncation").forms if form.name == "box")


def batch_of(kind: str, seed: int = 3) -> Batch:
    """A few systems of that kind."""
    regime = FAMILIES["cell"].members[kind].regimes[-1]
    return build_batch(
        any_system(
            kind=kind, regime=regime, n=2, d=1, T=4, K=4, lam=0.5, bias=0.5, layers=2,
            batch=4, sequences=2, seed=seed,
        )
    )  # fmt: skip


@pytest.mark.parametrize("kind", FAMILIES["cell"].members)
def test_what_ships_is_what_is_attacked(kind: str) -> None:
    """The box under attack is the one that the cell's own certificate rests on, and is proved."""
    batch = batch_of(kind)
    cells = require_cells(batch)
    told = cells.cell.proved_box(cells.B_x[:, None])
    assert torch.equal(cells.box, told.box)
    assert not bool(told.refused.any())
    require_boxes(batch)


@pytest.mark.parametrize(("kind", "cell"), [("lstm", LSTM), ("gru", GRU)])
def test_a_box_that_runs_leave_ends_the_attack(
    kind: str, cell: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A box 64 times too small is no evidence: the run that leaves it is shown, with its system."""
    right = cell.box  # type: ignore[attr-defined]
    monkeypatch.setattr(cell, "box", lambda self, B: right(self, B) / 64)
    with pytest.raises(BoxError, match="correct the cell's box") as caught:
        judge(TRUNCATION.statement, TRUNCATION.assumptions, batch_of(kind))
    text = str(caught.value)
    shown = parse_spec(text[text.index("{") : text.rindex("}") + 1])
    assert (shown.kind, shown.member is None) == (kind, False)


def test_a_refused_box_is_no_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks on an unproved box that no run has left are vacuous."""
    right = GRU.box
    monkeypatch.setattr(GRU, "box", lambda self, B: right(self, B) * 0.01)
    batch = build_batch(
        make_spec(kind="gru", regime="gaussian", inputs="zero", n=2, bias=0.0, T=2, K=2, batch=2)
    )
    assert bool(require_cells(batch).invariant_box.refused.all())
    found = judge(TRUNCATION.statement, TRUNCATION.assumptions, batch)
    assert bool((found.verdicts == Verdict.VACUOUS).all())
