"""Shrinking: from a counter-example to one small system that still is one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import takewhile
from math import isqrt
from operator import ne
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.properties.attacks.budget import TRIES
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.judging.agreement import require_agreement
from rnnbounds.properties.judging.evidence import check_record
from rnnbounds.properties.judging.judge import (
    ExactBudget,
    Judgement,
    Verdict,
    decide_pair,
    has_windows,
    judge,
)
from rnnbounds.properties.systems.batch import Batch, build_batch
from rnnbounds.properties.systems.kind import kind_of_spec
from rnnbounds.properties.systems.spec import (
    INPUTS,
    LOSSES,
    TRAINED,
    SystemSpec,
    Values,
    check_spec,
)
from rnnbounds.properties.systems.table import parse_spec
from rnnbounds.reports.records.record import Check
from rnnbounds.theory.proof.claim import Assumption, Statement

SIZE_FIELDS = ("T", "K", "n", "d", "steps", "states", "units", "layers", "taps", "dilation")
SIMPLE_LAMBDAS = (0.5, 0.75)
SHORT_LENGTHS = (1, 2)  # steps
PASSES = 2
CACHED_SYSTEMS = 64  # systems: variants of a claim shrink to the same few
Ends = tuple[float, float]


class Violation(NamedTuple):
    """A violating pair as a spec, both sides at its least window, and how it was judged: the batch,
    and the pair's place and the window in it."""

    spec: SystemSpec
    position: tuple[int, int, int]
    lhs: Ends
    rhs: Ends
    batch: Batch
    judgement: Judgement

    @property
    def window(self) -> int:
        """The least window."""
        return self.position[2]


def find_violation(
    statement: Statement, assumptions: Sequence[Assumption], spec: SystemSpec,
    window: int | None = None,
) -> Violation | None:  # fmt: skip
    """The first violating pair and window of a spec, with both sides; None if none is.

    What float64 sees is enough. Where it sees nothing exact arithmetic is asked, of every window in
    its turn, or of one alone.
    """
    try:
        check_spec(spec)
    except SpecError:
        return None
    batch = cached_system(spec.text)
    judgement = judge(statement, tuple(assumptions), batch, ExactBudget(0))
    if not (judgement.verdicts == Verdict.VIOLATED).any():
        decide_open_checks(statement, batch, judgement, window)
    violations = np.argwhere(judgement.verdicts == Verdict.VIOLATED)
    if not len(violations):
        return None
    i, s, k = min(
        (tuple(int(v) for v in index) for index in violations), key=lambda index: (index[2], index)
    )
    lhs, rhs = (
        (float(side.lo[i, s, k]), float(side.hi[i, s, k]))
        for side in (judgement.lhs, judgement.rhs)
    )
    return Violation(spec.select_pair(spec.members[i], s), (i, s, k), lhs, rhs, batch, judgement)


@lru_cache(maxsize=CACHED_SYSTEMS)
def cached_system(text: str) -> Batch:
    """The system of a spec, with all that was measured of it so far."""
    return build_batch(parse_spec(text))


def decide_open_checks(
    statement: Statement, batch: Batch, judgement: Judgement, window: int | None
) -> None:
    """Let exact arithmetic look for one violation among what is open, the least window first."""
    last_window = judgement.verdicts.shape[2] - 1
    open_checks = (judgement.verdicts == Verdict.UNDECIDED) & batch.finite
    for i, s, k in sorted(np.argwhere(open_checks).tolist(), key=lambda index: (index[2], index)):
        if window is None or k == min(window, last_window):
            decide_pair(statement, batch, judgement, (i, s), [k])
            if judgement.verdicts[i, s, k] == Verdict.VIOLATED:
                return


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
    # What is written out keeps its shapes.
    for name in SIZE_FIELDS if spec.found is None else ("T", "K"):
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
    if spec.values is not None or spec.found is not None:
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


def shrink(
    claim: str, form: str, statement: Statement, assumptions: Sequence[Assumption],
    spec: SystemSpec, tries: int = TRIES,
) -> Check | None:  # fmt: skip
    """The smallest violating system that a greedy walk finds, explained; None if there is none.

    From a leap, if one leads to a violation, or from the spec each move is made as often as it
    helps, and all of them once more, until so many tries failed; exact arithmetic is asked at the
    window that is violated alone. Below a size that was too small none is tried.
    """
    violations = (
        find_violation(statement, assumptions, start) for start in (*minimal_specs(spec), spec)
    )
    best = next(filter(None, violations), None)
    if best is None:
        return None
    failed_specs: set[str] = set()
    smallest: dict[str, int] = {}

    def first_simpler(name: str, spec: SystemSpec, window: int) -> Violation | None:
        for candidate in simplifications(spec, window).get(name, ()):
            size = getattr(candidate, name) if name in SIZE_FIELDS else 0
            if len(failed_specs) == tries:
                break
            if candidate.text not in failed_specs and size >= smallest.get(name, 0):
                if simpler := find_violation(statement, assumptions, candidate, window):
                    return simpler
                failed_specs.add(candidate.text)
                smallest[name] = size + (name in SIZE_FIELDS)
        return None

    previous = None
    for _ in range(PASSES):
        if best.spec == previous:
            break
        previous = best.spec
        smallest.clear()
        for name in simplifications(previous):
            while simpler := first_simpler(name, best.spec, best.window):
                best = simpler
    require_agreement(statement, best.batch, best.judgement, best.position)
    window = best.window if has_windows(statement) else None
    return check_record(
        claim, form, best.spec, window, Verdict.VIOLATED, best.lhs, best.rhs,
        explanation=explain_violation(statement, best.spec, window, best.lhs, best.rhs),
    )  # fmt: skip


def explain_violation(
    statement: Statement,
    spec: SystemSpec,
    k: int | None,
    lhs: tuple[float, float],
    rhs: tuple[float, float],
) -> str:
    """One sentence: the system, and both sides."""
    kind = kind_of_spec(spec)
    parts = [f"{kind.route.display_name(spec)}, n = {spec.n}, T = {spec.T}"]
    if kind.route.causal:
        parts.append(f"{spec.layers} × {spec.taps} taps, dilation {spec.dilation}^l")
    elif spec.n <= 2:
        weights = cached_system(spec.text).weights
        name = "W" if "W" in weights else next(iter(weights))  # of a cell without W the first
        W = weights[name][0].tolist()
        parts.append(f"{name} = {W[0][0]!r}" if np.shape(W) == (1, 1) else f"{name} = {W}")
    if k is not None:
        parts.append(f"k = {k}")
    opposite = {"<=": ">", "<": ">=", "exists": ">", "==": "!=", "!=": "=="}[statement.relation]
    lhs_text = "" if statement.lhs.is_number else f"{statement.lhs} = "
    rhs_text = "" if statement.rhs.is_number else f" = {statement.rhs}"
    return f"{', '.join(parts)}: {lhs_text}{lhs[0]:.6g} {opposite} {rhs[1]:.6g}{rhs_text}"
