"""Measured quantities: each name of the vocabulary bound once.

Every module beside this one that has `MEASURES` is read: a new one is found.
"""

from importlib import import_module
from pkgutil import iter_modules

import properties.measures
from properties.measures.measure import Measure, around
from properties.measures.readings.needs import CONSTANTS, NOTHING, Needs

__all__ = ["ALL", "MEASURES", "Measure", "around", "needs_of"]


def found() -> tuple[Measure, ...]:
    """The measures of all modules, in the order of their names."""
    package = properties.measures
    names = (f"{package.__name__}.{entry.name}" for entry in iter_modules(package.__path__))
    modules = (import_module(name) for name in names if name != __name__)
    return tuple(measure for module in modules for measure in getattr(module, "MEASURES", ()))


ALL = found()
MEASURES = {measure.name: measure for measure in ALL}


def needs_of(names: set[str]) -> tuple[Needs, ...]:
    """What speaking of these quantities asks of an attack, by their names in order."""
    every = CONSTANTS | {name: measure.needs for name, measure in MEASURES.items()}
    return tuple(every.get(name, NOTHING) for name in sorted(names))
