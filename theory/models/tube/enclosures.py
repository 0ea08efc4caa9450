"""Sets that are assumed to hold what a step makes of them: polynomials of wide balls of starts, and
merged sets of runs from recorded pasts.

That runs stay in such sets is by induction over time; the rules of their operations are not stated.
"""

from rnnbounds.theory.language import ONE, ZERO, Clause, assume, at, le
from rnnbounds.theory.language.terms.certificates import BEGUN, begun
from rnnbounds.theory.language.terms.tubes import (
    alone,
    both,
    follows_past,
    in_ball,
    later,
    line,
    met,
    one,
    pair,
)
from rnnbounds.theory.language.terms.variables import a, b, c, j, s, v, x
from rnnbounds.theory.language.terms.vectors import RECURSION, entry, max_norm, phi, state
from rnnbounds.theory.models.tube.sets import (
    FIRST,
    FIRST_OF_TWO,
    INPUTS_OF_LINE,
    INPUTS_OF_TWO,
    TIMES,
    TIMES_OF_TWO,
    both_stay,
    close,
    in_line,
    in_pair,
    states,
)
from rnnbounds.theory.proof import step
from rnnbounds.theory.proof.methods import HYPOTHESIS

STEP = assume(
    "step of a set",
    "a step takes the states of a line, on inputs within δ of the recorded one, into the next line",
    forall=(line, v, b),
    inclusion=True,
).that(Clause(in_line(later(line), phi(v, b)), (in_line(line, v), close(b, met(line)))))
STEP_OF_TWO = assume(
    "step of a pair",
    "a step takes two states of a pair, on an input within δ of the recorded one, into the next "
    "pair",
    forall=(pair, v, c, b),
    inclusion=True,
).that(
    Clause(
        in_pair(later(pair), phi(v, b), phi(c, b)), (in_pair(pair, v, c), close(b, met(one(pair))))
    )
)
OF_LINES, OF_PAIRS = (FIRST, STEP, TIMES), (FIRST_OF_TWO, STEP_OF_TWO, TIMES_OF_TWO)

_run, _line = begun(v, x, 0, j), alone(j)
STAY = (
    INPUTS_OF_LINE,
    step("runs stay", in_line(_line, _run), (v, j), (le(max_norm(v), states),)).inductively(
        base=("given 1", BEGUN.at(v, x, 0, 0), at("first set", v)),
        step=(
            HYPOTHESIS,
            BEGUN.at(v, x, 0, j),
            at("recorded run", j),
            at("inputs of the line", j),
            at("step of a set", _line, _run, entry(x, j + 1)),
        ),
    ),
)
_full, _fresh = begun(a, x, 0, s + j), begun(b, x, s, j)
TOGETHER = (
    INPUTS_OF_TWO[0],
    both_stay(at("step of a pair", both(s, j), _full, _fresh, entry(x, s + j + 1))),
)

PAST = assume(
    "past",
    "the run starts within r of a recorded end state, r a share of the range of each entry",
).that(le(ONE, follows_past(a)))
FIRST_PAST = assume(
    "first past",
    "a pair begins with each state within r of a recorded end state, and 0",
    forall=(v,),
).that(Clause(in_pair(both(0, 0), v, ZERO), (le(ONE, follows_past(v)),)))
OF_PASTS = (PAST, FIRST_PAST, STEP_OF_TWO, TIMES_OF_TWO)
_past, _zero, _both = begun(a, x, 0, j), state(x, 0, j), both(0, j)
BESIDE_ZERO = (
    INPUTS_OF_TWO[0],
    step("past and zero stay", in_pair(_both, _past, _zero), (j,)).by_induction(
        base=("past", BEGUN.at(a, x, 0, 0), RECURSION.at(x, 0, 0), at("first past", a)),
        step=(
            BEGUN.at(a, x, 0, j),
            RECURSION.at(x, 0, j),
            at("recorded runs", 0, j),
            at("inputs of the first", 0, j),
            at("step of a pair", _both, _past, _zero, entry(x, j + 1)),
        ),
    ),
)

BALL = assume("ball", "both runs start in the printed ball").that(
    le(ONE, in_ball(a)), le(ONE, in_ball(b))
)
FIRST_OF_BALL = assume(
    "first of the ball", "a pair begins with any two states of the printed ball", forall=(v, c)
).that(Clause(in_pair(both(0, 0), v, c), (le(ONE, in_ball(v)), le(ONE, in_ball(c)))))
OF_BALL = (BALL, FIRST_OF_BALL, STEP_OF_TWO, TIMES_OF_TWO)
_one, _two, _both = begun(a, x, 0, j), begun(b, x, 0, j), both(0, j)
FROM_BALL = (
    INPUTS_OF_TWO[0],
    step("runs from the ball stay", in_pair(_both, _one, _two), (j,)).by_induction(
        base=("ball", BEGUN.at(a, x, 0, 0), BEGUN.at(b, x, 0, 0), at("first of the ball", a, b)),
        step=(
            BEGUN.at(a, x, 0, j),
            BEGUN.at(b, x, 0, j),
            at("recorded runs", 0, j),
            at("inputs of the first", 0, j),
            at("step of a pair", _both, _one, _two, entry(x, j + 1)),
        ),
    ),
)
