"""Runs of an LSTM: its box is invariant, and two runs from it come together in the 2-norm too."""

from sympy import Abs, Expr, Integer, Max, expand_mul, log, sqrt

from rnnbounds.theory.axioms.base import EXPONENTIAL, LOGARITHM
from rnnbounds.theory.axioms.entries import (
    DEFINITE,
    DIFFERENCES,
    ENTRY_EUCLIDEAN,
    EUCLIDEAN_BY_LARGEST,
    LEAST_BOUND,
)
from rnnbounds.theory.language import ONE, ZERO, Assumption, assume, at, le, lt, symbols
from rnnbounds.theory.language.terms.networks import (
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
from rnnbounds.theory.models.box import runs as box_runs
from rnnbounds.theory.models.gates.gate import bound_by_entries, next_input, s_1, s_2
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
    cell_entry,
    cell_slope,
    next_one,
    next_two,
    output_entry,
    output_slope,
    tau,
)
from rnnbounds.theory.models.lemmas.powers import decay_rate, decay_step, power_nonnegative
from rnnbounds.theory.proof import step, theorem

n, T = symbols("n T")
c_size, h_size, run_gap, start_gap = symbols("c_size h_size run_gap start_gap")


def factor(slope: Expr = cell_slope) -> Expr:
    """The contraction factor max(a + f̄, q + ō(a + f̄)), for a = `slope`."""
    return Max(slope + F.peak, output_slope + O.peak * (slope + F.peak), evaluate=False)


FACTOR = factor()
ONE_STEP = step(
    "one step", le(max_norm(next_one - next_two), FACTOR * max_norm(s_1 - s_2)), forall=(a, b, m)
).by(
    at("the cells move", a, b, m),
    at("the outputs move", a, b, m),
    at("joint state", FACTOR * max_norm(s_1 - s_2), next_one - next_two),
    at("joint state", 0, s_1 - s_2),
)

OUTPUT_STAYS = step(
    "an output stays",
    le(Abs(output_entry(phi(boxed(v), next_input))), output_box(i)),
    forall=(v, m, i),
).by(
    at("outputs", boxed(v), next_input, i),
    at("gates", v, m, i),
    at("a cell stays", v, m, i),
    at("tanh inside", cell_entry(phi(boxed(v), next_input)), cell_box(i)),
    at("box of outputs", i),
)
STAYING = (OUTPUT_STAYS, *box_runs.KEPT_IN_BOX, *box_runs.STARTS, box_runs.RUNS_STAY)
run_from_zero = gated_run(0, x, j)
FROM_ZERO = (
    *box_runs.box_member_steps("zero is in the box", Integer(0), (), DIFFERENCES.at(0, 0, i)),
    step("the run from zero stays", box_runs.in_box(run_from_zero), forall=(j,)).by(
        at("runs stay", 0, j), "zero is in the box", DEFINITE.at(boxed(0), 0)
    ),
)
end = gated_run(0, x, T)
INVARIANT_CELL = theorem(
    "invariant-cell",
    le(c_size, B_c),
    (*LSTM, BOX, OPEN, OUTPUT_BOX, box_runs.NEAREST, box_runs.JOINT),
    "lstm",
    (
        *STAYS,
        *STAYING,
        *FROM_ZERO,
        step("each cell of the run", le(Abs(part(to_cell * end, i)), B_c), forall=(i,)).by(
            at("the run from zero stays", T), DEFINITE.at(boxed(end), end), at("box", end, i)
        ),
    ),
).by("each cell of the run", LEAST_BOUND.at(B_c, to_cell * end))

