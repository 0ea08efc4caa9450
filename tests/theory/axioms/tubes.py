"""The tube around h⁺ = h/2 + x on inputs 1, off by δ = 1/2, from states up to r = 2: radius 2 for
ever, since each step has a box of 1/2 beside.

A place is what it is, when it began and after how many steps; coordinates are the states and the
input themselves.
"""

from __future__ import annotations

from typing import Any

from flint import fmpq
from meanings import HALF, ONE, ZERO, always, halved, running

from rnnbounds.theory.language.terms import certificates, jets
from rnnbounds.theory.language.terms import tubes as terms

RECORDED = running(halved)[certificates.begun]
RADIUS = fmpq(2)


def place(of: Any, name: str) -> tuple[str, int, int]:
    """A line or a pair; any number is one from time 0."""
    return of if isinstance(of, tuple) else (name, 0, abs(int(of)))


def anchor(line: Any) -> Any:
    """The computed state."""
    name, s, j = place(line, "alone")
    return RECORDED(ZERO, ONE, 0, j if name == "two" else s + j)


def near(line: Any, state: Any) -> fmpq:
    """Whether the state is in the line."""
    return fmpq(abs(state - anchor(line)) <= RADIUS)


def lines(pair: Any) -> list[tuple[str, int, int]]:
    """Both of a pair."""
    return [(name, *place(pair, "both")[1:]) for name in ("one", "two")]


def apart(pair: Any, first: Any, second: Any) -> Any:
    """How much further two states are apart than the computed ones."""
    one, two = map(anchor, lines(pair))
    return first - second - one + two


def apart_most(pair: Any) -> fmpq:
    """From 2 + 2, halved, and 1/2 more at each step."""
    return 1 + 3 * HALF ** place(pair, "both")[2]


def together(pair: Any, first: Any, second: Any) -> fmpq:
    """Whether both are in the pair."""
    both = zip(lines(pair), (first, second), strict=True)
    inside = all(near(line, state) for line, state in both)
    return fmpq(inside and abs(apart(pair, first, second)) <= apart_most(pair))


def spot(line: Any, c: Any) -> Any:
    """The state, or the computed one where the coordinates are none of the set."""
    name, s, j = place(line, "alone")
    states = c[0] if isinstance(c, tuple) else ()
    known = (
        together(("both", s, j), *states)
        if len(states) == 2
        else all(near(line, v) for v in states)
    )
    return states[-1 if name == "two" else 0] if states and known else anchor(line)


def fed(line: Any, c: Any) -> Any:
    """The input, as near as it is."""
    return c[1] if isinstance(c, tuple) and abs(c[1] - 1) <= HALF else ONE


def carried(line: Any, c: Any) -> Any:
    """How far the next state is from the next computed one."""
    return (spot(line, c) - anchor(line)) / 2 + fed(line, c) - 1


def gap_carried(pair: Any, c: Any) -> Any:
    """The same of a difference."""
    return apart(pair, *(spot(line, c) for line in lines(pair))) / 2


def of_next(found: Any) -> Any:
    """The unit 1 is the next state; others are 0."""
    return lambda *of: found(*of) if of[1] == 1 else ZERO


def later(of: Any) -> tuple[str, int, int]:
    """After one more step."""
    name, s, j = place(of, "alone")
    return name, s, j + 1


MEANINGS: dict[Any, Any] = {
    certificates.run_slope: lambda v, x, s, j: HALF ** (int(j) + 1),
    certificates.on_record: lambda x, j: RECORDED(ZERO, x, 0, j),
    jets.shown: lambda i: fmpq(i == 0),
    terms.alone: lambda j: ("alone", 0, int(j)),
    terms.both: lambda s, j: ("both", int(s), int(j)),
    terms.one: lambda pair: lines(pair)[0],
    terms.two: lambda pair: lines(pair)[1],
    terms.later: later,
    terms.anchor: anchor,
    terms.met: always(1),
    terms.near: near,
    terms.together: together,
    terms.spot: spot,
    terms.fed: fed,
    terms.coordinates: lambda line, v, u: ((v,), u),
    terms.shared: lambda pair, a, b, u: ((a, b), u),
    terms.regrouped: lambda line, v, c: ((v,), ONE),
    terms.shared_regrouped: lambda pair, a, b, c: ((a, b), ONE),
    terms.unit_at: lambda unit, h, x: halved(h, x) if unit == 1 else ZERO,
    terms.centre: of_next(lambda line, unit: halved(anchor(line), ONE)),
    terms.linear: of_next(lambda line, unit, c: carried(line, c)),
    terms.width: of_next(lambda line, unit: RADIUS / 2 + HALF),
    terms.gap_linear: of_next(lambda pair, unit, c: gap_carried(pair, c)),
    terms.gap_width: of_next(lambda pair, unit: apart_most(pair) / 2),
    terms.carried: carried,
    terms.gap_carried: gap_carried,
    **dict.fromkeys((terms.boxed_by, terms.gap_boxed_by), always(HALF)),
    **dict.fromkeys((terms.unboxed, terms.gap_unboxed), always(2)),
    terms.follows_past: lambda v: fmpq(abs(v) <= RADIUS),
    terms.in_ball: lambda v: fmpq(abs(v) <= RADIUS),
    terms.metric: always(1),
    terms.growth: lambda line: HALF ** place(line, "alone")[2],
}
NUMBERS = {
    **{"x": fmpq(3, 2), "recorded": ONE, "near_delta": HALF, "near_states_told": fmpq(2)},
    **{"a": fmpq(2), "b": fmpq(-2), "near_gap_told": fmpq(17, 8), "near_width_told": fmpq(2)},
    **{"near_eps_told": fmpq(5, 2), "near_k_told": fmpq(2), "near_exponent_told": ZERO},
}
