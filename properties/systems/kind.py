"""Record that describes a kind of system to the rest of the package.

A kind is one file that ends in its ``KINDS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple, cast

from hypothesis.strategies import SearchStrategy

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.cells.table import CELLS
from rnnbounds.properties.systems.spec import Make, SystemSpec
from rnnbounds.properties.systems.supply.route import Route

# The cell of what is none.
NO_CELL = "no-cell"
# Every recurrent cell contracts in some norm, if its weights are small enough.
STATE = ("contraction", "smooth")


class Column(NamedTuple):
    """A column's title, and which of the assumptions that tie claims to cells it meets, by id."""

    title: str
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wanted:
    """Request for a drawn spec: systems and sequences; ``wide`` adds regimes that only a weighted
    norm certifies, ``stepwise`` is True if single steps are measured, ``descends`` if cells are
    trained."""

    batch: int = 64
    sequences: int = 8
    wide: bool = False
    stepwise: bool = False
    descends: bool = False


Draws = Callable[[Wanted], SearchStrategy[SystemSpec]]


class Climb(NamedTuple):
    """How ascent goes through systems of a kind: the first of them, from a count and a seed, their
    free parameters, and by how much fewer steps and starts they are than those of an RNN."""

    starts: Callable[[int, int], Iterator[SystemSpec]]
    ascent: Callable[[SystemSpec], Any]
    slowness: int = 1
    fewer: int = 1


def vanilla(spec: SystemSpec) -> str:
    """The name of the vanilla network with that activation."""
    return "linear" if spec.activation == "identity" else f"rnn-{spec.activation}"


def cell_named(base: str) -> Callable[[SystemSpec], str]:
    """The cell of that name, or that which has the activation in its name too."""

    def cell(spec: SystemSpec) -> str:
        exact = f"{base}-{spec.activation}"
        return exact if exact in CELLS else base

    return cell


def cell_of_regime(spec: SystemSpec) -> str:
    """The cell that the regime names."""
    return spec.regime


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of system.

    spec: the struct of its specs. draws: what Hypothesis draws. route: the family of its systems,
    which makes batches of specs and supplies their constants. cell: the name of the cell that a
    system is one of, as ``--cell`` has it. can_be: the cells that its systems can be, where their
    fields do not tell. columns: those of the matrix that this kind brings, by name. family: whether
    its systems are what is said of any cell.

    extremal: its worst instances. special: those that have a name. corners: those for statements of
    which nothing is known. long: those whose runs only the engine's own rounding is measured on.
    climb, fits: how optimisation goes through its systems, or finds some from a count, steps and a
    seed. least: the least value to which a field shrinks. most: systems and sequences that one
    example has at most. looks: the fields that a look at each cell changes, of a network every
    activation if nothing else is said. contracts: whether what a user types presupposes
    λ < 1 of it.
    """

    spec: Make
    draws: Draws
    route: Route
    cell: Callable[[SystemSpec], str] = vanilla
    can_be: Sequence[str] = ()
    columns: Mapping[str, Column] = field(default_factory=dict)
    family: bool = False
    extremal: Callable[[], Iterator[SystemSpec]] = lambda: iter(())
    special: Mapping[str, SystemSpec] = field(default_factory=dict)
    corners: Callable[[], Iterator[SystemSpec]] = lambda: iter(())
    long: Callable[[], Iterator[SystemSpec]] = lambda: iter(())
    climb: Climb | None = None
    fits: Callable[[int, int, int], Iterator[SystemSpec]] | None = None
    least: Callable[[SystemSpec], Mapping[str, int]] = lambda spec: {}
    most: tuple[int, int] | None = None
    looks: Sequence[Mapping[str, Any]] | None = None
    contracts: bool = False

    def __post_init__(self) -> None:
        self.struct.about = self

    @property
    def struct(self) -> type[SystemSpec]:
        """The struct as a type."""
        return cast(type[SystemSpec], self.spec)

    @property
    def name(self) -> str:
        """By which specs and claims name it."""
        return self.struct.kind

    @property
    def regimes(self) -> tuple[str, ...]:
        """How its systems are drawn, the simplest first."""
        return self.struct.regimes

    @property
    def activations(self) -> tuple[str, ...]:
        """Those of its systems."""
        return self.struct.activations or tuple(ACTIVATIONS)

    @property
    def networks(self) -> bool:
        """True if its systems are vanilla networks, each named by its activation."""
        return self.cell is vanilla

    @property
    def named(self) -> tuple[str, ...]:
        """The cells that its systems can be: by the number of layers, activation and regime."""
        if self.can_be:
            return tuple(self.can_be)
        has = self.struct.has
        choices = {"layers": (2, 1), "activation": self.activations, "regime": self.regimes}
        names = [name for name in choices if has(name)]
        chosen = product(*(choices[name] for name in names))
        specs = (self.spec(**dict(zip(names, each, strict=True))) for each in chosen)
        return tuple(dict.fromkeys(map(self.cell, specs)))

    @property
    def seen(self) -> tuple[Mapping[str, Any], ...]:
        """Field changes, one mapping per cell, that show each cell: its activation, and more."""
        if self.looks is not None:
            return tuple(self.looks)
        return tuple({"activation": rho} for rho in self.activations) if self.networks else ()


@dataclass(frozen=True, eq=False)
class Family:
    """Kinds of which some claims speak at once, how they are then drawn, and their worst
    instances."""

    name: str
    members: Mapping[str, Kind]
    draws: Callable[[Make, Wanted], SearchStrategy[SystemSpec]]
    extremal: Callable[[Sequence[Kind]], Iterator[SystemSpec]]


def only(make: Make, specs: Mapping[str, SystemSpec]) -> dict[str, SystemSpec]:
    """Those of one kind."""
    return {name: spec for name, spec in specs.items() if spec.kind == make.kind}


def about(spec: SystemSpec) -> Kind:
    """The kind of a system."""
    found: Kind = spec.about
    return found
