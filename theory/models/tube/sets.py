"""The sets of the reachtube, in which runs near a recorded one stay: by induction over time."""

from sympy import Expr

from rnnbounds.theory.language import ONE, Clause, Statement, Use, assume, at, eq, le, symbols
from rnnbounds.theory.language.quantities.near import recorded
from rnnbounds.theory.language.terms.certificates import BEGUN, begun, on_record
from rnnbounds.theory.language.terms.tubes import (
    alone,
    anchor,
    both,
    carried,
    coordinates,
    fed,
    gap_carried,
    gap_unboxed,
    later,
    line,
    met,
    near,
    one,
    pair,
    regrouped,
    shared,
    shared_regrouped,
    spot,
    together,
    two,
    unboxed,
)
from rnnbounds.theory.language.terms.variables import a, b, c, j, m, s, v, x
from rnnbounds.theory.language.terms.vectors import entry, max_norm, phi
from rnnbounds.theory.models.tube.lines import LINES
from rnnbounds.theory.models.tube.pairs import PAIRS, TWO
from rnnbounds.theory.proof import Step, step
from rnnbounds.theory.proof.methods import HYPOTHESIS

delta, states = symbols("near_delta near_states_told")


def close(inputs: Expr, to: Expr) -> Statement:
    """Statement that each number of the input is within δ of the recorded one."""
    return le(max_norm(inputs - to), delta)


def in_line(on: Expr, state: Expr) -> Statement:
    """Statement that the state is in the set around one run."""
    return le(ONE, near(on, state))


def in_pair(of: Expr, first: Expr, second: Expr) -> Statement:
    """Statement that the two states are in the set around two runs."""
    return le(ONE, together(of, first, second))


def in_next_box(on: Expr, state: Expr) -> Statement:
    """Statement that a next state is within the box around the carried set."""
    return le(max_norm(unboxed(on) * (state - anchor(later(on)) - carried(on, c))), ONE)


def gap_residual(first: Expr, second: Expr) -> Expr:
    """Difference of two next states, less the computed difference and its carried linear part."""
    return first - second - anchor(later(TWO[0])) + anchor(later(TWO[1])) - gap_carried(pair, c)


INPUTS = assume(
    "near", "each number of each input is within δ of the recorded one", forall=(m,)
).that(close(entry(x, m + 1), entry(recorded, m + 1)))
STARTS = assume("starts", "no entry of the states that the runs start in is larger than r").that(
    le(max_norm(a), states), le(max_norm(b), states)
)
FIRST = assume("first set", "the first line has the states |s_i| ≤ r", forall=(v,)).that(
    Clause(in_line(alone(0), v), (le(max_norm(v), states),))
)
POINTS = assume(
    "points", "the states of a line are ŝ + G c for coordinates |c_j| ≤ 1", forall=(line, c)
).that(in_line(line, spot(line, c)))
COORDINATES = assume(
    "coordinates",
    "a state of a line and an input within δ of the recorded one have coordinates",
    forall=(line, v, b),
).that(
    *(
        Clause(
            eq(told(line, coordinates(line, v, b)), what), (in_line(line, v), close(b, met(line)))
        )
        for told, what in ((spot, v), (fed, b))
    )
)
NEXT = assume(
    "next set",
    "the next line has the states ŝ + K c + r, K c what is kept of the generators and r in the "
    "box, whose entries become coordinates",
    forall=(line, v, c),
).that(Clause(eq(spot(later(line), regrouped(line, v, c)), v), (in_next_box(line, v),)))
FIRST_OF_TWO = assume(
    "first pair",
    "a pair begins with a state of the line and a start state, the coordinates of both beside one "
    "another",
    forall=(a, b, s),
).that(Clause(in_pair(both(s, 0), a, b), (in_line(alone(s), a), le(max_norm(b), states))))
POINTS_OF_TWO = assume(
    "points of two runs",
    "the states of a pair are ŝ + G c and ŝ′ + G′c, their difference ŝ − ŝ′ + G″c",
    forall=(pair, c),
).that(in_pair(pair, *(spot(on, c) for on in TWO)))
COORDINATES_OF_TWO = assume(
    "coordinates of two runs",
    "two states of a pair and an input within δ of the recorded one have coordinates",
    forall=(pair, a, b, v),
).that(
    *(
        Clause(
            eq(told(on, shared(pair, a, b, v)), what),
            (in_pair(pair, a, b), *(close(v, met(of)) for of in TWO)),
        )
        for on, state in zip(TWO, (a, b), strict=True)
        for told, what in ((spot, state), (fed, v))
    )
)
NEXT_OF_TWO = assume(
    "next pair",
    "the next pair has the states that are within the boxes of what is kept of the generators, as "
    "is their difference",
    forall=(pair, a, b, c),
).that(
    *(
        Clause(
            eq(spot(on(later(pair)), shared_regrouped(pair, a, b, c)), state),
            (
                *(in_next_box(of, next_state) for of, next_state in zip(TWO, (a, b), strict=True)),
                le(max_norm(gap_unboxed(pair) * gap_residual(a, b)), ONE),
            ),
        )
        for on, state in ((one, a), (two, b))
    )
)
TIMES = assume(
    "recorded run",
    "one line follows the other along the recorded inputs and the states computed on them",
    forall=(j,),
).that(
    eq(later(alone(j)), alone(j + 1)),
    eq(met(alone(j)), entry(recorded, j + 1)),
    eq(anchor(alone(j)), on_record(recorded, j)),
)
TIMES_OF_TWO = assume(
    "recorded runs",
    "one pair follows the other, from the time s at which the second run starts",
    forall=(s, j),
).that(
    eq(later(both(s, j)), both(s, j + 1)),
    *(eq(met(on(both(s, j))), entry(recorded, s + j + 1)) for on in (one, two)),
)
OF_LINES = (FIRST, POINTS, COORDINATES, NEXT, TIMES)
OF_PAIRS = (FIRST_OF_TWO, POINTS_OF_TWO, COORDINATES_OF_TWO, NEXT_OF_TWO, TIMES_OF_TWO)

