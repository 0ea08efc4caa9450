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
from rnnbounds.properties.judging.evidence import record
from rnnbounds.properties.judging.judge import (
    ExactBudget,
    Judgement,
    Verdict,
    judge,
    settled,
    windowed,
)
from rnnbounds.properties.systems.batch import Batch, build
from rnnbounds.properties.systems.kind import about
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

SIZES = ("T", "K", "n", "d", "steps", "states", "units", "layers", "taps", "dilation")
FACTORS = (0.5, 0.75)
LEAPS = (1, 2)  # steps
PASSES = 2
KEPT = 64  # systems: variants of a claim shrink to the same few
Ends = tuple[float, float]


class Violation(NamedTuple):
    """A violating pair as a spec, both sides at its least window, and how it was judged: the batch,
    and the pair's place and the window in it."""

    spec: SystemSpec
    at: tuple[int, int, int]
    lhs: Ends
    rhs: Ends
    batch: Batch
    seen: Judgement

    @property
    def window(self) -> int:
        """The least window."""
        return self.at[2]


def violation(
    statement: Statement, assumptions: Sequence[Assumption], spec: SystemSpec,
    window: int | None = None,
) -> Violation | None:  # fmt: skip
    """The first violating pair and window of a spec, with both sides; None if none is.

    What float64 sees is enough. Where it sees nothing the referee is asked, of every window in its
    turn, or of one alone.
    """
    try:
        check_spec(spec)
    except SpecError:
        return None
    batch = met(spec.text)
    seen = judge(statement, tuple(assumptions), batch, ExactBudget(0))
    if not (seen.verdicts == Verdict.VIOLATED).any():
        decide_first(statement, batch, seen, window)
    found = np.argwhere(seen.verdicts == Verdict.VIOLATED)
    if not len(found):
        return None
    i, s, k = min(
        (tuple(int(v) for v in index) for index in found), key=lambda index: (index[2], index)
    )
    lhs, rhs = ((float(side.lo[i, s, k]), float(side.hi[i, s, k])) for side in (seen.lhs, seen.rhs))
    return Violation(spec.alone(spec.members[i], s), (i, s, k), lhs, rhs, batch, seen)


@lru_cache(maxsize=KEPT)
def met(text: str) -> Batch:
    """The system of a spec, with all that was measured of it so far."""
    return build(parse_spec(text))


def decide_first(statement: Statement, batch: Batch, seen: Judgement, window: int | None) -> None:
    """Let the referee look for one violation among what is open, the least window first."""
    last = seen.verdicts.shape[2] - 1
    left = (seen.verdicts == Verdict.UNDECIDED) & batch.finite
    for i, s, k in sorted(np.argwhere(left).tolist(), key=lambda index: (index[2], index)):
        if window is None or k == min(window, last):
            settled(statement, batch, seen, (i, s), [k])
            if seen.verdicts[i, s, k] == Verdict.VIOLATED:
                return


def smaller(spec: SystemSpec) -> Iterator[SystemSpec]:
    """Simpler neighbours of a spec, the boldest first."""
    for candidates in moves(spec).values():
        yield from candidates


def moves(spec: SystemSpec, window: int = 0) -> dict[str, Iterator[SystemSpec]]:
    """The neighbours by what they make simpler, the costliest first; no windows below that one are
    left out."""
    if spec.values is not None:
        return smaller_values(spec, spec.values, window)
    kind = about(spec)
    least, simpler = floors(spec, window), simplest(spec)
    found = {"pair": alone(spec)}
    # What is written out keeps its shapes.
    for name in SIZES if spec.found is None else ("T", "K"):
        if spec.has(name):
            found[name] = map(fitted, with_each(spec, name, less(spec, name, least.get(name, 1))))
    for name, choices in simpler.items():
        if spec.has(name):
            better = takewhile(partial(ne, getattr(spec, name)), choices)
            found[name] = with_each(spec, name, better)
    lams = tuple(factor / activation(spec.activation).slope for factor in FACTORS)
    if kind.contracts and spec.has("lam") and spec.lam not in lams:
        found["lam"] = with_each(spec, "lam", lams)
    return found | {"seed": with_each(spec, "seed", range(min(3, spec.seed)))}


def floors(spec: SystemSpec, window: int = 0) -> dict[str, int]:
    """The least values of sizes that are not 1; K is at least the window."""
    least = {"K": 0, "units": 0, "steps": min(spec.steps, 1)}
    least |= {name: getattr(spec, other) for name, other in spec.floors.items()}
    return least | {"K": max(least["K"], window)}


def simplest(spec: SystemSpec) -> dict[str, tuple[object, ...]]:
    """Choices for each field of a spec, the simplest first."""
    return {
        "regime": spec.regimes, "inputs": INPUTS, "start": (0.0,), "bias": (0.0,), "scale": (1.0,),
        "trained": TRAINED, "loss": LOSSES, "target": (1.0,),
    }  # fmt: skip


def leaps(spec: SystemSpec) -> Iterator[SystemSpec]:
    """The simplest spec of the kind at a few lengths: what many single moves would come to."""
    if spec.values is not None or spec.found is not None:
        return
    least = dict.fromkeys(SIZES, 1) | floors(spec)
    sizes = {name: min(least[name], getattr(spec, name)) for name in SIZES if spec.has(name)}
    choices = {name: one[0] for name, one in simplest(spec).items() if spec.has(name)}
    pair = {"batch": 1, "member": 0, "sequences": 1, "sequence": 0, "seed": 0}
    small = replace(spec, **pair, **sizes, **choices)
    if spec.has("T") and spec.has("K"):
        for T in (steps for steps in LEAPS if steps <= spec.T):
            yield replace(small, T=T, K=min(T, spec.K))
    else:
        yield small


