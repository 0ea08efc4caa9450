"""How much of all printed constants one model uses: the largest of its shares."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from flint import arb, ctx, fmpq

from rnnbounds.impl.convert.unitary import UnitaryModel
from rnnbounds.impl.memory.adversary.attack import Attacked
from rnnbounds.properties.measures.certified.attack_numbers import attack_first_model
from rnnbounds.properties.measures.certified.point import ModelPoint, largest_modulus
from rnnbounds.properties.measures.certified.shares import (
    is_share_at_most,
    recomputed_constants,
    used_share,
)
from rnnbounds.properties.measures.measure import Opaque
from rnnbounds.properties.read.numbers.sizes import float_ends
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.certified.batch import Certified
from rnnbounds.properties.systems.certified.fields import CertifiedRelu
from rnnbounds.properties.systems.certified.models import model_fields_only, unitary_network
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor
PRECISION, PRECISE = 128, 1024  # bits


def certified_cells(batch: Batch) -> Certified:
    """The cells of a batch that has certificates."""
    assert isinstance(batch.cells, Certified)
    return batch.cells


def unitary_equivalent(batch: Batch, i: int) -> UnitaryModel | None:
    """The unitary network of one member, of the kind that has one."""
    spec = batch.spec
    return unitary_network(spec, spec.members[i]) if spec.kind == CertifiedRelu.kind else None


def attack_of_pair(batch: Batch, i: int, s: int) -> Attacked | None:
    """Attack a spec's first model, for its first pair of states; None for all other pairs."""
    spec = batch.spec
    first = spec.members[i] == 0 and (spec.sequence or s) == 0 and not spec.layer
    return attack_first_model(model_fields_only(spec)) if first else None


def model_point(batch: Batch, i: int, s: int, previous: ModelPoint | None = None) -> ModelPoint:
    """A model at the pair of states and at the first input, in balls of the current precision;
    perhaps that which was at another pair."""
    states: dict[str, Any] = {
        "s": batch.h[i, :, s].tolist(),
        "other_state": batch.h_other[i, :, s].tolist(),
        "x": batch.x[i, 0, :, s].tolist(),
        "attack": attack_of_pair(batch, i, s),
    }
    if previous is not None:
        return replace(previous, **states)
    cells = certified_cells(batch)
    return ModelPoint(
        cells.cell.program,
        {role: part[i] for role, part in cells.parameters.items()},
        cells.certificates[i],
        tuple(getattr(cells.cell, "widths", (cells.units,))),
        cells.n,
        C=batch.C[i],
        unitary=unitary_equivalent(batch, i),
        **states,
    )


def largest_share(p: ModelPoint) -> arb:
    """The largest share of a printed constant."""
    return largest_modulus(
        [used_share(name, *pair) for name, pair in recomputed_constants(p).items()]
    )


def share_used(batch: Batch) -> Interval:
    """The largest share of each pair."""
    ends = np.full((2, batch.cell.batch, batch.x.shape[3], 1), np.nan)
    with ctx.workprec(PRECISION):
        for i, pairs in enumerate(ends[0]):
            current = None
            for s in range(len(pairs)):
                current = model_point(batch, i, s, current)
                ends[:, i, s, 0] = float_ends(largest_share(current))
    return Interval(ends[0], ends[1])


def is_every_share_at_most(batch: Batch, bound: fmpq, k: int) -> bool | None:
    """True if all shares of one pair are ≤ bound, norms and sums exactly; None if undecided."""
    with ctx.workprec(PRECISE):
        answers = [
            is_share_at_most(name, *pair, bound)
            for name, pair in recomputed_constants(model_point(batch, 0, 0)).items()
        ]
    return False if False in answers else None if None in answers else True


FAST = (
    Opaque(
        "share_used",
        lambda batch: isinstance(batch.cells, Certified),
        enclosure=share_used,
        balls=lambda pair, k: largest_share(model_point(pair.batch, 0, 0)),
        is_at_most=is_every_share_at_most,
        reason="its shares are those of all constants that a certificate prints",
    ),
)
