"""Readings of systems in each arithmetic, judgements and attacks of claims, for tests."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from flint import arb, ctx

from rnnbounds.impl.arithmetic.base import Floats, Rows
from rnnbounds.properties.attacks.budget import Budget
from rnnbounds.properties.attacks.campaign import (
    FormEvidence,
    attack_block_count,
    attack_forms,
    claim_pools,
    empty_evidence,
    merge_evidence,
)
from rnnbounds.properties.judging.judge import Verdict, judge
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.read.numbers.rounded import Rounded, RoundedCells
from rnnbounds.properties.systems.batch import Batch, build_batch
from rnnbounds.properties.systems.cells.batch import require_cells
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.theory.language.parse import parse_statement
from rnnbounds.theory.proof.claim import Assumption, Claim

PRECISION = 256


@dataclass(frozen=True)
class Reading:
    """A quantity of one pair at a window: float64's enclosure, the ball, the exact root if any."""

    name: str
    k: int
    low: float
    high: float
    ball: arb
    root: arb | None

    @property
    def held(self) -> bool:
        """True if the enclosure meets the ball, and the ball the root; NaN contains nothing."""
        nan = math.isnan(self.low) or math.isnan(self.high)
        apart = bool(arb(self.low) > self.ball) or bool(arb(self.high) < self.ball)
        return not nan and not apart and (self.root is None or self.root.overlaps(self.ball))

    @property
    def inside(self) -> bool:
        """True if the whole ball lies in the enclosure."""
        return bool(arb(self.low) <= self.ball) and bool(self.ball <= arb(self.high))


def readings(
    batch: Batch, names: Iterable[str], pairs: Iterable[tuple[int, int]], squares: bool = False,
    precision: int = PRECISION,
) -> list[Reading]:  # fmt: skip
    """The quantities at every window: enclosures of the batch, balls of the pairs by themselves."""
    alone = {(m, s): build_batch(batch.spec.select_pair(m, s)) for m, s in pairs}
    seen = []
    with ctx.workprec(precision):
        for name in names:
            measure = MEASURES[name]
            found = measure.enclose(batch)
            for (m, s), pair in alone.items():
                for k in range(found.lo.shape[2]):
                    square = measure.exact_square(pair, k, precision) if squares else None
                    root = None if square is None else arb(square).sqrt()
                    low, high = float(found.lo[m, s, k]), float(found.hi[m, s, k])
                    ball = measure.ball(pair, k, precision)
                    seen.append(Reading(name, k, low, high, ball, root))
    return seen


def run_of_cells(batch: Batch, weights: dict[str, torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """The state (N,) of a cell with these weights after the inputs x (T, d) from zero, by its own
    program in floats, differentiable."""
    cells = require_cells(batch)
    at = Rows(torch.zeros(1, cells.units, dtype=torch.float64))
    for one in x:
        at = cells.cell.program(Floats(weights), at, Rows(one[None]))
    return at.value[0]


def loss_at(batch: Batch, member: int, h: torch.Tensor) -> torch.Tensor:
    """The loss of a member at a state whose last n entries are shown."""
    C = batch.C[member]
    y = C @ h[-C.shape[1] :]
    if batch.spec.loss == "linear":
        return y[0]
    if batch.spec.loss == "squared":
        assert batch.y is not None
        return (y - batch.y[member]).square().sum() / 2
    return -y.log_softmax(0)[0]


def verdicts(text: str, spec: SystemSpec, *assumptions: Assumption) -> set[str]:
    """Judge a statement on the systems of a spec."""
    found = judge(parse_statement(text), assumptions, build_batch(spec)).verdicts
    return {Verdict(int(code)).name for code in found.ravel()}


def attack_claim(claim: Claim, attack: str, *, budget: Budget, seed: int) -> FormEvidence:
    """Attack every form of a claim; the evidence by the form's name."""
    evidence = empty_evidence(claim, claim.forms)
    for pool, group in claim_pools(claim, budget).items():
        for block in range(attack_block_count(attack, group, budget)):
            block_evidence = attack_forms(
                pool, attack, [group], budget=budget, seed=seed, block=block
            )
            merge_evidence(evidence, block_evidence[claim.id])
    return evidence


def rounded_step(cell: Any, s: Rounded, x: torch.Tensor) -> Rounded:
    """φ(s, x) for M columns a system: s (B, N, M), x (B, d, M)."""
    return cell.program(RoundedCells(cell.parameters), s, Rounded.exact(x))
