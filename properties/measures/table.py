"""Measured quantities: each name of the vocabulary bound once.

Every module of this folder that has `MEASURES` is read: a new one is found. It may also have
`ON_CELLS`, readings on cells of what another module measures, by name.
"""

from dataclasses import replace
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

from rnnbounds.properties import measures as package
from rnnbounds.properties.measures.measure import Measure, OfCells, around
from rnnbounds.properties.measures.readings.needs import CONSTANTS, NOTHING, Needs

__all__ = ["ALL", "MEASURES", "Measure", "around", "needs_of"]


def modules() -> tuple[ModuleType, ...]:
    """The modules of this folder, in the order of their names."""
    names = (entry.name for entry in walk_packages(package.__path__, f"{package.__name__}."))
    return tuple(import_module(name) for name in names if name != __name__)


def found() -> tuple[Measure, ...]:
    """The measures of all modules, with the readings on cells that others add."""
    known = modules()
    also: dict[str, OfCells] = {}
    for module in known:
        also |= getattr(module, "ON_CELLS", {})
    every = (one for module in known for one in getattr(module, "MEASURES", ()))
    return tuple(
        replace(one, of_cells=also[one.name]) if one.name in also else one for one in every
    )


ALL = found()
MEASURES = {measure.name: measure for measure in ALL}


def needs_of(names: set[str]) -> tuple[Needs, ...]:
    """What speaking of these quantities asks of an attack, by their names in order."""
    measured = {name: MEASURES[name].needs for name in names if name in MEASURES}
    return tuple((CONSTANTS | measured).get(name, NOTHING) for name in sorted(names))
