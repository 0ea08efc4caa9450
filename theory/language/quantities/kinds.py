"""The quantities of systems of one kind: gated cells, layers, stacks, causal and unitary networks.

Gates have torch's names: i, f, g (the candidate), o of an LSTM and r, z, n of a GRU.  ‖W‖_∞ is the
largest row sum.  The state s of an LSTM is (c, h), that of a GRU h; h is what a cell shows, and
‖s‖_box = max_j |s_j|/v_j the norm of its comparison matrix.  The constants hold on the invariant
box.  Outputs of causal models are compared bit by bit, as they are computed: with K_l taps d_l
apart, layer l reaches back (K_l − 1) d_l inputs; windowed attention has K_l = w and d_l = 1.
"""

from sympy import Expr, Max, sqrt

from rnnbounds.theory.language.quantities.models import (
    BOX,
    EUCLIDEAN,
    MAXIMUM,
    SPECTRAL,
    Norm,
    T,
    in_norm,
    k,
)
from rnnbounds.theory.language.quantity import Quantity, Symbol, certified, measured, parameter, tag
from rnnbounds.theory.language.terms import networks as net
from rnnbounds.theory.language.terms import unitary as of
from rnnbounds.theory.language.terms.variables import (
    a,
    b,
    eye,
    operator,
    vector,
    x,
    x_other,
    x_past,
)
from rnnbounds.theory.language.terms.vectors import (
    entry,
    frobenius,
    gain,
    max_norm,
    phi,
    state,
    transpose,
)

_first, _other = net.boxed(a), net.boxed(b)

_OPEN, _ROWS, _MAXIMUM = "σ or |tanh| on the box", "largest row sum", "maximum"
_UNITS = "max |·|_j/v_j"
_PAIR = "two states of the box"
_moved = phi(_first, entry(x, 1)) - phi(_other, entry(x, 1))
_NORMS = {
    "": MAXIMUM,
    "_box": Norm(_UNITS, lambda gap: max_norm(net.unit_weights * gap), "_{box}"),
}


def _recurrent(gate: str) -> Quantity:
    notation = rf"\lVert W_{gate}\rVert_\infty"
    return certified(
        f"W_{gate}_inf", f"‖W‖_∞ of the recurrent matrix of gate {gate}", _ROWS, notation
    )


_OF_GATES = (
    *tag(
        "lstm",
        certified("i_bar", "largest value of the input gate", _OPEN, r"\bar{i}"),
        certified("f_bar", "largest value of the forget gate", _OPEN, r"\bar{f}"),
        certified("g_bar", "largest |g| of the candidate", _OPEN, r"\bar{g}"),
        certified("o_bar", "largest value of the output gate", _OPEN, r"\bar{o}"),
        certified("B_c", "bound on the cells, sup |c_j|", _MAXIMUM, "B_c"),
        certified("tau", "tanh B_c", "absolute value", r"\tau"),
        *map(_recurrent, "ifgo"),
        certified(
            "theta",
            "Miller and Hardt's θ: ‖W_i‖, ‖W_o‖, 4‖W_g‖ ≤ θ(1 − f̄) and ‖W_f‖ ≤ θ(1 − f̄)²", _ROWS,
            r"\theta",
        ),
    ),
    certified(
        "lam_box", "contraction factor on the box of the comparison matrix, unit by unit", _UNITS,
        r"\lambda_{box}",
    ),
    *tag(
        "gru gru-cho",
        certified("r_bar", "largest value of the reset gate", _OPEN, r"\bar{r}"),
        certified("z_bar", "largest value of the update gate", _OPEN, r"\bar{z}"),
        certified("z_low", "smallest value of the update gate, rounded down", _OPEN, "z_{low}"),
        *map(_recurrent, "rzn"),
        certified(
            "c_n_inf", "‖b_hn‖_∞ of the candidate's hidden bias", _MAXIMUM, r"\lVert c_n\rVert",
        ),
    ),
    *tag(
        "gru",
        certified(
            "theta_gru",
            "the θ of the stable set: 2‖W_n‖, (3/2)‖W_r‖ ≤ θ, 2‖W_z‖ ≤ θ(1 − z̄), for ‖c_n‖ ≤ 1",
            _ROWS, r"\theta_G",
        ),
    ),
)  # fmt: skip


