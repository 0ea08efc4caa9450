"""Room on the interpreter's stack, for what calls in a hot loop.

CPython keeps the frames of calls in stretches of 16 KiB. A call that crosses the end of one maps
another and gives it back when it returns: at an unlucky depth, that of a test runner say, each call
of a loop does, and takes a hundred times as long. A frame that is larger than a stretch gets one
of its own size, in which calls from it have room. Source: CPython, Python/pystate.c, push_chunk.
"""

from collections.abc import Callable
from functools import update_wrapper
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
SLOTS = 2**14  # of 8 bytes: as many are left for frames, more than a thousand of them


def with_large_frame(function: Callable[P, R]) -> Callable[P, R]:
    """The function, called from a frame of so many slots, which stay untouched."""

    def call(*args: P.args, **named: P.kwargs) -> R:
        return function(*args, **named)

    call.__code__ = call.__code__.replace(co_stacksize=SLOTS)
    update_wrapper(call, function)
    return call
