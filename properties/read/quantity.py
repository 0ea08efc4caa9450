"""Measured quantities as their definitions say: enclosed, in balls, and as exact squares."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from math import nan
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq
from sympy import Expr, Symbol

from rnnbounds.impl.arithmetic.entries import IrrationalError
from rnnbounds.properties.read.entry_carriers import BALLS, RATIONALS, Carrier
from rnnbounds.properties.read.float_carrier import FLOATS
from rnnbounds.properties.read.ground_terms import CACHED_TERMS, Term, term_builder, unfold
from rnnbounds.properties.read.numbers.sizes import Ends, Size, as_size, float_ends, root_size
from rnnbounds.properties.read.plan import GAP, PlanStep, plan_step
from rnnbounds.properties.read.reader import ZERO, AbsentError, World, read, read_all
from rnnbounds.properties.read.worlds.networks import WORLDS, MemberWorld
from rnnbounds.properties.read.worlds.recurrent import ProjectedWorld, RecurrentWorld, StackWorld
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.exact.networks import exact_members
from rnnbounds.properties.systems.table import KINDS
from rnnbounds.theory.language.quantity import Quantity
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.numbers.interval import Interval

PRECISION = 128
WINDOWED = ("x_past",)  # sequences that differ from x outside of a window


def ground_definition(name: str, batch: Batch, k: int) -> Term:
    """The ground term of a quantity at a batch's lengths and a window."""
    formula = VOCABULARY[name].definition
    assert formula is not None
    if not may_have(batch, VOCABULARY[name]):
        raise AbsentError
    return ground_formula(formula, batch.spec.T, k, batch.spec.steps)


def may_have(batch: Batch, quantity: Quantity) -> bool:
    """True if systems of the batch's kind may have a quantity: those of an exact kind what is
    defined for them, rational members ranks too; others all but these."""
    if not quantity.about or batch.spec.kind in quantity.about:
        return True
    if KINDS[batch.spec.kind].family == "exact":
        return bool(exact_members(batch)) and quantity.name in ("defect_rank", "W_rank")
    own = (KINDS[kind] for kind in quantity.about if kind in KINDS)
    return not any(kind.family == "exact" for kind in own)


@lru_cache(maxsize=CACHED_TERMS)
def ground_formula(formula: Expr, T: int, k: int, N: int) -> Term:
    """A formula at these numbers; raises AbsentError."""
    numbers = {"T": T, "k": k, "t": T - k, "N": N}
    values: dict[Symbol, Term] = {VOCABULARY[n].symbol: value for n, value in numbers.items()}
    values |= {
        symbol: (symbol.name, k) for symbol in formula.free_symbols if symbol.name in WINDOWED
    }
    return term_builder(formula)(values)


def cached_world(batch: Batch, carrier: Carrier, pair: tuple[int, int] = (0, 0)) -> Any:
    """The world of a batch in a carrier, at the precision that is current, or of one of its pairs
    where the members are in rationals; made once."""
    key = f"world {type(carrier).__name__} {ctx.prec if carrier is BALLS else ''} {pair}"
    if key not in batch.cache:
        batch.cache[key] = make_world(batch, carrier, pair)
    return batch.cache[key]


def make_world(batch: Batch, carrier: Carrier, pair: tuple[int, int]) -> World:
    """The world of a batch in a carrier, or of one pair where members are in rationals."""
    if exact_members(batch):
        i, s = pair
        member = exact_members(batch)[i]
        return WORLDS.get(type(member), MemberWorld)(member, s, carrier)
    if batch.spec.kind == "projection":
        return ProjectedWorld(batch, carrier)
    if batch.spec.kind == "cascade":
        return StackWorld(batch, carrier)
    return RecurrentWorld(batch, carrier)


def read_size(
    name: str, batch: Batch, k: int, carrier: Carrier, pair: tuple[int, int] = (0, 0)
) -> Size:
    """Evaluate a quantity of one pair at window k from its definition; raises AbsentError."""
    value = read(ground_definition(name, batch, k), cached_world(batch, carrier, pair))
    return as_size(fmpq(0) if value is ZERO else value)