output_norm = max_norm(to_output * run_from_zero)
INVARIANT_OUTPUT = theorem(
    "invariant-output",
    le(h_size, O.peak * tau),
    (*LSTM, BOX, OPEN, OUTPUT_BOX, box_runs.NEAREST, box_runs.JOINT, TAU),
    "lstm",
    (
        *STAYS,
        SQUASHED,
        *STAYING,
        *FROM_ZERO,
        *bound_by_entries(
            "each output after a step",
            "outputs after a step",
            to_output * phi(boxed(v), next_input),
            O.peak * tau,
            (v, m),
            at("outputs", boxed(v), next_input, i),
            at("gates", v, m, i),
            at("a cell squashed", v, m, i),
        ),
        step("outputs of the run", le(output_norm, O.peak * tau), forall=(j,)).inductively(
            base=(GATED_RUN.at(0, x, 0),),
            step=(
                GATED_RUN.at(0, x, j),
                at("the run from zero stays", j),
                DEFINITE.at(boxed(run_from_zero), run_from_zero),
                at("outputs after a step", run_from_zero, j),
            ),
        ),
    ),
).by(at("outputs of the run", T))

SIZE = assume("size", "a state has 2n entries", forall=(a, b, j)).that(
    le(rows(gated_run(a, x, j) - gated_run(b, x, j)), 2 * n)
)
run_one, run_two = gated_run(s_1, x, j), gated_run(s_2, x, j)
end_one, end_two = gated_run(s_1, x, T), gated_run(s_2, x, T)
decay_rate_terms = expand_mul(decay_rate(FACTOR))  # as terms keep it
MANY = Assumption(
    "many steps from the start",
    "T ≥ ln(2n)/(2 ln(1/λ))",
    le(log(2 * n) / (2 * decay_rate_terms), T),
)
SHRINKS = theorem(
    "many-steps",
    le(run_gap, start_gap),
    (
        *(*LSTM, BOX, OPEN, TAU, ROWS, box_runs.JOINT, OUTPUT_BOX, box_runs.NEAREST, SIZE),
        Assumption("memory", "λ > 0", lt(ZERO, FACTOR)),
        Assumption("contractive", "λ < 1", lt(FACTOR, ONE)),
        MANY,
    ),
    "lstm",
    (
        *STEPS,
        ONE_STEP,
        *STAYING,
        step(
            "many steps",
            le(max_norm(run_one - run_two), FACTOR**j * max_norm(s_1 - s_2)),
            forall=(a, b, j),
        ).by_induction(
            base=(GATED_RUN.at(s_1, x, 0), GATED_RUN.at(s_2, x, 0)),
            step=(
                GATED_RUN.at(s_1, x, j),
                GATED_RUN.at(s_2, x, j),
                at("runs stay", a, j),
                at("runs stay", b, j),
                DEFINITE.at(boxed(run_one), run_one),
                DEFINITE.at(boxed(run_two), run_two),
                at("one step", run_one, run_two, j),
            ),
        ),
        power_nonnegative(FACTOR),
        *bound_by_entries(
            "each entry at the start",
            "the start",
            s_1 - s_2,
            norm(s_1 - s_2),
            (a, b),
            ENTRY_EUCLIDEAN.at(a, b, i),
        ),
        step(
            "in the 2-norm",
            le(norm(end_one - end_two), sqrt(2 * n) * FACTOR**T * norm(s_1 - s_2)),
            forall=(a, b),
        ).by(
            at("many steps", a, b, T),
            at("power not negative", T),
            EUCLIDEAN_BY_LARGEST.at(end_one - end_two, 2 * n),
            at("the start", a, b),
            at("size", s_1, s_2, T),
        ),
        decay_step(FACTOR),
    ),
    note="Miller & Hardt's r = O(log n): as √(2n) λ^r < 1 from r = ln(2n)/(2 ln(1/λ)) steps on, "
    "these contract in the 2-norm",
).by(
    at("in the 2-norm", a, b),
    at("decay", T),
    LOGARITHM.at(2 * n),
    EXPONENTIAL.at(log(2 * n) / 2, log(2 * n) / 2),
    EXPONENTIAL.at(log(2 * n) / 4, log(2 * n) / 4),
    EXPONENTIAL.at(log(2 * n) / 2, T * decay_rate_terms),
    EXPONENTIAL.at(decay_rate_terms, 0),
    LOGARITHM.at(1 / FACTOR),
    "memory",
    "contractive",
    "many steps from the start",
)
