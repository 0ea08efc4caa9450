"""Unitary equivalents: networks with an orthogonal recurrent matrix, and what they cannot do."""

from sympy import Expr, Max, Rational, sqrt

from rnnbounds.theory.language.quantities.norms import EUCLIDEAN, SPECTRAL, T, k
from rnnbounds.theory.language.quantity import Quantity, Symbol, measured, parameter, tag
from rnnbounds.theory.language.terms.unitary import (
    OUTPUTS,
    W_3,
    V,
    below,
    d_run,
    eye_all,
    largest_gap,
    largest_pulse_gap,
    linear_network,
    rank,
    similar_network,
    similarity_inverse,
    start,
)
from rnnbounds.theory.language.terms.variables import eye, operator, vector, x
from rnnbounds.theory.language.terms.vectors import (
    frobenius,
    norm,
    transpose,
)

lam, S_0, B_h = (Symbol(name, real=True) for name in ("lam", "S_0", "B_h"))
C = operator("C")
W, W_transposed, W_short = operator("W"), operator("W_3_transposed"), operator("W_3_short")


def _gap(name: str, meaning: str, mark: str, definition: Expr) -> Quantity:
    """The largest difference of outputs of all steps."""
    return measured(name, meaning, rf"\max_t \lVert y_t-\hat{{y}}_t\rVert{mark}", definition)


def _defect(name: str, meaning: str, notation: str, square: Expr) -> Quantity:
    """Measured quantity: the Frobenius norm of a matrix that should be 0."""
    return measured(name, meaning, rf"\lVert {notation}", sqrt(square), "Frobenius")


def _number(name: str, meaning: str, notation: str, definition: Expr) -> Quantity:
    """Integer quantity, measured."""
    return measured(name, meaning, notation, definition, "number")


_EQUIVALENT = tag(
    "unitary",
    _gap(
        "unitary_gap",
        "a network's output against its unitary equivalent's, the largest of all steps", "",
        largest_gap(below(B_h, W_3), x, T),
    ),
    _gap(
        "unitary_gap_unbiased", "unitary_gap if the added units have no bias", "_{b_2=0}",
        largest_gap(0, x, T),
    ),
    _gap(
        "unitary_gap_undamped",
        "unitary_gap if the states are taken to be bounded by one drive, or by the start",
        "_{drive}", largest_gap(below(Max(norm(start), S_0), W_3), x, T),
    ),
    _gap(
        "unitary_gap_unstarted", "unitary_gap if the bound on the states leaves out their start",
        "_{start}", largest_gap(below(S_0 / (1 - lam), W_3), x, T),
    ),
    _gap(
        "unitary_gap_scant", "unitary_gap with a bias for states a hundredth smaller", "_{scant}",
        largest_gap(below(Rational(99, 100) * B_h, W_3), x, T),
    ),
    _gap(
        "unitary_gap_beyond",
        "the scalar network h = max(λh + x, 0) against the equivalent made for inputs up to B, "
        "on x = (2B/(1 − λ), 0, 0, …)", "_{beyond}", largest_pulse_gap(T),
    ),
    EUCLIDEAN.of(
        "similar_gap",
        "the last output of a network without its activation against that of the similar network, "
        "of the matrix T W T⁻¹", r"y_T-\hat{y}_T",
        C * linear_network(x, T) - C * similarity_inverse * similar_network(x, T), "_{TWT^{-1}}",
    ),
    EUCLIDEAN.of(
        "similar_gap_relu", "similar_gap with ReLU as the activation of both", r"y_T-\hat{y}_T",
        vector("y_relu") - vector("y_similar_relu"), "_{TWT^{-1},ReLU}",
    ),
)  # fmt: skip
_DILATION = (
    *tag(
        "unitary",
        _defect(
            "unitary_defect", "how far the dilation V is from orthogonal", r"V^T V-I\rVert_F",
            frobenius(transpose(V) * V - eye_all),
        ),
        _defect(
            "unitary_defect_transposed",
            "how far W above W_3 is from orthonormal columns, with W_3ᵀW_3 = I − WWᵀ",
            r"W^T W+W_3^T W_3-I\rVert_F",
            frobenius(transpose(W) * W + transpose(W_transposed) * W_transposed - eye),
        ),
        _defect(
            "unitary_defect_short",
            "how far W above W_3 is from orthonormal columns, the last row of W_3 left out",
            r"W^T W+W_3^T W_3-I\rVert_{short}",
            frobenius(transpose(W) * W + transpose(W_short) * W_short - eye),
        ),
    ),
    *tag(
        "block",
        _number("defect_rank", "rank of I − WᵀW", "rank(I-W^T W)", rank(eye - transpose(W) * W)),
    ),
    *tag("block candidate", _number("W_rank", "rank of W", "rank(W)", rank(W))),
)  # fmt: skip
_LIMITS = (
    *tag(
        "candidate",
        measured(
            "separation",
            "a network's outputs against a candidate's, on inputs inside one cell of activity "
            "patterns: 0 only where the two are the same map there",
            r"\max \lVert y-\hat{y}\rVert_{cell}", norm(OUTPUTS[0] - OUTPUTS[1]),
        ),
    ),
    *tag(
        "sigmoid",
        measured(
            "sigmoid_gap",
            "the outputs of a sigmoid network against a unitary one's, the largest at all times, "
            "for all inputs of an interval; probes read it from below", r"\max |y-\hat{y}|",
            norm(OUTPUTS[2] - OUTPUTS[3]),
        ),
    ),
)  # fmt: skip

UNITARY: tuple[Quantity, ...] = (
    *tag(
        "unitary urnn block candidate sigmoid",
        parameter("states", "number of states of a unitary network", "m", 1),
    ),
    *tag(
        "sigmoid",
        parameter("w_abs", "|w|, of a scalar network's recurrent weight", r"|w|"),
        parameter(
            "same_activation", "1 if a network and its candidate have the same activation, else 0",
            r"same_{\rho}",
        ),
        parameter(
            "driven",
            "1 if all parts c_i f_i of the output's derivative in the latest input have one sign, "
            "and one is not 0, else 0", r"driven_{c f}",
        ),
    ),
    *_EQUIVALENT,
    *_DILATION,
    *_LIMITS,
    *tag(
        "urnn unitary",
        SPECTRAL.of(
            "dh_dh", "the state's derivative in the state k steps before",
            r"\partial h_T/\partial h_{T-k}", d_run(x, T - k, k),
        ),
    ),
)  # fmt: skip
