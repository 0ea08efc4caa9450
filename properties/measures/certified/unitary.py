"""ReLU models against the unitary networks that ship for them: exactly, and as floats compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from flint import arb, fmpq, fmpq_mat

from rnnbounds.impl.convert.unitary import UnitaryModel
from rnnbounds.impl.numbers.rationals import exactly, identity
from rnnbounds.properties.measures.certified.models import computed, own
from rnnbounds.properties.measures.certified.orbits import Exact, rest
from rnnbounds.properties.measures.certified.used import shipped
from rnnbounds.properties.measures.exact.rooted import root_ends
from rnnbounds.properties.measures.measure import Measure, OfCells
from rnnbounds.properties.measures.readings import rationals
from rnnbounds.properties.measures.readings.balls import BallPair
from rnnbounds.properties.measures.runs import readings as of
from rnnbounds.properties.measures.runs.rounded import Rounded
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.certified.batch import Certified
from rnnbounds.properties.systems.unitary.exact import rational, square
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor


def steps(made: UnitaryModel, x: Sequence[Sequence[float]]) -> list[Exact]:
    """The states s_1 … s_T of a unitary network, in rationals."""
    V, U = (exactly(made.weights[f"weight_{name}_l0"]) for name in ("hh", "ih"))
    biases = (made.weights[f"bias_{name}_l0"].tolist() for name in ("ih", "hh"))
    b = [rational(p) + rational(q) for p, q in zip(*biases, strict=True)]
    s, found = [rational(value) for value in made.initial.tolist()], []
    for row in x:
        fed = U * fmpq_mat(len(row), 1, [rational(value) for value in row])
        moved = V * fmpq_mat(len(s), 1, s) + fed
        s = [max(a + c, fmpq(0)) for a, c in zip(moved.entries(), b, strict=True)]
        found.append(s)
    return found


def gap_square(batch: Batch, i: int, s: int) -> fmpq | None:
    """The largest ‖s_t − (D h_t, 0)‖₂² of all steps."""
    made = shipped(batch, i)
    if made is None:
        return None
    pair, x = batch.pair(i, s), batch.x[i, :, :, s].tolist()
    D = [rational(d) for d in made.scaling.tolist()]
    worst = fmpq(0)
    for t, there in enumerate(steps(made, x), start=1):
        h = rationals.run(pair, rest(pair), x[:t])
        assert h is not None
        here = [d * a for d, a in zip(D, h, strict=True)] + [fmpq(0)] * (made.states - made.n)
        worst = max(worst, square(rationals.minus(there, here) or []))
    return worst


def defect_square(batch: Batch, i: int, s: int) -> fmpq | None:
    """‖VᵀV − I‖_F² of the shipped V."""
    made = shipped(batch, i)
    if made is None:
        return None
    V = exactly(made.weights["weight_hh_l0"])
    return square((V.transpose() * V - identity(made.states)).entries())


Square = Callable[[Batch, int, int], fmpq | None]


def rooted(square: Square) -> OfCells:
    """The root of a rational of each pair."""

    def enclosure(batch: Batch) -> Interval:
        ends = np.full((2, batch.cell.batch, batch.x.shape[3], 1), np.nan)
        for i, s in np.ndindex(*ends.shape[1:3]):
            ends[:, i, s, 0] = root_ends(square(batch, i, s))
        return Interval(ends[0], ends[1])

    def ball(pair: BallPair, k: int) -> arb:
        found = square(pair.batch, 0, 0)
        return arb("nan") if found is None else arb(found).sqrt()

    return OfCells(enclosure, ball)


def floats(batch: Batch) -> Tensor:
    """h_T as the unitary networks compute it in float64, (B, n, S)."""
    found = []
    for i in range(batch.cell.batch):
        made = shipped(batch, i)
        x = batch.x[i].permute(2, 0, 1)
        if made is None:
            found.append(torch.full((x.shape[0], batch.cell.n), torch.nan, dtype=torch.float64))
            continue
        start = made.initial.expand(1, len(x), -1).contiguous()
        with torch.no_grad():
            found.append(made.original(made.rnn(batch_first=True)(x, start)[0][:, -1]))
    return torch.stack(found).mT


def contractive(batch: Batch) -> Tensor:
    """h_T as the models compute it in float64."""
    assert isinstance(batch.cells, Certified)
    s = batch.x.new_zeros(batch.cell.batch, batch.cells.units, batch.x.shape[3])
    for x in batch.x.unbind(1):
        s = batch.cells.cell.step(s, x)
    return s


def apart(other: Callable[[Batch], Tensor]) -> Callable[[Batch], Rounded]:
    """ĥ_T of the unitary network minus that of the model."""
    return lambda batch: Rounded.exact(floats(batch)) - Rounded.exact(other(batch))


def in_balls(other: Callable[[Batch], Tensor]) -> of.SeenBalls:
    """The same of one pair."""

    def seen(runs: object, batch: Batch, k: int) -> list[arb]:
        ends = (part[0, :, 0].tolist() for part in (floats(batch), other(batch)))
        return [arb(a) - arb(b) for a, b in zip(*ends, strict=True)]

    return seen


def floating(name: str, other: Callable[[Batch], Tensor]) -> Measure:
    """What is read of computed states."""
    return own(name, of.lengths(apart(other)), of.ball_lengths(in_balls(other)))


MEASURES = (
    floating("unitary_rounding", contractive),
    floating("unitary_rounding_own", computed),
    floating("unitary_computed", lambda batch: torch.zeros_like(floats(batch))),
)
ON_CELLS = {
    "unitary_gap": rooted(gap_square),
    "unitary_defect": rooted(defect_square),
}
