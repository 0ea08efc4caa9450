"""How much of all printed constants one model uses: the largest of its shares."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from flint import arb, ctx, fmpq

from rnnbounds.impl.convert.unitary import UnitaryModel
from rnnbounds.impl.gradients.loss import loss
from rnnbounds.impl.memory.adversary.attack import Attacked
from rnnbounds.properties.measures.certified.attacked import attacked
from rnnbounds.properties.measures.certified.point import Point, largest
from rnnbounds.properties.measures.certified.shares import at_most, share, shares
from rnnbounds.properties.measures.measure import Opaque
from rnnbounds.properties.read.numbers.sizes import float_ends
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.certified.batch import Certified
from rnnbounds.properties.systems.certified.fields import CertifiedRelu
from rnnbounds.properties.systems.certified.models import alone, equivalent
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor
PRECISION, PRECISE = 128, 1024  # bits


def held(batch: Batch) -> Certified:
    """The cells of a batch that has certificates."""
    assert isinstance(batch.cells, Certified)
    return batch.cells


def shipped(batch: Batch, i: int) -> UnitaryModel | None:
    """The unitary network of one member, of the kind that has one."""
    spec = batch.spec
    return equivalent(spec, spec.members[i]) if spec.kind == CertifiedRelu.kind else None


def against(batch: Batch, i: int, s: int) -> Attacked | None:
    """Attack a spec's first model, for its first pair of states; None for all other pairs."""
    spec = batch.spec
    first = spec.members[i] == 0 and (spec.sequence or s) == 0 and not spec.layer
    return attacked(alone(spec)) if first else None


def near(batch: Batch) -> dict[str, Tensor]:
    """Other weights of the set that training keeps to."""
    found: dict[str, Tensor] = batch.omega_of_cells.other
    return found


def targets(batch: Batch) -> Tensor:
    """Those of the loss."""
    assert batch.y is not None
    return batch.y


def point(batch: Batch, i: int, s: int, like: Point | None = None) -> Point:
    """A model at the pair of states and at the first input, in balls of the current precision;
    perhaps that which was at another pair."""
    states: dict[str, Any] = {
        "s": batch.h[i, :, s].tolist(),
        "other": batch.h_other[i, :, s].tolist(),
        "x": batch.x[i, 0, :, s].tolist(),
        "attacked": against(batch, i, s),
    }
    if like is not None:
        return replace(like, **states)
    cells = held(batch)
    return Point(
        cells.cell.program,
        {role: part[i] for role, part in cells.parameters.items()},
        cells.certificates[i],
        tuple(getattr(cells.cell, "widths", (cells.units,))),
        cells.n,
        near={role: part[i] for role, part in near(batch).items()},
        loss=loss(batch.spec.loss, batch.C[i : i + 1], targets(batch)[i : i + 1]),
        unitary=shipped(batch, i),
        **states,
    )


def greatest_share(p: Point) -> arb:
    """The largest share of a printed constant."""
    return largest([share(name, *told) for name, told in shares(p).items()])


def share_used(batch: Batch) -> Interval:
    """The largest share of each pair."""
    ends = np.full((2, batch.cell.batch, batch.x.shape[3], 1), np.nan)
    with ctx.workprec(PRECISION):
        for i, pairs in enumerate(ends[0]):
            one = None
            for s in range(len(pairs)):
                one = point(batch, i, s, one)
                ends[:, i, s, 0] = float_ends(greatest_share(one))
    return Interval(ends[0], ends[1])


def share_at_most(batch: Batch, bound: fmpq, k: int) -> bool | None:
    """True if all shares of one pair are ≤ bound, norms and sums exactly; None if undecided."""
    with ctx.workprec(PRECISE):
        found = [at_most(name, *told, bound) for name, told in shares(point(batch, 0, 0)).items()]
    return False if False in found else None if None in found else True


FAST = (
    Opaque(
        "share_used",
        lambda batch: isinstance(batch.cells, Certified),
        enclosure=share_used,
        balls=lambda pair, k: greatest_share(point(pair.batch, 0, 0)),
        at_most=share_at_most,
        reason="its shares are those of all constants that a certificate prints",
    ),
)
