"""Record that describes a kind of system to the rest of the package.

A kind is one file that ends in its ``KINDS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from hypothesis.strategies import SearchStrategy

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.cells.table import CELLS
from rnnbounds.properties.systems.spec import SpecType, SystemSpec
from rnnbounds.properties.systems.supply.route import Route

# The cell of what is none.
NO_CELL = "no-cell"


@dataclass(frozen=True)
class DrawRequest:
    """Request for a drawn spec: systems and sequences; ``wide`` adds regimes that only a weighted
    norm certifies, ``stepwise`` is True if single steps are measured, ``descends`` if cells are
    trained."""

    batch: int = 64
    sequences: int = 8
    wide: bool = False
    stepwise: bool = False
    descends: bool = False


Draws = Callable[[DrawRequest], SearchStrategy[SystemSpec]]
CellName = Callable[[SystemSpec], str]


class AscentSearch(NamedTuple):
    """How ascent goes through systems of a kind: the first of them, from a count and a seed, their
    free parameters, and by how much fewer steps they are than those of an RNN."""

    starts: Callable[[int, int], Iterator[SystemSpec]]
    ascent: Callable[[SystemSpec], Any]
    slowness: int = 1


def vanilla_cell(spec: SystemSpec) -> str:
    """The name of the vanilla network with that activation."""
    return "linear" if spec.activation == "identity" else f"rnn-{spec.activation}"


def allowed_activations(make: SpecType) -> tuple[str, ...]:
    """The activations of systems of that struct."""
    return make.activations or tuple(ACTIVATIONS)


def cell_named(base: str) -> CellName:
    """The cell of that name, or that which has the activation in its name too."""

    def cell(spec: SystemSpec) -> str:
        exact = f"{base}-{spec.activation}"
        return exact if exact in CELLS else base

    return cell


def no_instances() -> Iterator[SystemSpec]:
    """No instance at all."""
    return iter(())


class Instances(NamedTuple):
    """Systems of a kind that somebody wrote down.

    worst: the instances that theory says are worst. named: those among them that have a name.
    corners: instances for statements of which nothing is known.
    """

    worst: Callable[[], Iterator[SystemSpec]] = no_instances
    named: Mapping[str, SystemSpec] = MappingProxyType({})
    corners: Callable[[], Iterator[SystemSpec]] = no_instances


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of system."""

    # The struct of its specs.
    spec: SpecType
    # What Hypothesis draws.
    spec_strategy: Draws
    # The family of its systems, which makes batches of specs and supplies their constants.
    route: Route
    # The cell that a system is one of, as ``--cell`` names it.
    cell: CellName
    instances: Instances = field(default_factory=Instances)
    # How optimisation goes through its systems.
    search: AscentSearch | None = None
    # True if what a user types presupposes λ < 1 of it.
    is_contractive: bool = False

    def __post_init__(self) -> None:
        self.spec_type.kind_record = self

    @property
    def spec_type(self) -> type[SystemSpec]:
        """The struct as a type."""
        return cast(type[SystemSpec], self.spec)

    @property
    def name(self) -> str:
        """The name by which specs and claims speak of it."""
        return self.spec_type.kind

    @property
    def regimes(self) -> tuple[str, ...]:
        """How its systems are drawn, the simplest first."""
        return self.spec_type.regimes

    @property
    def cell_names(self) -> tuple[str, ...]:
        """The cells of all its specs: by the number of layers, activation and regime."""
        choices = {
            "layers": (2, 1),
            "activation": allowed_activations(self.spec),
            "regime": self.regimes,
        }
        names = [name for name in choices if self.spec_type.has(name)]
        chosen = product(*(choices[name] for name in names))
        specs = (self.spec(**dict(zip(names, each, strict=True))) for each in chosen)
        return tuple(dict.fromkeys(map(self.cell, specs)))


@dataclass(frozen=True, eq=False)
class Family:
    """Kinds of which some claims speak at once, how they are then drawn, and their worst
    instances."""

    name: str
    members: Mapping[str, Kind]
    spec_strategy: Callable[[SpecType, DrawRequest], SearchStrategy[SystemSpec]]
    extremal: Callable[[Sequence[Kind]], Iterator[SystemSpec]]


def specs_of_kind(make: SpecType, specs: Mapping[str, SystemSpec]) -> dict[str, SystemSpec]:
    """The specs of one kind among named ones."""
    return {name: spec for name, spec in specs.items() if spec.kind == make.kind}


def kind_of_spec(spec: SystemSpec) -> Kind:
    """The kind of a system."""
    found: Kind = spec.kind_record
    return found
