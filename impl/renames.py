"""Keywords that had another name: the old one is refused in a line that has the new one."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from impl.errors import InputError

P = ParamSpec("P")
R = TypeVar("R")


class RenamedError(InputError):
    """An argument that is called otherwise now."""

    def __init__(self, function: str, old: str, new: str) -> None:
        super().__init__(f"{function} has no argument {old!r} any more; write {new}=… for it")


def renamed(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function that raises RenamedError for keywords old=new that it once had."""

    def refusing(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for old in names.keys() & kwargs.keys():
                raise RenamedError(function.__name__, old, names[old])
            return function(*args, **kwargs)

        return call

    return refusing