def alone(spec: SystemSpec) -> Iterator[SystemSpec]:
    """A batch of one pair."""
    if spec.member == spec.sequence == 0 and 1 not in (spec.batch, spec.sequences):
        yield replace(spec, batch=1, sequences=1)
    if spec.member is not None and spec.batch > 1:
        yield replace(spec, batch=1, member=0)
    if spec.sequence is not None and spec.sequences > 1:
        yield replace(spec, sequences=1, sequence=0)
    if (spec.batch, spec.sequences) != (1, 1) and spec.member is None:
        yield replace(spec, batch=1, sequences=1)


def with_each(spec: SystemSpec, name: str, values: Iterable[object]) -> Iterator[SystemSpec]:
    """The spec with each of these values of one field."""
    return (replace(spec, **{name: value}) for value in values)


def less(spec: SystemSpec, name: str, floor: int) -> Iterator[int]:
    """Smaller values of a size: the floor, its geometric mean with the value, then a quarter of
    that cut, a sixteenth, …, one less."""
    value = getattr(spec, name)
    if floor < value:
        yield floor
    cut = value - max(floor + 1, isqrt(value * max(floor, 1)))
    while cut > 0:
        yield value - cut
        cut = max(cut // 4, int(cut > 1))


def fitted(spec: SystemSpec) -> SystemSpec:
    """The spec with no larger a window than its runs, and no more units than it has rows."""
    cut = {"K": min(spec.K, spec.T), "units": min(spec.units, spec.n)}
    return replace(spec, **{name: value for name, value in cut.items() if spec.has(name)})


def smaller_values(
    spec: SystemSpec, values: Values, window: int
) -> dict[str, Iterator[SystemSpec]]:
    """Fewer inputs, then rounder numbers, then zeros, in an explicit spec."""
    found: dict[str, Iterator[SystemSpec]] = {
        "T": (
            replace(spec, T=T, K=min(spec.K, T), values=replace(values, x=values.x[-T:]))
            for T in less(spec, "T", 1)
        ),
        "K": with_each(spec, "K", less(spec, "K", window)),
        "steps": with_each(spec, "steps", less(spec, "steps", 1)),
    }
    for name in values.__struct_fields__:
        if getattr(values, name) is not None:
            found[name] = with_each(spec, "values", rounder(values, name))
    return found


def rounder(values: Values, name: str) -> Iterator[Values]:
    """One array as zeros, or rounded; the readout is never zero, for it would hide everything."""
    array = np.array(getattr(values, name))
    rounded = np.round(array), np.round(array * 8) / 8, np.round(array, 3)
    for simple in (np.zeros_like(array), *rounded):
        if not np.array_equal(simple, array) and not (name == "C" and not simple.any()):
            yield replace(values, **{name: simple.tolist()})


def shrink(
    claim: str, form: str, statement: Statement, assumptions: Sequence[Assumption],
    spec: SystemSpec, tries: int = TRIES,
) -> Check | None:  # fmt: skip
    """The smallest violating system that a greedy walk finds, explained; None if there is none.

    From a leap, if one leads to a violation, or from the spec each move is made as often as it
    helps, and all of them once more, until so many tries failed; the referee is asked at the window
    that is violated alone. Below a size that was too small none is tried.
    """
    starts = (violation(statement, assumptions, start) for start in (*leaps(spec), spec))
    best = next(filter(None, starts), None)
    if best is None:
        return None
    failed: set[str] = set()
    least: dict[str, int] = {}

    def better(name: str, spec: SystemSpec, window: int) -> Violation | None:
        for candidate in moves(spec, window).get(name, ()):
            size = getattr(candidate, name) if name in SIZES else 0
            if len(failed) == tries:
                break
            if candidate.text not in failed and size >= least.get(name, 0):
                if found := violation(statement, assumptions, candidate, window):
                    return found
                failed.add(candidate.text)
                least[name] = size + (name in SIZES)
        return None

    before = None
    for _ in range(PASSES):
        if best.spec == before:
            break
        before = best.spec
        least.clear()
        for name in moves(before):
            while found := better(name, best.spec, best.window):
                best = found
    require_agreement(statement, best.batch, best.seen, best.at)
    window = best.window if windowed(statement) else None
    return record(
        claim, form, best.spec, window, Verdict.VIOLATED, best.lhs, best.rhs,
        explanation=explain(statement, best.spec, window, best.lhs, best.rhs),
    )  # fmt: skip


def explain(
    statement: Statement,
    spec: SystemSpec,
    k: int | None,
    lhs: tuple[float, float],
    rhs: tuple[float, float],
) -> str:
    """One sentence: the system, and both sides."""
    kind = about(spec)
    where = [f"{kind.route.named(spec)}, n = {spec.n}, T = {spec.T}"]
    if kind.route.causal:
        where.append(f"{spec.layers} × {spec.taps} taps, dilation {spec.dilation}^l")
    elif spec.n <= 2:
        weights = met(spec.text).weights
        name = "W" if "W" in weights else next(iter(weights))  # of a cell without W the first
        W = weights[name][0].tolist()
        where.append(f"{name} = {W[0][0]!r}" if np.shape(W) == (1, 1) else f"{name} = {W}")
    if k is not None:
        where.append(f"k = {k}")
    sign = {"<=": ">", "<": ">=", "exists": ">", "==": "!=", "!=": "=="}[statement.relation]
    left = "" if statement.lhs.is_number else f"{statement.lhs} = "
    right = "" if statement.rhs.is_number else f" = {statement.rhs}"
    return f"{', '.join(where)}: {left}{lhs[0]:.6g} {sign} {rhs[1]:.6g}{right}"
