"""An LSTM contracts on its invariant box, in the maximum norm (Miller & Hardt, Proposition 1).

λ = max(a + f̄, q + ō(a + f̄)),  a = ¼‖W_i‖ḡ + ī‖W_g‖ + ¼‖W_f‖B_c,  q = ¼‖W_o‖ tanh B_c.
Unit by unit it contracts as any cell does by its comparison matrix, which for it is at most

    M = (diag f̄, A; diag(ō f̄), diag(σ′ tanh c̄)|W_o| + diag(ō) A),
    A = diag(σ′ḡ)|W_i| + diag(ī tanh′)|W_g| + diag(σ′c̄)|W_f|,

with σ′ and tanh′ the largest slopes of the gate at hand on the box.
"""

from sympy import Rational

from rnnbounds.theory.claims.contraction.box import per_unit_form
from rnnbounds.theory.language import ONE, Assumption, assume, at, le, lt, symbols
from rnnbounds.theory.language.terms.variables import a, b
from rnnbounds.theory.models.box.runs import JOINT
from rnnbounds.theory.models.gates import lstm_runs
from rnnbounds.theory.models.gates.lstm import (
    BOX,
    LSTM,
    OPEN,
    ROWS,
    STEPS,
    TAU,
    B_c,
    F,
    G,
    I,
    O,
    cell_slope,
    output_slope,
    tau,
)
from rnnbounds.theory.proof import Claim, Source, step, theorem, thousandth_less

theta, lam_box, gate_gap, gate_state_gap = symbols("theta lam_box gate_gap gate_state_gap")

CELL = (*LSTM, BOX, OPEN, TAU, ROWS)
STEPWISE = theorem(
    "one-step",
    le(gate_gap, lstm_runs.FACTOR * gate_state_gap),
    (*CELL, JOINT),
    "lstm",
    (*STEPS, lstm_runs.ONE_STEP),
    note="it holds for every LSTM, and with λ < 1 it is a contraction",
).by(at("one step", a, b, 0))

forget_margin = 1 - F.peak
THETA = assume(
    "theta", "theta is large enough: ‖W_i‖, ‖W_o‖, 4‖W_g‖ ≤ θ(1 − f̄) and ‖W_f‖ ≤ θ(1 − f̄)²"
).that(
    le(I.size, theta * forget_margin),
    le(O.size, theta * forget_margin),
    le(4 * G.size, theta * forget_margin),
    le(F.size, theta * forget_margin**2),
)
AT_MOST_ONE = assume("at most one", "ī, ḡ, ō, tau ≤ 1, as the gates are").that(
    *(le(bar, ONE) for bar in (I.peak, G.peak, O.peak, tau))
)
FORGETS = Assumption("forgets", "f̄ < 1", lt(F.peak, ONE))
BOUNDED_CELLS = Assumption("bounded cells", "B_c ≤ 1/(1 − f̄)", le(B_c, 1 / forget_margin))
SUFFICIENT = theorem(
    "sufficient",
    le(gate_gap, (1 - (1 - theta) * forget_margin) * gate_state_gap),
    (*CELL, JOINT, THETA, AT_MOST_ONE, FORGETS, BOUNDED_CELLS),
    "lstm",
    (
        *STEPS,
        lstm_runs.ONE_STEP,
        step("what moves the cells", le(cell_slope, Rational(3, 4) * theta * forget_margin)).by(
            "theta", "at most one", "forgets", "bounded cells"
        ),
        step("what moves the outputs", le(output_slope, theta * forget_margin / 4)).by(
            "theta", "at most one"
        ),
        step("factor", le(lstm_runs.FACTOR, 1 - (1 - theta) * forget_margin)).by(
            "what moves the cells", "what moves the outputs", "at most one"
        ),
    ),
    note="Miller & Hardt's condition is θ < 1: then λ < 1",
).by(at("one step", a, b, 0), "factor")

UNITS = per_unit_form(
    "per-unit", "lstm", "v is the Perron vector of M; the slopes are those on the box"
)


still = cell_slope - F.size * B_c / 4  # what moves the cells, but for the forget gate
CONTRACTION_LSTM = Claim(
    id="contraction-lstm",
    title="An LSTM contracts on its invariant box",
    source=Source("Miller & Hardt, Stable Recurrent Models", "Proposition 1"),
    forms=(
        STEPWISE,
        lstm_runs.INVARIANT_CELL,
        lstm_runs.INVARIANT_OUTPUT,
        SUFFICIENT,
        UNITS,
        lstm_runs.SHRINKS,
    ),
    false_variants=(
        STEPWISE.variant(
            "forget-gate-fixed",
            "the forget gate is taken not to move with the state",
            lstm_runs.factor(still) * gate_state_gap,
        ),
        thousandth_less(STEPWISE, "one-thousandth", "a thousandth less than the factor"),
        lstm_runs.INVARIANT_CELL.variant(
            "one-step-size",
            "the cell states are taken to stay within one step from zero",
            I.peak * G.peak,
        ),
        lstm_runs.INVARIANT_OUTPUT.variant(
            "squared-output-gate", "the output gate is counted twice", O.peak**2 * tau
        ),
        SUFFICIENT.variant(
            "a-fifth",
            "a fifth of θ where ‖W_g‖ alone takes a quarter",
            (1 - (1 - theta / 5) * forget_margin) * gate_state_gap,
        ),
        UNITS.variant(
            "without-unit-weights",
            "the factor of the norm weighted by unit in the plain one",
            le(gate_gap, lam_box * gate_state_gap),
        ),
        lstm_runs.SHRINKS.variant(
            "any-steps",
            "one step is enough, however many units there are",
            without="many steps from the start",
        ),
    ),
    extremal="one unit at a corner of its box, the gates at their largest where they are steepest",
    example_factor=0.75,
)