_SEEN_OF_GATES = (
    *tag(
        "lstm gru gru-cho",
        *(
            quantity
            for suffix, size in _NORMS.items()
            for quantity in size.pair(
                f"gate_gap{suffix}", f"gate_state_gap{suffix}", _PAIR, "s", _moved, _first - _other
            )
        ),
    ),
    *tag(
        "lstm",
        MAXIMUM.of(
            "c_size", "the cells of a run from zero", "c_T", net.to_cell * net.gated_run(0, x, T),
        ),
    ),
    *tag(
        "lstm gru gru-cho",
        MAXIMUM.of(
            "h_size", "the output of a run from zero", "h_T",
            net.to_output * net.gated_run(0, x, T),
        ),
        EUCLIDEAN.of(
            "run_gap", "two runs of T steps from states of the box", "s_T-s'_T",
            net.gated_run(_first, x, T) - net.gated_run(_other, x, T),
        ),
        EUCLIDEAN.of(
            "start_gap", "the states from which two runs start", "s_0-s'_0", _first - _other,
        ),
    ),
)  # fmt: skip

GATES: tuple[Quantity, ...] = (*_OF_GATES, *_SEEN_OF_GATES)

_at_one, _at_other = ((net.boxed(h), entry(x, 1)) for h in (a, b))

_ON_OMEGA = f"{BOX.unit}, for all weights of Ω"
_OF_CELLS = (
    *in_norm("box", BOX.unit),
    *in_norm("omega", _ON_OMEGA),
    certified("beta_ww_omega", "smoothness: ∂φ/∂w in w", _ON_OMEGA, r"\beta_{ww}^{(omega)}"),
    certified("lam_omega", "the contraction factor", _ON_OMEGA, r"\lambda^{(omega)}"),
    certified(
        "C_box", "the output against the state: ‖h‖₂ ≤ C‖s‖_box", "max |·|_j/v_j to Euclidean",
        "C^{(box)}",
    ),
    certified(
        "L_x_box", "Lipschitz constant of φ in the input", "Euclidean to max |·|_j/v_j",
        "L_x^{(box)}",
    ),
)  # fmt: skip
_SEEN_OF_CELLS = tag(
    "cell",
    BOX.of("h_norm_box", "the state", "s_T", state(x, 0, T)),
    BOX.of(
        "h_gap_box", "full against truncated state", "s_T-s_T^{(k)}",
        state(x, 0, T) - state(x, T - k, k),
    ),
    BOX.of(
        "forced_gap_box", "two runs from one state, under inputs x and x'", "s_T(x)-s_T(x')",
        net.gated_run(a, x, T) - net.gated_run(a, x_other, T),
    ),
    BOX.of(
        "response_gap_box", "two runs from two states, under inputs x and x'",
        "s_T(s,x)-s_T(s',x')", net.gated_run(a, x, T) - net.gated_run(b, x_other, T),
    ),
    BOX.of("response_start_box", "the states from which these start", "s_0-s'_0", a - b),
    BOX.of(
        "dphi_w_box", "one step's derivative in the weights, at a state of the box",
        r"\partial_w\varphi(s,x)", net.d_weights(*_at_one),
    ),
    BOX.of(
        "dphi_w_gap_box", "one step's derivatives in the weights, at two states of the box",
        r"\partial_w\varphi(s,x)-\partial_w\varphi(s',x)",
        net.d_weights(*_at_one) - net.d_weights(*_at_other),
    ),
    BOX.of(
        "dphi_h_gap_box", "one step's derivatives in the state, at two states of the box",
        r"\partial_s\varphi(s,x)-\partial_s\varphi(s',x)",
        net.d_state(*_at_one) - net.d_state(*_at_other),
    ),
)  # fmt: skip

CELLS: tuple[Quantity, ...] = (*_OF_CELLS, *_SEEN_OF_CELLS)

_input = vector("x_t")
_PRODUCT = "product of layers"

LAYERS: tuple[Quantity, ...] = tag(
    "layered",
    parameter("depth", "number of layers between one state and the next", "L", 1),
    parameter(
        "isometric",
        "1 where all layers are the identity's and each W_l is a multiple of an isometry",
        r"[W_l=a_l Q_l]",
    ),
    certified("lam_deep", "contraction factor, Π L_ρ‖W_l‖₂", _PRODUCT, r"\lambda_{deep}"),
    certified(
        "W_product", "the product of ‖W_l‖₂ where these are known exactly", _PRODUCT,
        r"\prod_l \lVert W_l\rVert",
    ),
    EUCLIDEAN.of(
        "deep_gap", "two states after one step of a deep transition", r"\varphi(h,x)-\varphi(h',x)",
        phi(a, _input) - phi(b, _input), "_{deep}",
    ),
    EUCLIDEAN.of("deep_state_gap", "two states of a deep transition", "h-h'", a - b, "_{deep}"),
    SPECTRAL.of(
        "dh_dh_deep",
        "the derivative of a deep transition's state in the one at the start of the window",
        r"\partial h_T/\partial h_{T-k}", of.d_run(x, T - k, k), "_{deep}",
    ),
)  # fmt: skip

v_top = Symbol("v_top", real=True)
_OF_LAYER, _WEIGHTED = "of one layer", "max(‖s¹‖_∞, ‖s²‖_∞/v)"
_zero = a - a
# The states from which the window starts.
_low, _top = net.states(_zero, _zero, 0, T - k)


