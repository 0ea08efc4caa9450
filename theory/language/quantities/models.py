"""States, outputs and certificates of one model."""

from collections.abc import Callable

from sympy import Abs, Expr

from rnnbounds.theory.language.quantities.norms import EUCLIDEAN, OF_SLOPES, OF_STATES, Norm, T, k
from rnnbounds.theory.language.quantity import Quantity, Symbol, certified, measured, parameter, tag
from rnnbounds.theory.language.terms.networks import descent, gated_run, jacobian
from rnnbounds.theory.language.terms.variables import (
    a,
    b,
    i,
    operator,
    vector,
    x,
    x_other,
    x_past,
)
from rnnbounds.theory.language.terms.vectors import (
    Vector,
    forward,
    max_norm,
    norm,
    phi,
    readout,
    state,
)

t = Symbol("t", integer=True)
_root, _scaling, _weights = operator("P_root"), operator("D"), operator("V")
_input: Vector = vector("x_t")
_step = phi(a, _input) - phi(b, _input)
_BEFORE = "two states"
_run, _run_other = gated_run(a, x, T), gated_run(a, x_other, T)


def _in_norm(suffix: str, unit: str, size: Callable[[Expr], Expr]) -> tuple[Quantity, Quantity]:
    """Quantities: distances of two states, and of the next two, in another norm."""
    norm = Norm(unit, size, f"_{suffix}")
    return norm.pair(f"step_gap_{suffix}", f"state_gap_{suffix}", _BEFORE, "h", _step, a - b)


MODELS: tuple[Quantity, ...] = (
    parameter("T", "length of the input sequence", "T"),
    parameter("k", "length of the window: the truncated model sees the last k inputs", "k"),
    parameter("t", "index of an input, t = T - k", "t"),
    parameter("n", "number of states", "n", 1),
    parameter("d", "number of inputs", "d", 1),
    parameter("epsilon", "target accuracy", r"\varepsilon", None),
    parameter("alpha", "step size of gradient descent", r"\alpha", None),
    parameter("a_1", "start of gradient descent on a scalar linear system", "a_1", None),
    certified("lam", "contraction factor", "of the certificate", r"\lambda"),
    certified("L_rho", "Lipschitz constant of the activation, sup |ρ'|", "slope", r"L_\rho"),
    certified("beta_rho", "smoothness of the activation, sup |ρ''|", "curvature", r"\beta_\rho"),
    certified("M_rho", "bound on the activation, sup |ρ|", "absolute value", r"M_\rho"),
    certified("W_norm", "‖W‖₂ of the recurrent matrix", "spectral", r"\lVert W\rVert"),
    certified("U_norm", "‖U‖₂ of the input matrix", "spectral", r"\lVert U\rVert"),
    certified("B_x", "bound on the inputs, sup ‖x_t‖₂", "Euclidean", "B_x"),
    certified(
        "x_gap", "distance of two input sequences, sup ‖x_t - x'_t‖₂", "Euclidean", r"\delta",
    ),
    certified(
        "S_0", "drive, ≥ sup ‖φ(0, x)‖₂; vanilla cells: L_ρ ‖U‖₂ B_x + ‖ρ(b)‖₂", "Euclidean", "S_0",
    ),
    certified(
        "phi_0", "bound on ‖φ(0, 0)‖₂; vanilla cells: ‖ρ(b)‖", "Euclidean",
        r"\lVert \varphi(0,0)\rVert",
    ),
    certified("B_h", "bound on the states, ≥ sup ‖h_t‖₂", "Euclidean", "B_h"),
    certified("L_x", "Lipschitz constant of φ in the input", "Euclidean", "L_x"),
    certified("L_f", "Lipschitz constant of the readout", "Euclidean", "L_f"),
    certified("W_radius", "spectral radius of W", "eigenvalues", r"r(W)"),
    certified("lam_P", "contraction factor in ‖P^{1/2}·‖₂ (linear)", "quadratic", r"\lambda_P"),
    certified("lam_D", "contraction factor in ‖D·‖₂, D diagonal", "diagonal", r"\lambda_D"),
    certified("lam_v", "contraction factor in max |·|_i/v_i", "weighted maximum", r"\lambda_v"),
    OF_STATES.of("h_norm", "the state", "h_T", state(x, 0, T)),
    OF_STATES.of("h_start", "the state at the start of the window", "h_{T-k}", state(x, 0, T - k)),
    OF_STATES.of(
        "h_gap", "full against truncated state", "h_T-h_T^{(k)}",
        state(x, 0, T) - state(x, T - k, k),
    ),
    EUCLIDEAN.of(
        "y_gap", "full against truncated output", "y_T-y_T^{(k)}",
        readout(state(x, 0, T)) - readout(state(x, T - k, k)),
    ),
    OF_SLOPES.of(
        "dh_dx", "the state's derivative in the input at time t", r"\partial h_T/\partial x_t",
        jacobian(x, T, t),
    ),
    OF_STATES.of("step_gap", f"{_BEFORE} after one step", r"\varphi(h,x)-\varphi(h',x)", _step),
    OF_STATES.of(
        "forced_gap", "two runs from one state, under inputs x and x'", "h_T(x)-h_T(x')",
        _run - _run_other, "_{forced}",
    ),
    EUCLIDEAN.of(
        "forced_gap_y", "the outputs of two runs from one state, under inputs x and x'",
        "y_T(x)-y_T(x')", readout(_run) - readout(_run_other), "_{forced}",
    ),
    OF_STATES.of("state_gap", _BEFORE, "h-h'", a - b),
    *tag("linear", *_in_norm("P", "‖P^{1/2}·‖₂", lambda gap: norm(_root * gap))),
    *_in_norm("D", "‖D·‖₂", lambda gap: norm(_scaling * gap)),
    *_in_norm("v", "max |·|_i/v_i", lambda gap: max_norm(_weights * gap)),
    OF_STATES.of(
        "forward_gap", "feed-forward network against truncated model", "H_T^{(k)}-h_T^{(k)}",
        forward(x, k, T) - state(x, T - k, k),
    ),
    OF_STATES.of(
        "field_gap", "feed-forward network, inputs changed at times ≤ T - k",
        "H_T^{(k)}(x)-H_T^{(k)}(x')", forward(x, k, T) - forward(x_past, k, T),
    ),
    *tag(
        "descent",
        measured(
            "descent_growth", "least growth of a parameter in one step of gradient descent",
            r"\min_i |a_{i+1}|/|a_i|", Abs(descent(i + 1) / descent(i)), "number",
        ),
    ),
)  # fmt: skip
