"""Values that are made when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")


class LazyMapping(Mapping[str, T]):
    """Values by name, each read when first asked for: most statements speak of few parameters, and
    ε needs constants that nobody else may."""

    def __init__(self, names: Collection[str], read: Callable[[str], T]) -> None:
        self.names, self.read = names, read
        self.cache: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self.cache:
            self.cache[name] = self.read(name)
        return self.cache[name]

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def cached_reading(read: Callable[[Any], T]) -> Callable[[Any], T]:
    """A reading that is made once for each batch."""

    @wraps(read)
    def cached(batch: Any) -> T:
        if cached not in batch.readings:
            batch.readings[cached] = read(batch)
        result: T = batch.readings[cached]
        return result

    return cached