_next_state = phi(spot(line, c), fed(line, c))
_run, _line, _input = begun(v, x, 0, j), alone(j), entry(x, j + 1)
INPUTS_OF_LINE = step("inputs of the line", close(_input, met(_line)), (j,)).by(
    at("near", j), at("recorded run", j)
)
STAY = (
    *LINES,
    step("one step", in_line(later(line), _next_state), (line, c)).by(
        at("next state in the box", line, c),
        at("next set", line, _next_state, c),
        at("points", later(line), regrouped(line, _next_state, c)),
    ),
    INPUTS_OF_LINE,
    step("runs stay", in_line(_line, _run), (v, j), (le(max_norm(v), states),)).inductively(
        base=("given 1", BEGUN.at(v, x, 0, 0), at("first set", v)),
        step=(
            HYPOTHESIS,
            BEGUN.at(v, x, 0, j),
            at("recorded run", j),
            at("inputs of the line", j),
            at("coordinates", _line, _run, _input),
            at("one step", _line, coordinates(_line, _run, _input)),
        ),
    ),
)
_full, _fresh, _both, _now = (
    begun(a, x, 0, s + j),
    begun(b, x, s, j),
    both(s, j),
    entry(x, s + j + 1),
)
INPUTS_OF_TWO = tuple(
    step(f"inputs of the {name}", close(_now, met(on(_both))), (s, j)).by(
        at("near", s + j), at("recorded runs", s, j)
    )
    for name, on in (("first", one), ("second", two))
)


def both_stay(*one_step: Use) -> Step:
    """Two runs stay in their pair, by induction over time; `one_step`: by what a step of both is
    known to stay."""
    return step("both runs stay", in_pair(_both, _full, _fresh), (s, j)).by_induction(
        base=(
            "starts",
            BEGUN.at(b, x, s, 0),
            at("runs stay", a, s),
            at("first pair", begun(a, x, 0, s), b, s),
        ),
        step=(
            BEGUN.at(a, x, 0, s + j),
            BEGUN.at(b, x, s, j),
            at("recorded runs", s, j),
            at("inputs of the first", s, j),
            *one_step,
        ),
    )


_next_states = tuple(phi(spot(on, c), fed(on, c)) for on in TWO)
TOGETHER = (
    *PAIRS,
    step("one step of both", in_pair(later(pair), *_next_states), (pair, c)).by(
        *(at("next state in the box", on, c) for on in TWO),
        at("next difference in the box", pair, c),
        at("next pair", pair, *_next_states, c),
        at("points of two runs", later(pair), shared_regrouped(pair, *_next_states, c)),
    ),
    *INPUTS_OF_TWO,
    both_stay(
        at("inputs of the second", s, j),
        at("coordinates of two runs", _both, _full, _fresh, _now),
        at("one step of both", _both, shared(_both, _full, _fresh, _now)),
    ),
)
