"""Runs of an LSTM: its box is invariant, and two runs from it come together in the 2-norm too."""

from sympy import Abs, Integer, Max, expand_mul, log, sqrt

from rnnbounds.theory.axioms.base import EXPONENTIAL, LOGARITHM
from rnnbounds.theory.axioms.entries import (
    DEFINITE,
    DIFFERENCES,
    ENTRY_EUCLIDEAN,
    EUCLIDEAN_BY_LARGEST,
    LEAST_BOUND,
)
from rnnbounds.theory.language import ONE, ZERO, Assumption, assume, at, le, lt, symbols
from rnnbounds.theory.language.terms.gates import (
    GATED_RUN,
    boxed,
    cell_box,
    gated_run,
    output_box,
    to_cell,
    to_output,
)
from rnnbounds.theory.language.terms.unitary import part, rows
from rnnbounds.theory.language.terms.variables import a, b, i, j, m, v, x
from rnnbounds.theory.language.terms.vectors import max_norm, norm, phi
from rnnbounds.theory.models import box_runs
from rnnbounds.theory.models.gates.gate import by_entries, new, one, two
from rnnbounds.theory.models.gates.lstm import (
    BOX,
    LSTM,
    OPEN,
    OUTPUT_BOX,
    ROWS,
    SQUASHED,
    STAYS,
    STEPS,
    TAU,
    B_c,
    F,
    O,
    cell,
    moved_a,
    moved_q,
    next_one,
    next_two,
    output,
    tau,
)
from rnnbounds.theory.models.lemmas.powers import decay, power, rate_of
from rnnbounds.theory.proof import step, theorem

n, T = symbols("n T")
c_size, h_size, run_gap, start_gap = symbols("c_size h_size run_gap start_gap")

FACTOR = Max(moved_a + F.bar, moved_q + O.bar * (moved_a + F.bar), evaluate=False)
ONE_STEP = step(
    "one step", le(max_norm(next_one - next_two), FACTOR * max_norm(one - two)), forall=(a, b, m)
).by(
    at("the cells move", a, b, m),
    at("the outputs move", a, b, m),
    at("joint state", FACTOR * max_norm(one - two), next_one - next_two),
    at("joint state", 0, one - two),
)

OUTPUT_STAYS = step(
    "an output stays", le(Abs(output(phi(boxed(v), new))), output_box(i)), forall=(v, m, i)
).by(
    at("outputs", boxed(v), new, i),
    at("gates", v, m, i),
    at("a cell stays", v, m, i),
    at("tanh inside", cell(phi(boxed(v), new)), cell_box(i)),
    at("box of outputs", i),
)
STAYING = (OUTPUT_STAYS, *box_runs.KEPT_IN_BOX, *box_runs.STARTS, box_runs.RUNS_STAY)
zero_run = gated_run(0, x, j)
FROM_ZERO = (
    *box_runs.member("zero is in the box", Integer(0), (), DIFFERENCES.at(0, 0, i)),
    step("the run from zero stays", box_runs.in_box(zero_run), forall=(j,)).by(
        at("runs stay", 0, j), "zero is in the box", DEFINITE.at(boxed(0), 0)
    ),
)
last = gated_run(0, x, T)
INVARIANT_CELL = theorem(
    "invariant-cell",
    le(c_size, B_c),
    (*LSTM, BOX, OPEN, OUTPUT_BOX, box_runs.NEAREST, box_runs.JOINT),
    "lstm",
    (
        *STAYS,
        *STAYING,
        *FROM_ZERO,
        step("each cell of the run", le(Abs(part(to_cell * last, i)), B_c), forall=(i,)).by(
            at("the run from zero stays", T), DEFINITE.at(boxed(last), last), at("box", last, i)
        ),
    ),
).by("each cell of the run", LEAST_BOUND.at(B_c, to_cell * last))

