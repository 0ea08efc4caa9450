"""Simpler specs near a spec: smaller sizes, simpler choices and shorter numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import takewhile
from math import isqrt
from operator import ne

import numpy as np
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.properties.systems.kind import kind_of_spec
from rnnbounds.properties.systems.spec import SystemSpec, Values
from rnnbounds.properties.systems.spec_choices import INPUTS, LOSSES, TRAINED

SIZE_FIELDS = ("T", "K", "n", "d", "steps", "states", "units", "layers", "taps", "dilation")


SIMPLE_LAMBDAS = (0.5, 0.75)


SHORT_LENGTHS = (1, 2)  # steps


def simpler_specs(spec: SystemSpec) -> Iterator[SystemSpec]:
    """Simpler neighbours of a spec, the boldest first."""
    for candidates in simplifications(spec).values():
        yield from candidates


def simplifications(spec: SystemSpec, window: int = 0) -> dict[str, Iterator[SystemSpec]]:
    """The neighbours by what they make simpler, the costliest first; no windows below that one are
    left out."""
    if spec.values is not None:
        return smaller_values(spec, spec.values, window)
    kind = kind_of_spec(spec)
    smallest, field_choices = size_floors(spec, window), simplest_choices(spec)
    neighbours = {"pair": single_pair_specs(spec)}
    for name in SIZE_FIELDS:
        if spec.has(name):
            neighbours[name] = map(
                with_consistent_sizes,
                vary_field(spec, name, smaller_sizes(spec, name, smallest.get(name, 1))),
            )
    for name, choices in field_choices.items():
        if spec.has(name):
            simpler_choices = takewhile(partial(ne, getattr(spec, name)), choices)
            neighbours[name] = vary_field(spec, name, simpler_choices)
    lams = tuple(factor / activation(spec.activation).slope for factor in SIMPLE_LAMBDAS)
    if kind.is_contractive and spec.has("lam") and spec.lam not in lams:
        neighbours["lam"] = vary_field(spec, "lam", lams)
    return neighbours | {"seed": vary_field(spec, "seed", range(min(3, spec.seed)))}


def size_floors(spec: SystemSpec, window: int = 0) -> dict[str, int]:
    """The least values of sizes that are not 1; K is at least the window."""
    least = {"K": 0, "units": 0, "steps": min(spec.steps, 1)}
    least |= {name: getattr(spec, other) for name, other in spec.floors.items()}
    return least | {"K": max(least["K"], window)}


def simplest_choices(spec: SystemSpec) -> dict[str, tuple[object, ...]]:
    """Choices for each field of a spec, the simplest first."""
    return {
        "regime": spec.regimes, "inputs": INPUTS, "start": (0.0,), "bias": (0.0,), "scale": (1.0,),
        "trained": TRAINED, "loss": LOSSES, "target": (1.0,),
    }  # fmt: skip


def minimal_specs(spec: SystemSpec) -> Iterator[SystemSpec]:
    """The simplest spec of the kind at a few lengths: what many single moves would come to."""
    if spec.values is not None:
        return
    smallest = dict.fromkeys(SIZE_FIELDS, 1) | size_floors(spec)
    sizes = {
        name: min(smallest[name], getattr(spec, name)) for name in SIZE_FIELDS if spec.has(name)
    }
    choices = {
        name: options[0] for name, options in simplest_choices(spec).items() if spec.has(name)
    }
    pair = {"batch": 1, "member": 0, "sequences": 1, "sequence": 0, "seed": 0}
    minimal_spec = replace(spec, **pair, **sizes, **choices)
    if spec.has("T") and spec.has("K"):
        for T in (steps for steps in SHORT_LENGTHS if steps <= spec.T):
            yield replace(minimal_spec, T=T, K=min(T, spec.K))
    else:
        yield minimal_spec


def single_pair_specs(spec: SystemSpec) -> Iterator[SystemSpec]:
    """A batch of one pair."""
    if spec.member == spec.sequence == 0 and 1 not in (spec.batch, spec.sequences):
        yield replace(spec, batch=1, sequences=1)
    if spec.member is not None and spec.batch > 1:
        yield replace(spec, batch=1, member=0)
    if spec.sequence is not None and spec.sequences > 1:
        yield replace(spec, sequences=1, sequence=0)
    if (spec.batch, spec.sequences) != (1, 1) and spec.member is None:
        yield replace(spec, batch=1, sequences=1)


def vary_field(spec: SystemSpec, name: str, values: Iterable[object]) -> Iterator[SystemSpec]:
    """The spec with each of these values of one field."""
    return (replace(spec, **{name: value}) for value in values)


def smaller_sizes(spec: SystemSpec, name: str, floor: int) -> Iterator[int]:
    """Smaller values of a size: the floor, its geometric mean with the value, then a quarter of
    that cut, a sixteenth, …, one less."""
    value = getattr(spec, name)
    if floor < value:
        yield floor
    step = value - max(floor + 1, isqrt(value * max(floor, 1)))
    while step > 0:
        yield value - step
        step = max(step // 4, int(step > 1))


def with_consistent_sizes(spec: SystemSpec) -> SystemSpec:
    """The spec with no larger a window than its runs, and no more units than it has rows."""
    sizes = {"K": min(spec.K, spec.T), "units": min(spec.units, spec.n)}
    return replace(spec, **{name: value for name, value in sizes.items() if spec.has(name)})


def smaller_values(
    spec: SystemSpec, values: Values, window: int
) -> dict[str, Iterator[SystemSpec]]:
    """Fewer inputs, then rounder numbers, then zeros, in an explicit spec."""
    neighbours: dict[str, Iterator[SystemSpec]] = {
        "T": (
            replace(spec, T=T, K=min(spec.K, T), values=replace(values, x=values.x[-T:]))
            for T in smaller_sizes(spec, "T", 1)
        ),
        "K": vary_field(spec, "K", smaller_sizes(spec, "K", window)),
        "steps": vary_field(spec, "steps", smaller_sizes(spec, "steps", 1)),
    }
    for name in values.__struct_fields__:
        if getattr(values, name) is not None:
            neighbours[name] = vary_field(spec, "values", rounded_values(values, name))
    return neighbours


def rounded_values(values: Values, name: str) -> Iterator[Values]:
    """One array as zeros, or rounded; the readout is never zero, for it would hide everything."""
    array = np.array(getattr(values, name))
    rounded = np.round(array), np.round(array * 8) / 8, np.round(array, 3)
    for candidate in (np.zeros_like(array), *rounded):
        if not np.array_equal(candidate, array) and not (name == "C" and not candidate.any()):
            yield replace(values, **{name: candidate.tolist()})
