"""Values of a batch that are made once: a pair of the batch reads its own row of them.

What is certified is made once for a whole batch, and its bound on the inputs is that of all of a
system's sequences; exact arithmetic then decides the very statement that float64 left open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import cached_property, wraps
from typing import Any, Self, TypeVar, overload

import torch

from rnnbounds.impl.gradients.constants import Constants

T = TypeVar("T")


class LazyDict(dict[str, T]):
    """Values by name, each read when it is first asked for: most statements speak of few
    parameters, and ε needs constants that nobody else may."""

    def __init__(self, read: Callable[[str], T]) -> None:
        super().__init__()
        self.read = read

    def __missing__(self, name: str) -> T:
        self[name] = value = self.read(name)
        return value


def cached_reading(read: Callable[[Any], T]) -> Callable[[Any], T]:
    """A reading that is made once for each batch."""

    @wraps(read)
    def cached(batch: Any) -> T:
        if cached not in batch.readings:
            batch.readings[cached] = read(batch)
        result: T = batch.readings[cached]
        return result

    return cached


class per_system(cached_property[T]):  # noqa: N801 - it is used as a decorator
    """A cached property with one row a system. Its object has a ``whole``: None, or another object
    of the same sort and which of its rows is meant, from which the property is then read."""

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
        if instance is None or self.attrname in vars(instance) or instance.whole is None:
            return super().__get__(instance, owner)
        assert self.attrname is not None
        whole, row = instance.whole[:2]
        found = select_rows(getattr(whole, self.attrname), slice(row, row + 1))
        vars(instance)[self.attrname] = found
        return found


class MemberConstants(Constants):
    """The constants of one system of a batch, (1,) each."""

    def __init__(self, whole: Constants, at: slice) -> None:
        self.whole, self.at = whole, at

    def __getitem__(self, name: str) -> torch.Tensor:
        return self.whole[name][self.at]

    @property
    def P_root(self) -> torch.Tensor:
        """Q of the quadratic norm."""
        return self.whole.P_root[self.at]

    @property
    def D(self) -> torch.Tensor:
        """The matrix of the diagonal norm."""
        return self.whole.D[self.at]

    @property
    def v(self) -> torch.Tensor:
        """The weights of the maximum norm."""
        return self.whole.v[self.at]


def select_rows(value: Any, at: slice) -> Any:
    """Some rows of an array, of each array of a dict or of a dataclass, or of constants."""
    if isinstance(value, Constants):
        return MemberConstants(value, at)
    if isinstance(value, dict):
        return {name: select_rows(part, at) for name, part in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        parts = {part.name: select_rows(getattr(value, part.name), at) for part in fields(value)}
        return replace(value, **parts)
    return value[at]
