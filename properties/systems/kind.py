"""Record that describes a kind of system to the rest of the package, and how its specs are drawn.

A kind is one file that ends in its ``KINDS``. Hypothesis mixes constants found in the loaded
modules into integer and float draws, so that an import would change a campaign; booleans are left
alone, and a seed then means the same specs in every process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import floor, log
from typing import Any, TypeVar, cast

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.cells.table import CELLS
from rnnbounds.properties.systems.batch import BatchParts
from rnnbounds.properties.systems.spec import SpecType, SystemSpec

Choice = TypeVar("Choice")
# λᵏ falls below 2⁻²⁴ at the last window drawn at random; longer windows are the extremal attack's.
DEPTH = 24 * log(2)
SEED_BITS = 16
# The cell of what is none.
NO_CELL = "no-cell"


@dataclass(frozen=True)
class DrawRequest:
    """Request for a drawn spec: systems and sequences; ``wide`` adds regimes that only a weighted
    norm certifies, ``stepwise`` is True if single steps are measured, ``trained`` if cells are
    trained."""

    batch: int = 64
    sequences: int = 8
    wide: bool = False
    stepwise: bool = False
    trained: bool = False


Draws = Callable[[DrawRequest], SearchStrategy[SystemSpec]]
CellName = Callable[[SystemSpec], str]


def vanilla_cell(spec: SystemSpec) -> str:
    """The name of the vanilla network with that activation."""
    return "linear" if spec.activation == "identity" else f"rnn-{spec.activation}"


def cell_named(base: str) -> CellName:
    """The cell of that name, or that which has the activation in its name too."""

    def cell(spec: SystemSpec) -> str:
        exact = f"{base}-{spec.activation}"
        return exact if exact in CELLS else base

    return cell


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of system."""

    # The struct of its specs.
    spec: SpecType
    # What Hypothesis draws.
    spec_strategy: Draws
    # Makes the systems of a spec on a device, with their readout, inputs and targets.
    build: Callable[[SystemSpec, str], BatchParts]
    # The cell that a system is one of, as ``--cell`` names it.
    cell: CellName
    # The instances that theory says are worst.
    worst: Callable[[], Iterable[SystemSpec]] = tuple
    # Instances for statements of which nothing is known.
    corners: Callable[[], Iterable[SystemSpec]] = tuple
    # Where ascent starts, from a count and a seed; None where nothing is differentiable.
    starts: Callable[[int, int], Iterator[SystemSpec]] | None = None
    # By how much fewer steps of ascent are than those of an RNN.
    slowness: int = 1
    # True if what a user types presupposes λ < 1 of it.
    is_contractive: bool = False
    # network (a vanilla one), cell (any other), exact (known exactly, with quantities of its own)
    # or causal.
    family: str = "network"

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
            "activation": self.spec_type.activations or tuple(ACTIVATIONS),
            "regime": self.regimes,
        }
        names = [name for name in choices if self.spec_type.has(name)]
        chosen = product(*(choices[name] for name in names))
        specs = (self.spec(**dict(zip(names, each, strict=True))) for each in chosen)
        return tuple(dict.fromkeys(map(self.cell, specs)))


@dataclass(frozen=True, eq=False)
class Family:
    """Kinds of which some claims speak at once, and if they are then drawn together, how, and their
    worst instances, at most so many of each kind."""

    members: Mapping[str, Kind]
    spec_strategy: Callable[[SpecType, DrawRequest], SearchStrategy[SystemSpec]] | None = None
    extremal: Callable[[Sequence[Kind], int | None], Iterator[SystemSpec]] | None = None


def kind_of_spec(spec: SystemSpec) -> Kind:
    """The kind of a system."""
    found: Kind = spec.kind_record
    return found


def pick(options: Sequence[Choice]) -> st.SearchStrategy[Choice]:
    """One of the options, the first one simplest."""
    return _picked(tuple(options), tuple(map(type, options)))


@cache
def _picked(
    options: tuple[Choice, ...], types: tuple[type, ...]
) -> st.SearchStrategy[Choice]:  # made once, since Hypothesis looks each strategy over
    count = max(1, (2 * len(options) - 1).bit_length())
    bits = st.tuples(*[st.booleans()] * count)
    return bits.map(lambda bs: options[sum(b << i for i, b in enumerate(bs)) % len(options)])


def draw_choices(draw: st.DrawFn, **options: Sequence[Any]) -> dict[str, Any]:
    """One of the options of each field, drawn in their order."""
    return {name: draw(pick(values)) for name, values in options.items()}


@cache
def seeds() -> st.SearchStrategy[int]:
    """A seed of few bits, since Hypothesis looks at each of them: a block draws few specs, and a
    later one moves its seeds by a number of its own."""
    bits = st.tuples(*[st.booleans()] * SEED_BITS)
    return bits.map(lambda bs: sum(b << i for i, b in enumerate(bs)))


def largest_visible_window(lam: float, T: int, K: int, depth: float = DEPTH) -> int:
    """K, cut to T and to the windows at which λᵏ can still be seen in float64."""
    if 0 < lam < 1:
        K = min(K, floor(depth / log(1 / lam)))
    return min(K, T)


def spec_grid(base: SystemSpec, *axes: Mapping[str, Sequence[Any]]) -> Iterator[SystemSpec]:
    """The spec with each choice along the axes, that of the last axis changing fastest; the fields
    of one axis change together."""
    axis_choices = [
        [dict(zip(axis, values, strict=True)) for values in zip(*axis.values(), strict=True)]
        for axis in axes
    ]
    for combination in product(*axis_choices):
        yield replace(base, **{name: value for step in combination for name, value in step.items()})
