"""Measured quantities: each name of the vocabulary is read from its definition.

The fast paths and opaque quantities of all modules of this folder, in `FAST`, are found.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

import rnnbounds.properties.measures
from rnnbounds.properties.measures.measure import NEEDS, NO_NEEDS, FastPath, Measure, Needs
from rnnbounds.theory.language.vocabulary import VOCABULARY

__all__ = ["MEASURES", "Measure", "fast_paths", "needs_of"]


def measure_modules() -> tuple[ModuleType, ...]:
    """The modules of this folder, in the order of their names."""
    package = rnnbounds.properties.measures
    names = (entry.name for entry in walk_packages(package.__path__, f"{package.__name__}."))
    return tuple(import_module(name) for name in names if name != __name__)


@cache
def fast_paths() -> tuple[FastPath, ...]:
    """The fast paths of all modules."""
    return tuple(path for module in measure_modules() for path in getattr(module, "FAST", ()))


class Measures(Mapping[str, Measure]):
    """The measure of each measured quantity, those of claims too."""

    def __init__(self) -> None:
        self.cache: dict[str, Measure] = {}

    def __getitem__(self, name: str) -> Measure:
        if name not in self:
            raise KeyError(name)
        if name not in self.cache:
            own = tuple(path for path in fast_paths() if path.name == name)
            self.cache[name] = Measure(name, own)
        return self.cache[name]

    def __contains__(self, name: object) -> bool:
        known = VOCABULARY.get(name) if isinstance(name, str) else None
        return known is not None and known.role == "measured" and known.definition is not None

    def __iter__(self) -> Iterator[str]:
        return (name for name in VOCABULARY if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


MEASURES = Measures()


def needs_of(names: set[str]) -> tuple[Needs, ...]:
    """List the requirements of these quantities on an attack, in the order of their names."""
    return tuple(NEEDS.get(name, NO_NEEDS) for name in sorted(names))
