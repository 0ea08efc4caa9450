"""Unitary equivalents: networks with an orthogonal recurrent matrix, and what they cannot do."""

from sympy import sqrt

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
    linear_network,
    rank,
    similar_network,
    similarity_inverse,
)
from rnnbounds.theory.language.terms.variables import eye, operator, x
from rnnbounds.theory.language.terms.vectors import frobenius, gain, transpose

B_h = Symbol("B_h", real=True)
C, W = operator("C"), operator("W")

UNITARY: tuple[Quantity, ...] = (
    *tag(
        "unitary urnn block candidate sigmoid",
        parameter("states", "number of states of a unitary network", "m", 1),
    ),
    *tag(
        "unitary",
        parameter(
            "within",
            "1 if all inputs are within the bound that a unitary equivalent is made for, else 0",
            r"within_B",
        ),
        measured(
            "unitary_gap",
            "a network's output against its unitary equivalent's, the largest of all steps",
            r"\max_t \lVert y_t-\hat{y}_t\rVert", largest_gap(below(B_h, W_3), x, T),
        ),
        measured(
            "unitary_defect", "how far the dilation V is from orthogonal",
            r"\lVert V^T V-I\rVert_F", sqrt(frobenius(transpose(V) * V - eye_all)), "Frobenius",
        ),
        EUCLIDEAN.of(
            "similar_gap",
            "the last output of a network without its activation against that of the similar "
            "network, of the matrix T W T⁻¹", r"y_T-\hat{y}_T",
            C * linear_network(x, T) - C * similarity_inverse * similar_network(x, T),
            "_{TWT^{-1}}",
        ),
    ),
    *tag(
        "block",
        measured(
            "defect_rank", "rank of I − WᵀW", "rank(I-W^T W)", rank(eye - transpose(W) * W),
            "number",
        ),
    ),
    *tag("block candidate", measured("W_rank", "rank of W", "rank(W)", rank(W), "number")),
    *tag(
        "candidate",
        measured(
            "separation",
            "a network's outputs against a candidate's, on inputs inside one cell of activity "
            "patterns: 0 only where the two are the same map there",
            r"\max \lVert y-\hat{y}\rVert_{cell}", gain(OUTPUTS[0] - OUTPUTS[1]),
        ),
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
        measured(
            "sigmoid_gap",
            "the outputs of a sigmoid network against a unitary one's, the largest at all times, "
            "for all inputs of an interval; probes read it from below", r"\max |y-\hat{y}|",
            gain(OUTPUTS[2] - OUTPUTS[3]),
        ),
    ),
    *tag(
        "urnn",
        SPECTRAL.of(
            "dh_dh", "the state's derivative in the state k steps before",
            r"\partial h_T/\partial h_{T-k}", d_run(x, T - k, k),
        ),
    ),
)  # fmt: skip