def read_windows(
    name: str, pair: Batch, ks: Sequence[int], carrier: Carrier, precision: int
) -> None:
    """Read a quantity of one pair at several windows at once, to be asked for later."""
    with ctx.workprec(precision), suppress(AbsentError, IrrationalError):
        read_all([ground_definition(name, pair, k) for k in ks], cached_world(pair, carrier))


def ball_size(name: str, pair: Batch, k: int, precision: int) -> Size:
    """A quantity of one pair in balls; NaN where it has none."""
    with ctx.workprec(precision):
        try:
            square = rational_square(name, pair, k) if exact_members(pair) else None
            return read_size(name, pair, k, BALLS) if square is None else root_size(square)
        except AbsentError:
            return Size(arb("nan"))


def exact_square(name: str, pair: Batch, k: int, precision: int) -> fmpq | None:
    """The square of a quantity where known: in rationals, or since its ball is a point."""
    square = rational_square(name, pair, k)
    return ball_size(name, pair, k, precision).square if square is None else square


def rational_square(name: str, pair: Batch, k: int) -> fmpq | None:
    """The square of a quantity read in rationals; None if it is unknown there."""
    try:
        return read_size(name, pair, k, RATIONALS).square
    except (AbsentError, IrrationalError):
        return None


def is_at_most(name: str, pair: Batch, bound: fmpq, k: int) -> bool | None:
    """True if an operator norm is ≤ bound at window k, exactly; None if that is not decided."""
    try:
        return read_size(name, pair, k, RATIONALS).is_at_most(bound)
    except (AbsentError, IrrationalError):
        return None


def pair_ends(name: str, batch: Batch, pair: tuple[int, int], k: int) -> Ends:
    """Float64 ends of a quantity of a member in rationals and a sequence of it.

    Nothing where it is below all floats but not 0, for ``==`` holds of enclosures that meet.
    """
    with ctx.workprec(PRECISION):
        try:
            measured = read_size(name, batch, k, RATIONALS, pair)
        except IrrationalError:
            measured = read_size(name, batch, k, BALLS, pair)
        except AbsentError:
            return nan, nan
        ball = measured.ball if measured.square is None else arb(measured.square).sqrt()
        low, high = float_ends(ball)
    return (nan, nan) if low <= 0 < high else (low, high)


def enclose_batch(name: str, batch: Batch) -> Interval:
    """Enclose a quantity in float64, (B, S, K+1) or (B, S, 1) without windows; NaN if absent."""
    windows = batch.K + 1 if VOCABULARY[name].windowed else 1
    shape = batch.cell.batch, batch.x.shape[3], windows
    low, high = np.full((2, *shape), np.nan)
    if exact_members(batch):
        for i, s, k in np.ndindex(shape):
            low[i, s, k], high[i, s, k] = pair_ends(name, batch, (i, s), k)
        return Interval(low, high)
    with suppress(AbsentError):
        terms = [ground_definition(name, batch, k) for k in range(windows)]
        for k, enclosure in enumerate(read_all(terms, cached_world(batch, FLOATS))):
            low[:, :, k : k + 1], high[:, :, k : k + 1] = enclosure.ends
    return Interval(low, high)


def range_square(name: str, pair: Batch, k: int) -> fmpq | None:
    """The square of what no norm of a run's end exceeds, by the range of the activation; None of
    other quantities, and where nothing is known."""
    try:
        return range_bound(ground_definition(name, pair, k), cached_world(pair, RATIONALS))
    except AbsentError:
        return None


def range_bound(term: Term, here: World) -> fmpq | None:
    """Bound the square of a norm of φ's value by the activation's range; None for other terms."""
    if term[0] not in ("norm", "weighted"):
        return None
    step = plan_step(term[1])
    end = step.operands[0] if step.operation in ("apart", "same") else term[1]
    end = end[1] if end[0] == GAP and plan_step(end[2]) == PlanStep("same", (), (0,)) else end
    end = unfold(end) or end
    return here.range_square(term) if end[0] == "phi" else None
