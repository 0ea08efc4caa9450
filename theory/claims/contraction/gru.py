"""A GRU contracts on its invariant box, in the maximum norm, in torch's convention and in Cho's.

λ = max_ζ (ζ + (1 − ζ)κ) + ½‖W_z‖ over the ends ζ of the update gate, with
κ = r̄‖W_n‖ + ¼‖W_r‖(‖W_n‖ + ‖c_n‖)  (torch),   κ = ‖W_n‖(r̄ + ¼‖W_r‖)  (Cho).
"""

from sympy import Abs, Expr, Rational

from rnnbounds.theory.axioms.entries import DIFFERENCES, LEAST_BOUND
from rnnbounds.theory.claims.contraction.box import per_unit_form
from rnnbounds.theory.language import ONE, Assumption, assume, at, le, lt, symbols
from rnnbounds.theory.language.terms.networks import GATED_RUN, gated_run, to_output
from rnnbounds.theory.language.terms.variables import a, b, i, j, m, x
from rnnbounds.theory.language.terms.vectors import entry
from rnnbounds.theory.models.gates import gate
from rnnbounds.theory.models.gates.gru import (
    BOX,
    CHO,
    CHO_N,
    GRU,
    HIDDEN_BIAS,
    OPEN,
    ROWS,
    STATE,
    Candidate,
    N,
    R,
    Z,
    c_n_inf,
    cho_kappa,
    contraction_factor,
    max_norm_steps,
    output_change,
    output_entry,
    torch_kappa,
    z_low,
)
from rnnbounds.theory.proof import Claim, Form, Source, step, theorem

gate_gap, gate_state_gap, h_size, lam_box, T = symbols("gate_gap gate_state_gap h_size lam_box T")
(theta_gru,) = symbols("theta_gru")


def one_step_form(
    name: str, candidate: Candidate, kappa: Expr, about: str, *assumptions: Assumption
) -> Form:
    """Form: the one-step bound in torch's or in Cho's convention."""
    return theorem(
        name,
        le(gate_gap, contraction_factor(kappa) * gate_state_gap),
        (*assumptions, STATE, BOX, OPEN, ROWS),
        about,
        max_norm_steps(candidate, kappa),
        "λ < 1 if and only if ½‖W_z‖ < (1 − z̄)(1 − κ)",
    ).by(
        at("the outputs move", a, b, 0),
        at("joint state", 0, output_change.subs(m, 0)),
        at("joint state", 0, gate.s_1 - gate.s_2),
    )


TORCH = one_step_form("torch", N, torch_kappa, "gru", GRU, HIDDEN_BIAS)
CHO_FORM = one_step_form("cho", CHO_N, cho_kappa, "gru-cho", CHO)
update_margin = 1 - Z.peak
THETA = assume(
    "theta", "θ is large enough and below 1: 2‖W_n‖, (3/2)‖W_r‖ ≤ θ and 2‖W_z‖ ≤ θ(1 − z̄)"
).that(
    le(2 * N.size, theta_gru),
    le(3 * R.size, 2 * theta_gru),
    le(2 * Z.size, theta_gru * update_margin),
    lt(theta_gru, ONE),
)
SMALL_BIAS = Assumption("small hidden bias", "‖c_n‖_∞ ≤ 1", le(c_n_inf, ONE))
AT_MOST_ONE = assume("at most one", "r̄, z̄ ≤ 1, as the gates are, and z_low ≤ z̄").that(
    le(R.peak, ONE), le(Z.peak, ONE), le(z_low, Z.peak)
)
SUFFICIENT = theorem(
    "sufficient",
    le(gate_gap, (1 - (1 - theta_gru) * update_margin) * gate_state_gap),
    (*TORCH.assumptions, THETA, SMALL_BIAS, AT_MOST_ONE),
    "gru",
    (
        *max_norm_steps(N, torch_kappa),
        step("what resets", le(R.size * (N.size + c_n_inf), theta_gru)).by(
            "theta", "small hidden bias"
        ),
        step("what passes", le(R.peak * N.size, theta_gru / 2)).by("theta", "at most one"),
        step("candidate", le(torch_kappa, Rational(3, 4) * theta_gru)).by(
            "what resets", "what passes"
        ),
        step("factor", le(contraction_factor(torch_kappa), 1 - (1 - theta_gru) * update_margin)).by(
            "candidate", "theta", "at most one"
        ),
    ),
    note="the stable set of GRUs, made after Miller & Hardt's of LSTMs: θ < 1 makes λ < 1",
).by(
    at("the outputs move", a, b, 0),
    at("joint state", 0, output_change.subs(m, 0)),
    at("joint state", 0, gate.s_1 - gate.s_2),
    "factor",
)
UNITS = per_unit_form(
    "per-unit", "gru", "v is near the Perron vector of the M_ζ with the worst rows for it"
)

run_from_zero, end = gated_run(0, x, j), gated_run(0, x, T)
next_input = entry(x, j + 1)
INVARIANT = theorem(
    "invariant",
    le(h_size, ONE),
    (GRU,),
    "gru",
    (
        gate.SIGMOID_POSITIVE,
        gate.SIGMOID_BELOW_ONE,
        gate.TANH_BELOW_ONE,
        step(
            "outputs of the run", le(Abs(output_entry(run_from_zero)), ONE), forall=(j, i)
        ).by_induction(
            base=(GATED_RUN.at(0, x, 0), DIFFERENCES.at(0, 0, i)),
            step=(
                GATED_RUN.at(0, x, j),
                at("gru", run_from_zero, next_input, i),
                at("σ is positive", Z.preactivation(run_from_zero, next_input)),
                at("σ is at most 1", Z.preactivation(run_from_zero, next_input)),
                at("tanh is at most 1", N.preactivation(run_from_zero, next_input)),
            ),
        ),
        step("each output", le(Abs(output_entry(end)), ONE), forall=(i,)).by(
            at("outputs of the run", T, i)
        ),
    ),
    note="new outputs are between the candidate and the old output",
).by("each output", LEAST_BOUND.at(1, to_output * end))


CONTRACTION_GRU = Claim(
    id="contraction-gru",
    title="A GRU contracts on its invariant box",
    source=Source("Cho et al., Learning Phrase Representations; Miller & Hardt", "section 4"),
    forms=(TORCH, CHO_FORM, UNITS, INVARIANT, SUFFICIENT),
    false_variants=(
        TORCH.variant(
            "update-gate-half",
            "half of what the update gate moves: as if |h − ν| ≤ 1",
            contraction_factor(torch_kappa, Z.size / 4) * gate_state_gap,
        ),
        TORCH.variant(
            "cho-factor",
            "Cho's κ for torch's convention: the hidden bias is left out",
            contraction_factor(cho_kappa) * gate_state_gap,
        ),
        CHO_FORM.variant(
            "cho-reset-gate-fixed",
            "the reset gate is taken not to move with the state, in Cho's convention",
            contraction_factor(R.peak * N.size) * gate_state_gap,
        ),
        UNITS.variant(
            "without-weights",
            "the factor of the weighted norm in the plain one",
            le(gate_gap, lam_box * gate_state_gap),
        ),
        INVARIANT.variant(
            "one-step-size", "the outputs are taken to stay within one step from zero", 1 - z_low
        ),
        SUFFICIENT.variant(
            "two-fifths",
            "2/5 of θ where ‖W_n‖ alone takes a half",
            (1 - (1 - Rational(2, 5) * theta_gru) * update_margin) * gate_state_gap,
        ),
    ),
    extremal="one unit, W_z = W_r = 0, an open reset gate and states around 0, where tanh is steep",
    example_factor=0.75,
)
