"""Shrinking: from a counter-example to one small system that still is one.

Simpler systems have smaller sizes, simpler choices and rounder numbers. Fields are made as simple
as can be together, or by halves, as in delta debugging. Hypothesis' own shrinker, which knows
nothing of fields, takes a hundred times as long as the systems that it tries.
Source: Zeller & Hildebrandt (2002), Simplifying and isolating failure-inducing input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.properties.attacks.budget import TRIES
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.judging.evidence import check_record
from rnnbounds.properties.judging.judge import (
    Ends,
    ExactBudget,
    Judgement,
    Place,
    Verdict,
    closeness_note,
    decide_pair,
    has_windows,
    judge,
)
from rnnbounds.properties.systems.batch import Batch, build_batch
from rnnbounds.properties.systems.kind import kind_of_spec
from rnnbounds.properties.systems.spec import (
    INPUTS,
    LEAST,
    LOSSES,
    TRAINED,
    SystemSpec,
    Values,
    check_spec,
)
from rnnbounds.properties.systems.table import parse_spec
from rnnbounds.reports.records.checks import Check
from rnnbounds.theory.proof.claim import Assumption, Statement

CACHED_SYSTEMS = 64  # systems: variants of a claim shrink to the same few
PASSES = 2
SIMPLE_RATES = (0.5, 0.75, 2.0**-10)  # λ of the scalar systems that are tried first
SHORT = 4  # their steps, at most
SIZES = ("n", "d", "T", "steps", "states", "units", "layers", "taps", "dilation", "K")
# What is simplest of a field, first.
SIMPLEST: dict[str, tuple[Any, ...]] = {
    "inputs": INPUTS, "trained": TRAINED, "loss": LOSSES, "start": (0.0,), "bias": (0.0,),
    "scale": (1.0,), "target": (1.0,), "seed": (0, 1, 2),
}  # fmt: skip


class Violation(NamedTuple):
    """A violating pair as a spec, its least violated window, and both sides there."""

    spec: SystemSpec
    window: int
    lhs: Ends
    rhs: Ends


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
    violations: list[Place] = [
        (i, s, k) for i, s, k in np.argwhere(judgement.verdicts == Verdict.VIOLATED).tolist()
    ]
    if not violations:
        return None
    place = min(violations, key=lambda place: (place[2], place))
    _, lhs, rhs = judgement.entry(place)
    return Violation(spec.select_pair(spec.members[place[0]], place[1]), place[2], lhs, rhs)


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


def shrink(
    claim: str, form: str, statement: Statement, assumptions: Sequence[Assumption],
    spec: SystemSpec, tries: int = TRIES,
) -> Check | None:  # fmt: skip
    """The simplest violating system that is found among a few scalar ones and, twice, among so many
    simpler ones, explained; None if the spec has no violation. Exact arithmetic is asked at the
    window that is violated alone."""
    found = find_violation(statement, assumptions, spec)
    if found is None:
        return None
    starts = (
        find_violation(statement, assumptions, start, found.window)
        for start in smallest_specs(found.spec)
    )
    best = next(filter(None, starts), found)
    for _ in range(PASSES):
        best = simplify(statement, assumptions, best, tries)
    window = best.window if has_windows(statement) else None
    return check_record(
        claim, form, best.spec, window, Verdict.VIOLATED, best.lhs, best.rhs,
        explanation=explain_violation(statement, best.spec, window, best.lhs, best.rhs),
    )  # fmt: skip


def smallest_specs(spec: SystemSpec) -> Iterator[SystemSpec]:
    """Specs like this one, simplest in every field but T and K, which are at most 4, with each of a
    few λ; also of the identity where it is an activation, and where there are several units of 4
    steps: one unit may need more than they do. None of written-out values."""
    if spec.values is not None:
        return
    simplest = {name: options[0] for name, options in field_choices(spec).items()}
    names = ("identity", spec.activation) if spec.has("activation") else (spec.activation,)
    own = min(SHORT, spec.T)
    lengths = dict.fromkeys((own, SHORT if spec.n > 1 else own))
    for length, name in product(lengths, dict.fromkeys(names)):
        fields: dict[str, Any] = {"activation": name} if spec.has("activation") else {}
        fields |= {size: length for size in ("T", "K") if spec.has(size)}
        for rate in SIMPLE_RATES if "lam" in simplest else (spec.lam,):
            rates = {"lam": rate / activation(name).slope} if "lam" in simplest else {}
            yield with_fields(spec, simplest | fields | rates)


def simplify(
    statement: Statement, assumptions: Sequence[Assumption], found: Violation, tries: int
) -> Violation:
    """One pass over the fields: a violation with each as simple as that of the others allows."""
    choices, window = field_choices(found.spec, found.window), found.window
    seen: dict[str, Violation | None] = {found.spec.text: found}
    best, chosen = found, {name: options[-1] for name, options in choices.items()}

    def accepts(simpler: dict[str, Any]) -> bool:
        """True if the system with these values of some fields violates; it is the best then."""
        nonlocal best, chosen
        spec = with_fields(found.spec, chosen | simpler)
        if spec.text not in seen and len(seen) <= tries:
            seen[spec.text] = find_violation(statement, assumptions, spec, window)
        if (violation := seen.get(spec.text)) is None:
            return False
        best, chosen = violation, chosen | simpler
        return True

    groups = [list(choices)]
    while groups:
        names = groups.pop()
        if accepts({name: choices[name][0] for name in names}):
            continue
        if len(names) > 1:
            groups += [names[len(names) // 2 :], names[: len(names) // 2]]
        else:
            any(accepts({names[0]: option}) for option in choices[names[0]][1:-1])
    return best


def field_choices(spec: SystemSpec, window: int = 0) -> dict[str, Sequence[Any]]:
    """Smaller values of each field, up to its own. Of written-out values the lengths, and each
    array as zeros or rounded; the readout is never zero, for it would hide everything."""
    choices: dict[str, Sequence[Any]] = {}
    values = spec.values
    for name in SIZES if values is None else ("T", "steps", "K"):
        if spec.has(name):
            floor = getattr(spec, spec.floors[name]) if name in spec.floors else LEAST.get(name, 1)
            floor = max(floor, window) if name == "K" else floor
            choices[name] = sizes(min(floor, getattr(spec, name)), getattr(spec, name))
    if values is not None:
        for name in values.__struct_fields__:
            array = np.array(getattr(values, name))
            if getattr(values, name) is not None:
                rounded = np.zeros_like(array), np.round(array), np.round(array * 8) / 8
                kept = [one.tolist() for one in rounded if name != "C" or one.any()]
                choices[f"values.{name}"] = [*kept, np.round(array, 3).tolist(), array.tolist()]
        return choices
    if (spec.batch, spec.sequences) != (1, 1):
        choices["batch"] = (1, spec.batch)
    for name, simplest in {**SIMPLEST, "regime": spec.regimes}.items():
        if spec.has(name):
            own = getattr(spec, name)
            simpler = simplest[: simplest.index(own)] if own in simplest else simplest
            choices[name] = (*simpler, own)
    if kind_of_spec(spec).is_contractive and spec.has("lam"):
        slope = activation(spec.activation).slope
        choices["lam"] = (0.5 / slope, 0.75 / slope, spec.lam)
    return choices


def sizes(floor: int, value: int) -> list[int]:
    """The floor, some sizes on the way, and the value."""
    middle = isqrt(max(floor, 1) * value)
    between = {floor + 1, floor + 2, middle, (floor + value) // 2, value - 1}
    return sorted({floor, value} | {size for size in between if floor < size < value})


def with_fields(spec: SystemSpec, chosen: dict[str, Any]) -> SystemSpec:
    """The spec with these fields, with no larger a window than its runs and no more units than it
    has rows; a batch of one is of one pair."""
    arrays = {name[7:]: chosen.pop(name) for name in list(chosen) if name.startswith("values.")}
    if chosen.get("batch") == 1:
        chosen |= {"member": 0, "sequences": 1, "sequence": 0}
    simpler = replace(spec, **chosen)
    within = {"K": min(simpler.K, simpler.T), "units": min(simpler.units, simpler.n)}
    simpler = replace(simpler, **{name: v for name, v in within.items() if spec.has(name)})
    if not arrays:
        return simpler
    return replace(simpler, values=Values(**arrays | {"x": arrays["x"][-simpler.T :]}))


def explain_violation(
    statement: Statement, spec: SystemSpec, k: int | None, lhs: Ends, rhs: Ends
) -> str:
    """One sentence: the system, and both sides in as many digits as tell them apart, or the words
    that no float does."""
    kind = kind_of_spec(spec)
    name = {"causal": spec.regime, "cell": spec.kind}.get(kind.family, spec.activation)
    parts = [f"{name}, n = {spec.n}, T = {spec.T}"]
    if kind.family == "causal":
        parts.append(f"{spec.layers} × {spec.taps} taps, dilation {spec.dilation}^l")
    elif spec.n <= 2:
        weights = cached_system(spec.text).weights
        first = "W" if "W" in weights else next(iter(weights))
        W = weights[first][0].tolist()
        parts.append(f"{first} = {W[0][0]!r}" if np.shape(W) == (1, 1) else f"{first} = {W}")
    if k is not None:
        parts.append(f"k = {k}")
    opposite = {"<=": ">", "<": ">=", "exists": ">", "==": "!=", "!=": "=="}[statement.relation]
    lhs_text = "" if statement.lhs.is_number else f"{statement.lhs} = "
    rhs_text = "" if statement.rhs.is_number else f" = {statement.rhs}"
    note = closeness_note(statement, cached_system(spec.text), k or 0, lhs, rhs)
    left, right = (lhs[1], rhs[0]) if note else (lhs[0], rhs[1])
    digits = next((d for d in range(6, 17) if f"{left:.{d}g}" != f"{right:.{d}g}"), 17)
    digits = 6 if left == right and not note else digits
    values = f"{lhs_text}{left:.{digits}g} {opposite} {right:.{digits}g}{rhs_text}"
    return f"{', '.join(parts)}: {values}" + (f"; {note}" if note else "")
