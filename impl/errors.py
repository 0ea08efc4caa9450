"""Errors of this room: named, built from facts, and ending with the remedy; numbers in messages.

A bound is rounded outwards to the digits that are shown, so that what is read is true too.
"""

import math
from collections.abc import Callable, Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from difflib import get_close_matches
from functools import wraps
from typing import ParamSpec, TypeVar
from warnings import warn

from rnnbounds.errors import InputError as InputError
from rnnbounds.errors import printable

P = ParamSpec("P")
R = TypeVar("R")


class ShapeError(InputError):
    """A tensor does not have the shape that its role asks for."""

    def __init__(
        self, what: str, expected: str, actual: object, remedy: str = "pass one of that shape"
    ) -> None:
        super().__init__(f"{what} has shape {_shape(actual)}, but {expected} is needed; {remedy}")


class PrecisionError(InputError):
    """A tensor is not float64, in which all bounds are computed, or not what else is needed."""

    def __init__(self, what: str, dtype: object, needed: str = "float64") -> None:
        super().__init__(f"{what} is {dtype}, but bounds need {needed}; convert it with .double()")


class NotFiniteError(InputError):
    """A number is NaN or infinite where only finite ones make sense."""

    def __init__(self, what: str, remedy: str = "repair or retrain the model") -> None:
        super().__init__(f"{what} holds NaN or infinity; {remedy}")


class RangeError(InputError):
    """A number lies outside the range that makes sense for it."""

    def __init__(self, what: str, value: object, needed: str) -> None:
        super().__init__(f"{what} = {value}, but it must be {needed}; choose another value")


def number(what: str, value: object, needed: str) -> float:
    """One real number as a float; raises RangeError with what is needed for text and all else."""
    try:
        if isinstance(value, str | bytes):
            raise TypeError
        return float(value)  # type: ignore[arg-type]  # refuses all other types itself
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise RangeError(what, shown(repr(value)), needed) from None


class FileError(InputError):
    """A file, or what else has a name, from which nothing can be taken, or which is not written."""

    def __init__(self, name: object, reason: str, remedy: str) -> None:
        self.name = name
        super().__init__(f"{shown(name)}: {reason}; {remedy}")


class UnknownNameError(InputError):
    """A name that no table holds; lists the close matches."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        known = sorted(known)
        close = get_close_matches(str(name), known, n=3) or known
        super().__init__(f"unknown {kind} {name!r}; did you mean {' or '.join(close)}?")


def shown(name: object) -> str:
    """A path or a name in a message: printable, and not too long."""
    return printable(name)[:200]


def exactly(value: float) -> str:
    """The number in as few digits as tell it from all others: 2, 0.1, 1.9999996, 1e-06."""
    told = float(value)
    return str(int(told)) if told.is_integer() and abs(told) < 1e16 else repr(told)


def at_least(bound: float, digits: int = 6, below: float = math.inf) -> str:
    """An upper bound in decimal digits, rounded up; in 13 or 17 of them where fewer would hide that
    it is less than `below`."""
    return _outwards(bound, digits, ROUND_CEILING, lambda told: bound < below <= told)


def at_most(bound: float, digits: int = 6, above: float = -math.inf) -> str:
    """A lower bound in decimal digits, rounded down; in 13 or 17 of them where fewer would hide
    that it is greater than `above`."""
    return _outwards(bound, digits, ROUND_FLOOR, lambda told: bound > above >= told)


def factor(lam: float) -> str:
    """A factor λ in six digits, rounded up, but below 1 if it is; ∞ where none is known."""
    return at_least(lam, below=1.0) if lam < math.inf else "∞"


def to_copy(bound: float) -> str:
    """An upper bound to be typed again: as it is in at most six digits, else rounded up to six."""
    return exactly(bound) if float(f"{float(bound):.6g}") == bound else at_least(bound)


def _outwards(bound: float, digits: int, rounding: str, hides: Callable[[Decimal], bool]) -> str:
    """The digits of a bound, rounded that way: the fewest that do not hide what they must not."""
    for precision in (digits, 13, 17):
        told = Context(prec=precision, rounding=rounding).create_decimal(Decimal(bound))
        if not hides(told):
            break
    return f"{told:g}"


def _shape(actual: object) -> str:
    return str(tuple(getattr(actual, "shape", ()))) if hasattr(actual, "shape") else str(actual)


def _renamed(function: Callable[..., object], old: str, new: str) -> InputError:
    what = f"{function.__name__} has no argument {old!r} any more"
    return InputError(f"{what}; write {new}=… for it")


RENAMINGS: list[tuple[str, str, str]] = []
"""Function, old keyword, and the version that refuses it: a release of that version drops it."""


def renamed(until: str, /, **names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function that still takes keywords old=new that it had before, with a DeprecationWarning;
    version `until` refuses them by `refused`.

    Raises InputError if the old and the new keyword are both given.
    """

    def renaming(function: Callable[P, R]) -> Callable[P, R]:
        RENAMINGS.extend((function.__name__, old, until) for old in names)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            __tracebackhide__ = True  # no frame of ours in what pytest shows of a failure
            for old in names.keys() & kwargs.keys():
                new = names[old]
                if new in kwargs:
                    raise _renamed(function, old, new)
                warn(
                    f"{function.__name__}({old}=…) is deprecated, and an error from {until} on; "
                    f"write {new}=… for it",
                    DeprecationWarning,
                    stacklevel=2,
                )
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return renaming


def refused(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function that raises InputError for keywords old=new that it once had."""

    def refusing(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            __tracebackhide__ = True
            for old in names.keys() & kwargs.keys():
                raise _renamed(function, old, names[old])
            return function(*args, **kwargs)

        return call

    return refusing
