"""Gradients in the weights, and the smoothness that bounds them.

∇p_T is the gradient in the trained weights of the loss p(h_T), ∇p_T^k that of the truncated model,
both as operators from weights to numbers.
"""

from sympy import Expr

from rnnbounds.theory.language.quantities.norms import EUCLIDEAN, SPECTRAL, T, k
from rnnbounds.theory.language.quantity import Quantity, certified, tag
from rnnbounds.theory.language.terms.networks import (
    d_loss,
    d_state,
    d_weights,
    gradient,
    recent,
    sensitivity,
)
from rnnbounds.theory.language.terms.variables import a, b, vector, w, w_other, x
from rnnbounds.theory.language.terms.vectors import state

_input = vector("x_t")


def run_gradient(start: Expr, steps: Expr) -> Expr:
    """∇_w p of the run of so many steps from zero at the start, by the chain rule."""
    return d_loss(state(x, start, steps)) * sensitivity(x, start, steps)


_full, _truncated = run_gradient(0, T), run_gradient(T - k, k)
_cut = d_loss(state(x, 0, T)) * recent(x, T - k, k)
_other = d_loss(state(x, 0, T, w_other)) * sensitivity(x, 0, T, w_other)

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
_CONSTANTS = (
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


_MEASURED = (
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
            r"\nabla p_T(w)-\nabla p_T(w')", _full - _other,
        ),
        EUCLIDEAN.of("weight_distance", "two weights", "w-w'", w - w_other),
    ),
    *tag(
        "gradient",
        SPECTRAL.of(
            "dphi_w", "one step's derivative in the weights", r"\partial_w\varphi(h,x)",
            d_weights(a, _input),
        ),
        SPECTRAL.of(
            "dphi_w_gap", "one step's derivatives in the weights, at two states",
            r"\partial_w\varphi(h,x)-\partial_w\varphi(h',x)",
            d_weights(a, _input) - d_weights(b, _input),
        ),
        SPECTRAL.of(
            "dphi_h_gap", "one step's derivatives in the state, at two states",
            r"\partial_h\varphi(h,x)-\partial_h\varphi(h',x)",
            d_state(a, _input) - d_state(b, _input),
        ),
        EUCLIDEAN.of("dp", "the loss's gradient", r"\nabla p(h)", gradient(a)),
        EUCLIDEAN.of(
            "dp_gap", "the loss's gradients at two states", r"\nabla p(h)-\nabla p(h')",
            gradient(a) - gradient(b),
        ),
    ),
)  # fmt: skip

GRADIENTS: tuple[Quantity, ...] = (
    *_SMOOTHNESS,
    *_CONSTANTS,
    *_MEASURED,
)
