"""The rounding mode of the processor against the error-free transformations."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from rnnbounds.impl.checker.machine import require_floats
from rnnbounds.impl.numbers import rounding
from rnnbounds.impl.numbers.error_free import ERROR_FREE
from rnnbounds.impl.numbers.rounding import HARDWARE, Mode, is_exact_rounding, run_rounding_up

OPERATIONS: tuple[Callable[..., Any], ...] = (
    lambda up, a, b: up.add(a, b),
    lambda up, a, b: up.multiply(a, b),
    lambda up, a, b: up.divide(abs(a), abs(b)),
    lambda up, a, b: up.root(abs(a)),
)
SPECIAL = (0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 1.0, -1.0, 1.7e308, math.inf, -math.inf)


@pytest.fixture
def mode() -> Mode:
    """The mode; skipped where the machine has none that it obeys."""
    if rounding._hardware_mode() is None:
        pytest.skip("no rounding mode")
    return Mode()


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine of which no rounding mode is known."""
    monkeypatch.setattr(rounding, "_MODE_CODES", {})
    rounding._hardware_mode.cache_clear()
    yield
    rounding._hardware_mode.cache_clear()


class Fake:
    """A mode that does something else."""

    def __init__(self, change: Callable[[Any], Any], only: int = 0) -> None:
        self.change, self.only = change, only

    def run(self, operation: Callable[..., Any], *arrays: Any) -> Any:
        """The operation in the mode, and then spoilt, perhaps at one length alone."""
        found = Mode().run(operation, *arrays)
        return self.change(found) if self.only in (0, np.size(found)) else found


