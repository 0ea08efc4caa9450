"""The readings of a quantity agree, or what was seen of it says nothing.

What float64 encloses and what balls enclose is one number. Where the two have nothing in common a
measure is wrong, and a violation that rests on it may be none.
"""

from __future__ import annotations

from flint import ctx

from rnnbounds.properties.errors import DisagreementError
from rnnbounds.properties.judging.sides import quantity_names
from rnnbounds.properties.judging.verdict import Judgement
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.read.numbers.sizes import float_ends
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.claim import Statement

PRECISION = 256  # bits


def require_agreement(
    statement: Statement,
    batch: Batch,
    judgement: Judgement,
    position: tuple[int, int, int] | None = None,
) -> None:
    """Raise DisagreementError if the violation at a place, or the first, rests on readings that
    disagree."""
    if position is None:
        position = judgement.first_violation()
        if position is None:
            return
    i, s, k = position
    pair = batch.pair(i, s)
    for name in sorted(quantity_names(statement)):
        if VOCABULARY[name].role != "measured":
            continue
        enclosure = batch.cache[f"enclosure of {name}"]
        window = min(k, enclosure.lo.shape[2] - 1)
        floats = (float(enclosure.lo[i, s, window]), float(enclosure.hi[i, s, window]))
        with ctx.workprec(PRECISION):
            balls = float_ends(MEASURES[name].ball(pair, k, PRECISION))
        if floats[0] > balls[1] or balls[0] > floats[1]:
            texts = f"float64 has {list(floats)}", f"balls {list(balls)}"
            raise DisagreementError(name, *texts, pair.spec.text)
