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
from properties.systems.drawing.draws import LEARNING
from properties.systems.drawing.strategies import FACTORS
from properties.systems.kinds import CAUSAL, CELL_KINDS
from properties.systems.spec import INPUTS, LOSSES, TRAINED, SystemSpec, Values, check_spec
from reports.records.record import Check
from theory.language.claim import Assumption, Statement

ROUNDS = 40
SIZES = ("n", "d", "T", "K", "steps", "states", "units")


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
    floor = {"K": 0, "units": 0, "steps": min(spec.steps, 1)}
    if spec.kind == "block":
        floor["states"] = spec.n
    # What is written out keeps its shapes.
    shape = ("layers", "taps", "dilation") if spec.kind in CAUSAL else ("layers",)
    sizes = (*SIZES, *shape) if spec.found is None else ("T", "K")
    for name in sizes:
        least, value = floor.get(name, 1), getattr(spec, name)
        for less in sorted({least, value // 2, value - 1}):
            if least <= less < value:
                shorter = replace(spec, **{name: less})
                yield replace(
                    shorter, K=min(shorter.K, shorter.T), units=min(shorter.units, shorter.n)
                )
    for regime in spec.regimes[: spec.regimes.index(spec.regime)]:
        yield replace(spec, regime=regime)
    for inputs in INPUTS[: INPUTS.index(spec.inputs)]:
        yield replace(spec, inputs=inputs)
    if spec.start:
        yield replace(spec, start=0.0)
    if spec.bias:
        yield replace(spec, bias=0.0)
    if spec.scale != 1:
        yield replace(spec, scale=1.0)
    for trained in TRAINED[: TRAINED.index(spec.trained)]:
        yield replace(spec, trained=trained)
    for loss in LOSSES[: LOSSES.index(spec.loss)]:
        yield replace(spec, loss=loss)
    if spec.target != 1:
        yield replace(spec, target=1.0)
    slope = activation(spec.activation).slope
    for lam in FACTORS[:2]:
        if spec.kind in ("linear", "rnn", *LEARNING) and spec.lam not in (
            f / slope for f in FACTORS[:2]
        ):
            yield replace(spec, lam=lam / slope)


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
    named = spec.kind in (*CELL_KINDS, *CAUSAL)
    where = [f"{spec.kind if named else spec.activation}, n = {spec.n}, T = {spec.T}"]
    if spec.kind in CAUSAL:
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
