"""Measured quantities: each name of the vocabulary bound once.

Every module of this folder that has `MEASURES` is read: a new one is found. It may also have
`ON_CELLS`, readings on cells of what another module measures, by name.
"""

from dataclasses import replace
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

import properties.measures
from properties.measures.measure import Measure, around
from properties.measures.readings.needs import CONSTANTS, NOTHING, Needs

__all__ = ["ALL", "MEASURES", "Measure", "around", "needs_of"]


def modules() -> tuple[ModuleType, ...]:
    """The modules of this folder, in the order of their names."""
    package = properties.measures
    names = (entry.name for entry in walk_packages(package.__path__, f"{package.__name__}."))
    return tuple(import_module(name) for name in names if name != __name__)


def found() -> tuple[Measure, ...]:
    """The measures of all modules."""
    also = [known for module in modules() for known in getattr(module, "ON_CELLS", {}).items()]
    every = {one.name: one for module in modules() for one in getattr(module, "MEASURES", ())}
    every |= {name: replace(every[name], of_cells=cells) for name, cells in also}
    return tuple(every.values())


ALL = found()
MEASURES = {measure.name: measure for measure in ALL}


def needs_of(names: set[str]) -> tuple[Needs, ...]:
    """What speaking of these quantities asks of an attack, by their names in order."""
    every = CONSTANTS | {name: measure.needs for name, measure in MEASURES.items()}
    return tuple(every.get(name, NOTHING) for name in sorted(names))
