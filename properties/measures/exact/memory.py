"""Linear recurrences, in rationals: modes, powers of Jordan blocks, scans and their decays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import arb, arb_mat, ctx, fmpq

from impl.numbers.exact_norm import ball_norm
from properties.measures.exact.derivatives import at_most, norm_ends, norm_square
from properties.measures.exact.rooted import BLANK, PRECISION, each_pair, rooted
from properties.measures.measure import Measure
from properties.measures.readings.balls import BallPair, Ends
from properties.systems.batch import Batch
from properties.systems.layered.jordan import Block
from properties.systems.layered.modes import Mode
from properties.systems.layered.scan import Scan


def of_mode(name: str, square: Callable[[Mode, int, int], fmpq]) -> Measure:
    """A root of a rational that only a mode has, at each window."""

    def read(member: Any, s: int, k: int) -> fmpq | None:
        return square(member, s, k) if isinstance(member, Mode) else None

    return rooted(name, read, windows=True)


def of_scan(name: str, value: Callable[[Scan, int, int], fmpq], windows: bool = True) -> Measure:
    """A rational that only a scan has."""

    def read(member: Any, s: int, k: int) -> fmpq | None:
        return value(member, s, k) ** 2 if isinstance(member, Scan) else None

    return rooted(name, read, windows)


def power_ends(member: Any, s: int, k: int) -> Ends:
    """Float64 ends of ‖A^k‖₂."""
    with ctx.workprec(PRECISION):
        return norm_ends(member.power(k)) if isinstance(member, Block) else BLANK


def block_of(batch: Batch) -> Block | None:
    """The block of one pair."""
    member = batch.exact[0] if batch.exact else None
    return member if isinstance(member, Block) else None


def power_ball(pair: BallPair, k: int) -> arb:
    """The norm in balls at the current precision."""
    member = block_of(pair.batch)
    return arb("nan") if member is None else ball_norm(arb_mat(member.power(k)))


def power_square(batch: Batch, k: int) -> fmpq | None:
    """Its square, where it is known in rationals."""
    member = block_of(batch)
    return None if member is None else norm_square(member.power(k))


def power_at_most(batch: Batch, bound: fmpq, k: int) -> bool | None:
    """Whether it is at most a rational."""
    member = block_of(batch)
    return None if member is None else at_most(member.power(k), bound)


def last(member: Scan, s: int, k: int) -> fmpq:
    """The decay at the last input."""
    return member.decays(s, 1)[0]


def least(member: Scan, s: int, k: int) -> fmpq:
    """The least of the window, 1 of an empty one."""
    return min(member.decays(s, k), default=fmpq(1))


MEASURES = (
    of_mode("mode_gap", lambda m, s, k: m.gap(s, k)),
    of_mode("mode_start", lambda m, s, k: m.start(s, k)),
    Measure(
        "power_norm",
        enclosure=lambda batch: each_pair(batch, power_ends, windows=True),
        balls=power_ball,
        square=power_square,
        at_most=power_at_most,
    ),
    of_scan("scan_gap", lambda m, s, k: m.gap(s, k)),
    of_scan("scan_start", lambda m, s, k: m.start(s, k)),
    of_scan("decay_product", lambda m, s, k: m.product(s, k)),
    of_scan("decay_last", last, windows=False),
    of_scan("decay_least", least),
    of_scan("decay_zero", lambda m, s, k: m.decay(fmpq(0)), windows=False),
    of_scan("decay_of_mean", lambda m, s, k: m.decay(m.mean(s, k))),
)
