"""Linear recurrences, in rationals: modes, powers of Jordan blocks, scans and their decays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import fmpq, fmpq_mat

from rnnbounds.properties.measures.exact.derivatives import matrix_norm
from rnnbounds.properties.measures.exact.rooted import of, rooted
from rnnbounds.properties.measures.measure import Measure
from rnnbounds.properties.systems.layered.jordan import Block
from rnnbounds.properties.systems.layered.modes import Mode
from rnnbounds.properties.systems.layered.scan import Scan


def of_mode(name: str, square: Callable[[Mode, int, int], fmpq]) -> Measure:
    """A root of a rational that only a mode has, at each window."""
    return rooted(name, of(Mode, square), windows=True)


def of_scan(name: str, value: Callable[[Scan, int, int], fmpq], windows: bool = True) -> Measure:
    """A rational that only a scan has."""
    return rooted(name, of(Scan, lambda m, s, k: value(m, s, k) ** 2), windows)


def power(member: Any, s: int, k: int) -> fmpq_mat | None:
    """A^k of a Jordan block."""
    return member.power(k) if isinstance(member, Block) else None


def last(member: Scan, s: int, k: int) -> fmpq:
    """The decay at the last input."""
    return member.decays(s, 1)[0]


def least(member: Scan, s: int, k: int) -> fmpq:
    """The least of the window, 1 of an empty one."""
    return min(member.decays(s, k), default=fmpq(1))


MEASURES = (
    of_mode("mode_gap", lambda m, s, k: m.gap(s, k)),
    of_mode("mode_start", lambda m, s, k: m.start(s, k)),
    matrix_norm("power_norm", power),
    of_scan("scan_gap", lambda m, s, k: m.gap(s, k)),
    of_scan("scan_start", lambda m, s, k: m.start(s, k)),
    of_scan("decay_product", lambda m, s, k: m.product(s, k)),
    of_scan("decay_last", last, windows=False),
    of_scan("decay_least", least),
    of_scan("decay_zero", lambda m, s, k: m.decay(fmpq(0)), windows=False),
    of_scan("decay_of_mean", lambda m, s, k: m.decay(m.mean(s, k))),
)
