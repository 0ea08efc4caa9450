"""Shrinking: from a counter-example to one small system that still is one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec.structs import replace

from impl.cells.activation import activation
from properties.errors import SpecError
from properties.judging.evidence import record
from properties.judging.judge import Verdict, judge, windowed
from properties.systems.batch import build
from properties.systems.kind import about
from properties.systems.spec import INPUTS, LOSSES, TRAINED, SystemSpec, Values, check_spec
from reports.records.record import Check
from theory.proof.claim import Assumption, Statement

ROUNDS = 40
SIZES = ("n", "d", "T", "K", "steps", "states", "units", "layers", "taps", "dilation")
FACTORS = (0.5, 0.75)


def violation(
    statement: Statement, assumptions: Sequence[Assumption], spec: SystemSpec
) -> tuple[SystemSpec, int, tuple[float, float], tuple[float, float]] | None:
    """The first violating pair and window of a spec, with both sides; None if none is."""
    try:
        check_spec(spec)
    except SpecError:
        return None
    batch = build(spec)
    seen = judge(statement, tuple(assumptions), batch)
    found = np.argwhere(seen.verdicts == Verdict.VIOLATED)
    if not len(found):
        return None
    i, s, k = min(
        (tuple(int(v) for v in index) for index in found), key=lambda index: (index[2], index)
    )
    sides = tuple(
        (float(side.lo[i, s, k]), float(side.hi[i, s, k])) for side in (seen.lhs, seen.rhs)
    )
    return spec.alone(spec.members[i], s), k, sides[0], sides[1]


def smaller(spec: SystemSpec) -> Iterator[SystemSpec]:
    """Simpler neighbours of a spec, the boldest first."""
    if spec.values is not None:
        yield from smaller_values(spec, spec.values)
        return
    if spec.member is not None and spec.batch > 1:
        yield replace(spec, batch=1, member=0)
    if spec.sequence is not None and spec.sequences > 1:
        yield replace(spec, sequences=1, sequence=0)
    if (spec.batch, spec.sequences) != (1, 1) and spec.member is None:
        yield replace(spec, batch=1, sequences=1)
    for seed in range(3):
        if seed < spec.seed:
            yield replace(spec, seed=seed)
    kind = about(spec)
    least = {"K": 0, "units": 0, "steps": min(spec.steps, 1), **kind.least(spec)}
    # What is written out keeps its shapes.
    for name in SIZES if spec.found is None else ("T", "K"):
        floor, value = least.get(name, 1), getattr(spec, name)
        for less in sorted({floor, value // 2, value - 1}) if spec.has(name) else ():
            if floor <= less < value:
                yield fitted(replace(spec, **{name: less}))
    simpler: dict[str, tuple[object, ...]] = {
        "regime": spec.regimes, "inputs": INPUTS, "start": (0.0,), "bias": (0.0,), "scale": (1.0,),
        "trained": TRAINED, "loss": LOSSES, "target": (1.0,),
    }  # fmt: skip
    for name, choices in simpler.items():
        for one in choices if spec.has(name) else ():
            if one == getattr(spec, name):
                break
            yield replace(spec, **{name: one})
    lams = tuple(factor / activation(spec.activation).slope for factor in FACTORS)
    if kind.contracts and spec.has("lam") and spec.lam not in lams:
        for lam in lams:
            yield replace(spec, lam=lam)


def fitted(spec: SystemSpec) -> SystemSpec:
    """The spec with no larger a window than its runs, and no more units than it has rows."""
    cut = {"K": min(spec.K, spec.T), "units": min(spec.units, spec.n)}
    return replace(spec, **{name: value for name, value in cut.items() if spec.has(name)})


def smaller_values(spec: SystemSpec, values: Values) -> Iterator[SystemSpec]:
    """Fewer inputs, then rounder numbers, then zeros, in an explicit spec."""
    for T in sorted({1, spec.T // 2, spec.T - 1}):
        if 1 <= T < spec.T:
            yield replace(spec, T=T, K=min(spec.K, T), values=replace(values, x=values.x[-T:]))
    if spec.K > 0:
        yield replace(spec, K=spec.K - 1)
    if spec.steps > 1:
        yield replace(spec, steps=spec.steps - 1)
    for name in values.__struct_fields__:
        if getattr(values, name) is None:
            continue
        array = np.array(getattr(values, name))
        for rounder in (
            np.zeros_like(array),
            np.round(array),
            np.round(array * 8) / 8,
            np.round(array, 3),
        ):
            if not np.array_equal(rounder, array) and not (name == "C" and not rounder.any()):
                yield replace(spec, values=replace(values, **{name: rounder.tolist()}))


def shrink(
    claim: str, form: str, statement: Statement, assumptions: Sequence[Assumption], spec: SystemSpec
) -> Check | None:
    """The smallest violating system that a greedy walk finds, explained; None if there is none."""
    best = violation(statement, assumptions, spec)
    if best is None:
        return None
    for _ in range(ROUNDS):
        for candidate in smaller(best[0]):
            found = violation(statement, assumptions, candidate)
            if found is not None:
                best = found
                break
        else:
            break
    spec, k, lhs, rhs = best
    window = k if windowed(statement) else None
    return record(
        claim, form, spec, window, Verdict.VIOLATED, lhs, rhs,
        explanation=explain(statement, spec, window, lhs, rhs),
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
    named = kind.causal or kind.cells is not None
    where = [f"{spec.kind if named else spec.activation}, n = {spec.n}, T = {spec.T}"]
    if kind.causal:
        where.append(f"{spec.layers} × {spec.taps} taps, dilation {spec.dilation}^l")
    elif spec.n <= 2:
        # Of a cell that has no W, the first of its weights.
        weights = build(spec).weights
        name = "W" if "W" in weights else next(iter(weights))
        W = weights[name][0].tolist()
        where.append(f"{name} = {W[0][0]!r}" if np.shape(W) == (1, 1) else f"{name} = {W}")
    if k is not None:
        where.append(f"k = {k}")
    sign = {"<=": ">", "<": ">=", "exists": ">", "==": "!=", "!=": "=="}[statement.relation]
    left = "" if statement.lhs.is_number else f"{statement.lhs} = "
    right = "" if statement.rhs.is_number else f" = {statement.rhs}"
    return f"{', '.join(where)}: {left}{lhs[0]:.6g} {sign} {rhs[1]:.6g}{right}"
