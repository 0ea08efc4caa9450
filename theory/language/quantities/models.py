"""The quantities of models of any kind: states, outputs, certificates, gradients, training.

States and outputs are measured in the Euclidean norm unless the name says otherwise.  ∇p_T is the
gradient in the trained weights of the loss p(h_T), ∇p_T^k that of the truncated model, both as
operators from weights to numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from sympy import Abs, Expr

from rnnbounds.theory.language.quantity import Quantity, Symbol, certified, measured, parameter, tag
from rnnbounds.theory.language.terms import networks as net
from rnnbounds.theory.language.terms.networks import project as Pi
from rnnbounds.theory.language.terms.variables import (
    a,
    b,
    i,
    operator,
    vector,
    w,
    w_other,
    x,
    x_other,
    x_past,
)
from rnnbounds.theory.language.terms.vectors import (
    Vector,
    forward,
    gain,
    max_norm,
    norm,
    phi,
    readout,
    state,
    weighted,
)

T, k = Symbol("T", integer=True), Symbol("k", integer=True)


@dataclass(frozen=True)
class Norm:
    """A norm: its name or unit, its formal function, and the LaTeX behind the closing bars; `shown`
    is what it is of a cell, which shows a part of its state."""

    unit: str
    size: Callable[[Expr], Expr]
    mark: str = ""
    shown: Callable[[Expr], Expr] | None = None

    def of(
        self,
        name: str,
        meaning: str,
        notation: str,
        term: Expr,
        mark: str | None = None,
        windowed: bool = False,
    ) -> Quantity:
        """The quantity ‖term‖; the notation is that of the term, the mark perhaps its own."""
        bars = rf"\lVert {notation}\rVert{self.mark if mark is None else mark}"
        found = measured(name, meaning, bars, self.size(term), self.unit, windowed)
        return found if self.shown is None else replace(found, of_cells=self.shown(term))

    def pair(
        self, after: str, before: str, meaning: str, state: str, moved: Expr, apart: Expr
    ) -> tuple[Quantity, Quantity]:
        """Two states, after one step and before, under these names."""
        step = rf"\varphi({state},x)-\varphi({state}',x)"
        return (
            self.of(after, f"{meaning} after one step", step, moved),
            self.of(before, meaning, f"{state}-{state}'", apart),
        )


EUCLIDEAN, SPECTRAL = Norm("Euclidean", norm), Norm("spectral", norm)
OF_STATES, OF_SLOPES = (replace(each, shown=gain) for each in (EUCLIDEAN, SPECTRAL))
MAXIMUM = Norm("maximum", max_norm, r"_\infty")
BOX = Norm("max |·|_j/v_j", weighted, "_{box}")

t = Symbol("t", integer=True)
_root, _scaling, _weights = operator("P_root"), operator("D"), operator("V")
_input: Vector = vector("x_t")
_step = phi(a, _input) - phi(b, _input)
_BEFORE = "two states"
_run, _run_other = net.gated_run(a, x, T), net.gated_run(a, x_other, T)


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
        net.jacobian(x, T, t),
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
            r"\min_i |a_{i+1}|/|a_i|", Abs(net.descent(i + 1) / net.descent(i)), "number",
        ),
    ),
)  # fmt: skip

_input = vector("x_t")


def run_gradient(start: Expr, steps: Expr) -> Expr:
    """∇_w p of the run of so many steps from zero at the start, by the chain rule."""
    return net.d_loss(state(x, start, steps)) * net.sensitivity(x, start, steps)


_full, _truncated = run_gradient(0, T), run_gradient(T - k, k)
_cut = net.d_loss(state(x, 0, T)) * net.recent(x, T - k, k)
_of_other = net.d_loss(state(x, 0, T, w_other)) * net.sensitivity(x, 0, T, w_other)

_EUCLIDEAN = "Euclidean"
_SMOOTHNESS = (
    certified("W_rows", "‖W‖ from 2 to ∞, the largest row", "2 to ∞", r"\lVert W\rVert_{rows}"),
    certified("L_w", "Lipschitz constant of φ in the weights", _EUCLIDEAN, "L_w"),
    certified("beta_hh", "smoothness: ∂φ/∂h in h", _EUCLIDEAN, r"\beta_{hh}"),
    certified("beta_hw", "smoothness: ∂φ/∂h in w", _EUCLIDEAN, r"\beta_{hw}"),
    certified("beta_wh", "smoothness: ∂φ/∂w in h", _EUCLIDEAN, r"\beta_{wh}"),
    certified("beta_ww", "smoothness: ∂φ/∂w in w", _EUCLIDEAN, r"\beta_{ww}"),
    certified("L_p", "Lipschitz constant of the loss, sup ‖∇p‖", _EUCLIDEAN, "L_p"),
    certified("beta_p", "smoothness of the loss: ∇p in h", _EUCLIDEAN, r"\beta_p"),
    certified(
        "G_0", "the gradient gap's factor of λ^k, L_w(L_p + β_p B_h)/(1 − λ)", _EUCLIDEAN, "G_0",
    ),
    certified(
        "D_1", "the gradient gap's factor of kλ^{k−1}, L_p B_h(β_wh + L_w β_hh/(1 − λ))",
        _EUCLIDEAN, "D_1",
    ),
    certified("G_1", "the gradient gap's factor of kλ^k, D_1/λ", _EUCLIDEAN, "G_1"),
)  # fmt: skip
_LOSS = (
    certified("H", "bound on the two states, max(‖h‖, ‖h′‖)", _EUCLIDEAN, "H"),
    certified("y_norm", "the target of the squared loss", _EUCLIDEAN, r"\lVert y\rVert"),
    certified(
        "C_norm_sq", "‖C‖₂ of the squared loss's readout", "spectral", r"\lVert C\rVert_{sq}",
    ),
    certified(
        "C_label", "the rows of the logits from the label's, max_j ‖C_j − C_label‖", _EUCLIDEAN,
        r"\lVert C\rVert_{label}",
    ),
    certified(
        "C_spread", "the rows of the logits from one another, max_{i,j} ‖C_i − C_j‖", _EUCLIDEAN,
        r"\lVert C\rVert_{spread}",
    ),
)  # fmt: skip


def in_norm(suffix: str, norm_name: str) -> tuple[Quantity, ...]:
    """The constants of a model whose states are measured in another norm."""
    entries = {
        "S_0": ("drive, sup ‖φ(0, x)‖", "S_0"),
        "B_h": ("bound on the states", "B_h"),
        "L_w": ("Lipschitz constant of φ in the weights", "L_w"),
        "beta_hh": ("smoothness: ∂φ/∂h in h", r"\beta_{hh}"),
        "beta_wh": ("smoothness: ∂φ/∂w in h", r"\beta_{wh}"),
        "L_p": ("Lipschitz constant of the loss, in the dual norm", "L_p"),
        "beta_p": ("smoothness of the loss, in the dual norm", r"\beta_p"),
    }
    return tuple(
        certified(f"{name}_{suffix}", meaning, norm_name, f"{notation}^{{({suffix})}}")
        for name, (meaning, notation) in entries.items()
    )


_GRADIENTS = (
    *tag(
        "gradient",
        EUCLIDEAN.of(
            "grad_gap", "full against truncated gradient of the loss at the last step",
            r"\nabla p_T-\nabla p_T^{(k)}", _full - _truncated,
        ),
        EUCLIDEAN.of(
            "tbptt_gap", "full gradient against truncated back-propagation", r"\nabla p_T-g_{TB}",
            _full - _cut,
        ),
        EUCLIDEAN.of(
            "tb_gap", "truncated back-propagation against the truncated model's gradient",
            r"g_{TB}-\nabla p_T^{(k)}", _cut - _truncated,
        ),
    ),
    *tag(
        "smooth",
        EUCLIDEAN.of(
            "grad_gap_weights", "gradients of the loss at two weights",
            r"\nabla p_T(w)-\nabla p_T(w')", _full - _of_other,
        ),
        EUCLIDEAN.of("weight_distance", "two weights", "w-w'", w - w_other),
    ),
    *tag(
        "gradient",
        SPECTRAL.of(
            "dphi_w", "one step's derivative in the weights", r"\partial_w\varphi(h,x)",
            net.d_weights(a, _input),
        ),
        SPECTRAL.of(
            "dphi_w_gap", "one step's derivatives in the weights, at two states",
            r"\partial_w\varphi(h,x)-\partial_w\varphi(h',x)",
            net.d_weights(a, _input) - net.d_weights(b, _input),
        ),
        SPECTRAL.of(
            "dphi_h_gap", "one step's derivatives in the state, at two states",
            r"\partial_h\varphi(h,x)-\partial_h\varphi(h',x)",
            net.d_state(a, _input) - net.d_state(b, _input),
        ),
        EUCLIDEAN.of("dp", "the loss's gradient", r"\nabla p(h)", net.gradient(a)),
        EUCLIDEAN.of(
            "dp_gap", "the loss's gradients at two states", r"\nabla p(h)-\nabla p(h')",
            net.gradient(a) - net.gradient(b),
        ),
    ),
)  # fmt: skip

GRADIENTS: tuple[Quantity, ...] = (
    *_SMOOTHNESS,
    *_LOSS,
    *_GRADIENTS,
)

N = Symbol("N", integer=True)
# Matrices, as the vectors of their entries.
A, B, Z = vector("vec_A"), vector("vec_B"), vector("vec_Z")


def _matrices(name: str, meaning: str, notation: str, difference: Expr) -> Quantity:
    """The Frobenius norm of a difference of matrices."""
    return measured(name, meaning, rf"\lVert{notation}\rVert_F", norm(difference), "Frobenius")


TRAINING: tuple[Quantity, ...] = (
    parameter("N", "number of steps of projected gradient descent", "N"),
    certified(
        "beta", "smoothness: Lipschitz constant of ∇p_T on the set of weights", "Euclidean",
        r"\beta",
    ),
    certified(
        "eps_k", "bound on ‖∇p_T − ∇p_T^k‖ on the set of weights", "Euclidean", r"\varepsilon_k",
        windowed=True,
    ),
    certified(
        "K_0", "the part of the bound on predictions that does not grow with the window",
        "Euclidean", "K_0",
    ),
    certified(
        "K_1", "the part of the bound on predictions that grows with the window", "Euclidean",
        "K_1",
    ),
    *tag(
        "training",
        EUCLIDEAN.of(
            "w_gap", "weights after N steps on the full and on the truncated model",
            r"w_{N+1}-\hat{w}_{N+1}", net.weights(N) - net.weights_hat(N), windowed=True,
        ),
        EUCLIDEAN.of(
            "trained_gap",
            "full output with the one's final weights against truncated output with the other's",
            r"y_T(w_{N+1})-y_T^{(k)}(\hat{w}_{N+1})",
            readout(state(x, 0, T, net.weights(N)))
            - readout(state(x, T - k, k, net.weights_hat(N))),
        ),
    ),
    *tag(
        "projection",
        _matrices("proj_gap", "two matrices, projected", r"\Pi A-\Pi B", Pi(A) - Pi(B)),
        _matrices("matrix_gap", "two matrices", " A-B", A - B),
        _matrices("proj_distance", "a matrix and its projection", r" A-\Pi A", A - Pi(A)),
        _matrices("feasible_distance", "a matrix and a point of the set", " A-Z", A - Z),
    ),
)  # fmt: skip