shown = max_norm(to_output * zero_run)
INVARIANT_OUTPUT = theorem(
    "invariant-output",
    le(h_size, O.bar * tau),
    (*LSTM, BOX, OPEN, OUTPUT_BOX, box_runs.NEAREST, box_runs.JOINT, TAU),
    "lstm",
    (
        *STAYS,
        SQUASHED,
        *STAYING,
        *FROM_ZERO,
        *by_entries(
            "each output after a step",
            "outputs after a step",
            to_output * phi(boxed(v), new),
            O.bar * tau,
            (v, m),
            at("outputs", boxed(v), new, i),
            at("gates", v, m, i),
            at("a cell squashed", v, m, i),
        ),
        step("outputs of the run", le(shown, O.bar * tau), forall=(j,)).inductively(
            base=(GATED_RUN.at(0, x, 0),),
            step=(
                GATED_RUN.at(0, x, j),
                at("the run from zero stays", j),
                DEFINITE.at(boxed(zero_run), zero_run),
                at("outputs after a step", zero_run, j),
            ),
        ),
    ),
).by(at("outputs of the run", T))

SIZE = assume("size", "a state has 2n entries", forall=(a, b, j)).that(
    le(rows(gated_run(a, x, j) - gated_run(b, x, j)), 2 * n)
)
run_one, run_two = gated_run(one, x, j), gated_run(two, x, j)
end_one, end_two = gated_run(one, x, T), gated_run(two, x, T)
ITERATED = theorem(
    "iterated",
    le(run_gap, sqrt(2 * n) * FACTOR**T * start_gap),
    (*LSTM, BOX, OPEN, TAU, ROWS, box_runs.JOINT, OUTPUT_BOX, box_runs.NEAREST, SIZE),
    "lstm",
    (
        *STEPS,
        ONE_STEP,
        *STAYING,
        step(
            "many steps",
            le(max_norm(run_one - run_two), FACTOR**j * max_norm(one - two)),
            forall=(a, b, j),
        ).by_induction(
            base=(GATED_RUN.at(one, x, 0), GATED_RUN.at(two, x, 0)),
            step=(
                GATED_RUN.at(one, x, j),
                GATED_RUN.at(two, x, j),
                at("runs stay", a, j),
                at("runs stay", b, j),
                DEFINITE.at(boxed(run_one), run_one),
                DEFINITE.at(boxed(run_two), run_two),
                at("one step", run_one, run_two, j),
            ),
        ),
        power(FACTOR),
        *by_entries(
            "each entry at the start",
            "the start",
            one - two,
            norm(one - two),
            (a, b),
            ENTRY_EUCLIDEAN.at(a, b, i),
        ),
    ),
    note="Miller & Hardt's r = O(log n): r steps with √(2n) λ^r < 1 contract in the 2-norm",
).by(
    at("many steps", a, b, T),
    at("power not negative", T),
    EUCLIDEAN_BY_LARGEST.at(end_one - end_two, 2 * n),
    at("the start", a, b),
    at("size", one, two, T),
)

rate = expand_mul(rate_of(FACTOR))  # as terms keep it
MANY = Assumption(
    "many steps from the start", "T ≥ ln(2n)/(2 ln(1/λ))", le(log(2 * n) / (2 * rate), T)
)
SHRINKS = theorem(
    "many-steps",
    le(run_gap, start_gap),
    (
        *ITERATED.assumptions,
        Assumption("memory", "λ > 0", lt(ZERO, FACTOR)),
        Assumption("contractive", "λ < 1", lt(FACTOR, ONE)),
        MANY,
    ),
    "lstm",
    (decay(FACTOR),),
    note="r = O(log n) steps, ln(2n)/(2 ln(1/λ)), no longer expand in the 2-norm",
).by(
    ITERATED.lemma("contraction-lstm, iterated").at(),
    at("decay", T),
    LOGARITHM.at(2 * n),
    EXPONENTIAL.at(log(2 * n) / 2, log(2 * n) / 2),
    EXPONENTIAL.at(log(2 * n) / 4, log(2 * n) / 4),
    EXPONENTIAL.at(log(2 * n) / 2, T * rate),
    EXPONENTIAL.at(rate, 0),
    LOGARITHM.at(1 / FACTOR),
    "memory",
    "contractive",
    "many steps from the start",
)