def drawn(size: int, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of numbers, special ones among them."""
    draw = np.random.default_rng(size)
    a, b = draw.standard_normal((2, size)) * scale
    some = np.array(SPECIAL)
    a[:100], b[:100] = np.repeat(some, 10), np.tile(some, 10)
    return a, b


@pytest.mark.parametrize("operation", OPERATIONS)
def test_same_bits_as_the_error_free_transformations(
    mode: Mode, operation: Callable[..., Any]
) -> None:
    """At usual sizes; at others no more than these."""
    with np.errstate(all="ignore"):
        for size in (200, 5000):
            a, b = drawn(size)
            found = np.fmin(mode.run(operation, a, b), math.inf)
            due = operation(ERROR_FREE, a, b)
            size = np.abs([a, b])
            usual = ((size > 2.0**-400) & (size < 2.0**400)).all(0)
            assert np.array_equal(found[usual], due[usual])
            assert (found <= due).all()


@pytest.mark.parametrize("scale", [1.0, 1e-160, 5e-324])
def test_the_least_float_that_is_enough(mode: Mode, scale: float) -> None:
    """Also where products are subnormal or less: decided in rationals."""
    a, b = drawn(300, scale)
    keep = np.isfinite(a) & np.isfinite(b) & (np.abs(a) < 1e300) & (np.abs(b) < 1e300)
    a, b = a[keep], b[keep]
    for name, exactly in (("add", Fraction.__add__), ("multiply", Fraction.__mul__)):
        found = mode.run(lambda up, x, y, name=name: getattr(up, name)(x, y), a, b)
        for x, y, z in zip(a.tolist(), b.tolist(), found.tolist(), strict=True):
            due = exactly(Fraction(x), Fraction(y))
            assert Fraction(z) >= due
            assert Fraction(math.nextafter(z, -math.inf)) < due


class Spoilt(Mode):
    """A mode in which one operation alone returns what `change` makes of (result, *arguments)."""

    def __init__(self, name: str, change: Callable[..., Any]) -> None:
        super().__init__()
        own = getattr(HARDWARE, name)
        self.up = replace(HARDWARE, **{name: lambda *given: change(own(*given), *given)})

    def run(self, operation: Callable[..., Any], *arrays: Any) -> Any:
        """The operation over that."""
        return super().run(lambda up, *given: operation(self.up, *given), *arrays)


def named(name: int) -> Mode:
    """One of the processor's other modes."""
    found = Mode()
    found._name = name
    return found


def at(scalar: str) -> Callable[..., Any]:
    """Rounded another way at usual sizes, where a number by itself comes first or second, or
    nowhere."""

    def change(found: Any, a: Any, b: Any = None) -> Any:
        ranks = np.ndim(a), np.ndim(a if b is None else b)
        alone = {(1, 1): "neither", (0, 1): "first", (1, 0): "second"}.get(tuple(map(bool, ranks)))
        off = np.where(np.abs(found) > 1e-100, np.nextafter(found, -math.inf), found)
        return off if alone == scalar else found

    return change


def taken(found: Any, *given: Any) -> Any:
    """Subnormal numbers are taken for 0."""
    return np.where((np.abs(given[0]) < LEAST) & (given[0] != 0), 0.0 * found, found)


def lost(found: Any, *given: Any) -> Any:
    """Results that are subnormal are lost."""
    return np.where(np.abs(found) < LEAST, 0.0 * found, found)


def product(a: int, b: float, wrong: float) -> Callable[..., Any]:
    """The product of the least number of all, as often as a says, and b is another."""
    return lambda found, one, two: np.where((one == a * 5e-324) & (two == b), wrong, found)


def begins(array: Any) -> int:
    """Positions in memory."""
    return int(array.__array_interface__["data"][0])


def place(kind: str, k: int) -> Callable[..., Any]:
    """One wrong number, of one length alone, of one beginning, of rows with one gap, or where all
    numbers are by themselves."""
    first: list[int] = []

    def here(array: Any) -> bool:
        if np.ndim(array) == 0:
            return kind == "number"
        first.append(begins(array))
        at = (begins(array) - first[0]) // 8
        return {
            "length": array.ndim == 1 and at == 0 and array.size == k,
            "start": array.ndim == 1 and at == k and array.size == 70 - k,
            "gap": array.ndim == 2 and array.strides[-1] == 8 * k,
            "number": False,
        }[kind]

    def change(found: Any, a: Any) -> Any:
        return np.nextafter(found, math.inf) if here(a) and not (a < 1e-100).any() else found

    return change


LEAST, OWN = 2.0**-1022, ("add", "multiply", "divide", "root")
WRONG: dict[str, Callable[[], Any]] = {
    **{f"{end} at {only}": partial(Fake, lambda x, end=end: np.nextafter(x, end), only)
       for end in (-math.inf, math.inf) for only in (0, 1, 13, 70, 70 * 250)},
    "flushed": partial(Fake, partial(lost)),
    **{f"{name}, {where}": partial(Spoilt, name, at(where))
       for name in OWN for where in ("neither", "first", "second")
       if (name, where) not in (("divide", "second"), ("root", "first"), ("root", "second"))},
    **{f"{name}, {how.__name__}": partial(Spoilt, name, how)
       for name in OWN for how in (taken, lost) if (name, how) != ("root", lost)},
    **{f"product {told}": partial(Spoilt, "multiply", product(*told))
       for told in ((1, 0.5, 0.0), (1, -0.5, -5e-324), (1, -0.5, 0.0), (3, 0.5, 5e-324))},
    **{f"{kind} {k}": partial(Spoilt, "root", place(kind, k))
       for kind, among in {"length": (1, 2, 69, 70), "start": (1, 8), "gap": (1, 2, 3),
                           "number": (0,)}.items() for k in among},
}  # fmt: skip
if platform.machine() in ("x86_64", "AMD64"):  # elsewhere their names differ
    WRONG |= {f"mode {name}": partial(named, name) for name in (0, 0x400, 0xC00)}


@pytest.mark.parametrize("how", WRONG)
def test_a_machine_that_does_not_obey(mode: Mode, how: str) -> None:
    """Too little and too much are seen, of each operation, at all sizes and in all places."""
    assert not is_exact_rounding(WRONG[how]())


def test_who_does_not_obey_is_not_asked(mode: Mode, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error-free transformations go on alone, also where a single length is wrong."""
    for only in (0, 13):
        fake = Fake(lambda x: np.nextafter(x, -math.inf), only)
        monkeypatch.setattr(rounding, "Mode", lambda fake=fake: fake)
        rounding._hardware_mode.cache_clear()
        try:
            assert rounding._hardware_mode() is None
            assert run_rounding_up(lambda up, a: up.add(a, 2.0**-60), np.float64(1.0)) > 1
        finally:
            rounding._hardware_mode.cache_clear()


def test_put_back_whatever_is_raised(mode: Mode) -> None:
    """Also within one another."""

    def fails(up: Any) -> Any:
        mode.run(lambda up: up.add(1.0, 2.0**-60))
        assert np.add(1.0, 2.0**-60) > 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mode.run(fails)
    require_floats()
    assert np.add(1.0, 2.0**-60) == 1


def test_without_a_mode(without: None) -> None:
    """The error-free transformations go on alone."""
    seen = []
    assert (
        run_rounding_up(lambda up, a: seen.append(up) or up.add(a, 2.0**-60), np.float64(1.0)) > 1
    )
    assert seen == [ERROR_FREE]