def _weighted(steps: int) -> Expr:
    """max(‖Δs¹‖, ‖Δs²‖/v) after some steps from (a, p) and (b, q)."""
    ends = zip(net.states(a, net.p, 0, steps), net.states(b, net.q, 0, steps), strict=True)
    first, second = (max_norm(one - two) for one, two in ends)
    return Max(first, second / v_top)


STACKS: tuple[Quantity, ...] = tag(
    "cascade",
    parameter("v_top", "the weight of the upper layer's state against the lower one's", "v"),
    certified("lam_1", "contraction factor of the lower layer", _OF_LAYER, r"\lambda_1"),
    certified("lam_2", "contraction factor of the upper layer", _OF_LAYER, r"\lambda_2"),
    certified(
        "mu", "Lipschitz constant of the upper layer in what the lower one shows", _OF_LAYER,
        r"\mu",
    ),
    measured(
        "stack_gap", "two states of a stack after one step",
        r"\lVert \varphi(s,x)-\varphi(s',x)\rVert_{stack}", _weighted(1), _WEIGHTED,
    ),
    measured(
        "stack_state_gap", "two states of a stack", r"\lVert s-s'\rVert_{stack}",
        Max(max_norm(a - b), max_norm(net.p - net.q) / v_top), _WEIGHTED,
    ),
    measured(
        "top_gap", "the upper layer after T steps from two states of the stack",
        r"\lVert s^2_T-s'^2_T\rVert",
        max_norm(net.upper_run(a, net.p, x, 0, T) - net.upper_run(b, net.q, x, 0, T)),
    ),
    measured(
        "low_start", "two states of the lower layer", r"\lVert s^1-s'^1\rVert", max_norm(a - b),
    ),
    measured(
        "top_start", "two states of the upper layer", r"\lVert s^2-s'^2\rVert",
        max_norm(net.p - net.q),
    ),
    measured(
        "top_memory", "full against truncated state of the upper layer",
        r"\lVert s^2_T-s^{2(k)}_T\rVert",
        max_norm(net.upper_run(_low, _top, x, T - k, k) - net.upper_run(_zero, _zero, x, T - k, k)),
    ),
    measured(
        "low_before", "the lower layer at the start of the window", r"\lVert s^1_{T-k}\rVert",
        max_norm(_low),
    ),
    measured(
        "top_before", "the upper layer at the start of the window", r"\lVert s^2_{T-k}\rVert",
        max_norm(_top),
    ),
)  # fmt: skip

CAUSAL: tuple[Quantity, ...] = tag(
    "causal",
    parameter("R", "receptive field, 1 + Σ (K_l - 1) d_l over the layers", "R", 1),
    measured(
        "causal_gap", "causal model, inputs changed at times ≤ T - k and after T",
        r"\lVert y_T(x)-y_T(x')\rVert", net.apart(x, x_past, net.J, T), windowed=True,
    ),
)  # fmt: skip

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
            r"\max_t \lVert y_t-\hat{y}_t\rVert", of.largest_gap(of.below(B_h, of.W_3), x, T),
        ),
        measured(
            "unitary_defect", "how far the dilation V is from orthogonal",
            r"\lVert V^T V-I\rVert_F",
            sqrt(frobenius(transpose(of.V) * of.V - of.eye_all)), "Frobenius",
        ),
        EUCLIDEAN.of(
            "similar_gap",
            "the last output of a network without its activation against that of the similar "
            "network, of the matrix T W T⁻¹", r"y_T-\hat{y}_T",
            C * of.linear_network(x, T) - C * of.similarity_inverse * of.similar_network(x, T),
            "_{TWT^{-1}}",
        ),
    ),
    *tag(
        "block",
        measured(
            "defect_rank", "rank of I − WᵀW", "rank(I-W^T W)", of.rank(eye - transpose(W) * W),
            "number",
        ),
    ),
    *tag("block candidate", measured("W_rank", "rank of W", "rank(W)", of.rank(W), "number")),
    *tag(
        "candidate",
        measured(
            "separation",
            "a network's outputs against a candidate's, on inputs inside one cell of activity "
            "patterns: 0 only where the two are the same map there",
            r"\max \lVert y-\hat{y}\rVert_{cell}", gain(of.OUTPUTS[0] - of.OUTPUTS[1]),
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
            gain(of.OUTPUTS[2] - of.OUTPUTS[3]),
        ),
    ),
    *tag(
        "urnn",
        SPECTRAL.of(
            "dh_dh", "the state's derivative in the state k steps before",
            r"\partial h_T/\partial h_{T-k}", of.d_run(x, T - k, k),
        ),
    ),
)  # fmt: skip
