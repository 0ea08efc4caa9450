"""NumPy's elementwise operations rounded up, by the rounding mode of the processor where it obeys.

IEEE 754 (section 4.3.1) has a mode in which +, −, ×, ÷ and √ return the least float that is at
least the exact result. A thread keeps it in a register of its own, which is switched around one
operation or several in a row, and put back whatever is raised meanwhile. What runs in that mode is
elementwise and NumPy's alone: torch and BLAS have threads, which keep modes of their own, and the
functions of libraries, exp say, are made for rounding to nearest.

That NumPy obeys is not assumed but tried, once in a process: every operation, on arrays of all
lengths that leave vector instructions a rest, wherever in memory they begin, on one so long that a
library which takes NumPy's place might share it out among threads, and on subnormals. Where one
number is not what it must be, or where the mode has no known name, the error-free transformations
(`impl.numbers.error_free`) go on alone. Assumed is that a processor's cores are
alike, and that nobody flushes subnormals, which `impl.checker.machine` looks after.
"""

import ctypes
import platform
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from rnnbounds.impl.numbers.error_free import ERROR_FREE, Floats, Upward

# FE_UPWARD of <fenv.h>, which is the field of the register itself.
_MODE_CODES = {"x86_64": 0x800, "AMD64": 0x800, "aarch64": 0x400000, "arm64": 0x400000}
_LENGTHS = 70  # of eight numbers an instruction, and up to eight of these in a turn of a loop
_REPEATS = 250  # of that length, beyond all that NumPy takes at once
_SMALLEST = 5e-324

HARDWARE = Upward(np.add, np.multiply, lambda a, b: np.divide(a, b + 0.0), np.sqrt)


def run_rounding_up(operation: Callable[..., Floats], *arrays: Floats) -> Floats:
    """operation(up, *arrays), whose sums, products, quotients and roots `up` rounds up.

    In it NaN may come of what is at most infinity.
    """
    mode = _hardware_mode()
    return operation(ERROR_FREE, *arrays) if mode is None else mode.run(operation, *arrays)


class Mode:
    """Rounding upwards, as the C library names it; raises where it does not."""

    def __init__(self) -> None:
        library = ctypes.PyDLL(None)
        self._get, self._set = library.fegetround, library.fesetround
        self._name = _MODE_CODES[platform.machine()]

    def run(self, operation: Callable[..., Floats], *arrays: Floats) -> Floats:
        """operation(HARDWARE, *arrays) in this mode."""
        before = self._get()
        try:  # what a signal raises comes after a call has returned
            self._set(self._name)
            return operation(HARDWARE, *arrays)
        finally:
            self._set(before)


@cache
def _hardware_mode() -> Mode | None:
    """The processor's mode of rounding upwards, or None if NumPy does not obey it."""
    try:
        mode = Mode()
    except (OSError, TypeError, AttributeError, KeyError):
        return None
    return mode if is_exact_rounding(mode) else None


def is_exact_rounding(mode: Any) -> bool:
    """True if NumPy's results in that mode equal the error-free transformations bit for bit, and
    its subnormal results equal those computed in advance."""
    with np.errstate(all="ignore"):
        return all(_is_identical(computed, expected) for computed, expected in _result_pairs(mode))


def _result_pairs(mode: Any) -> Iterator[tuple[Floats, Floats]]:
    """Pairs of a result computed in the mode and the expected one, which must be identical."""
    draw = np.random.default_rng(0)
    a, b = (draw.standard_normal((2, _LENGTHS)) for _ in range(2))
    a[:, ::5], b[:, ::3] = 1.5, -0.25  # some results are exact
    number, magnitudes = b[0, 1], np.abs(a)
    trials: list[tuple[Callable[..., Floats], tuple[Floats, ...]]] = [
        (lambda up, x: up.root(x), (magnitudes,)),
        *((lambda up, x, y: up.add(x, y), pair) for pair in ((a, b), (a, number), (number, a))),
        *(
            (lambda up, x, y: up.multiply(x, y), pair)
            for pair in ((a, b), (a, number), (number, a))
        ),
        *(
            (lambda up, x, y: up.divide(x, y), pair)
            for pair in ((magnitudes, b * b), (1.0, magnitudes))
        ),
    ]
    for operation, operands in trials:
        expected = operation(ERROR_FREE, *operands)
        for place in _subarrays():
            parts = (x if np.ndim(x) == 0 else x[place] for x in operands)
            yield mode.run(operation, *parts), expected[place]
        repeated = (x if np.ndim(x) == 0 else np.tile(x[0], _REPEATS) for x in operands)
        yield mode.run(operation, *repeated), np.tile(expected[0], _REPEATS)
    smallest = np.full(_LENGTHS, _SMALLEST)
    yield mode.run(lambda up, x: up.multiply(x, 0.5), smallest), smallest
    yield mode.run(lambda up, x: up.multiply(x, -0.5), smallest), -0.0 * smallest
    yield mode.run(lambda up, x: up.multiply(3 * x, 0.5), smallest), 2 * smallest
    yield mode.run(lambda up, x: up.add(x, x), smallest), 2 * smallest
    yield mode.run(lambda up, x: up.divide(x, 2.0), smallest), smallest
    yield mode.run(lambda up, x: up.root(x), smallest), np.full(_LENGTHS, 2.0**-537)


def _subarrays() -> Iterator[Any]:
    """Indices of subarrays: of every length, from every start, with strides, and single numbers."""
    yield from ((0, slice(k)) for k in range(1, _LENGTHS + 1))
    yield from ((0, slice(k, None)) for k in range(1, 9))
    yield from ((slice(None), slice(None, None, k)) for k in (1, 2, 3))
    yield from ((0, k) for k in range(5))


def _is_identical(computed: Floats, expected: Floats) -> bool:
    return np.asarray(computed).tobytes() == np.asarray(expected).tobytes()
