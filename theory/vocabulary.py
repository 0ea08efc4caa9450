"""The quantities of all statements: one name, one norm, one unit.

Symbols are real and nothing more (never `positive`: λ = 0 is a case); lengths and sizes are
integers.  The name of the symbol is the name in records.  States and outputs are measured in the
Euclidean norm unless the name says otherwise.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sympy import Abs, Expr, Symbol

from theory.errors import UnknownNameError
from theory.statement import Statement
from theory.terms import (
    Vector,
    a,
    b,
    computed,
    descent,
    forward,
    i,
    jacobian,
    max_norm,
    norm,
    phi,
    readout,
    state,
    vector,
    x,
    x_edge,
    x_past,
    x_zeroed,
)

Role: TypeAlias = Literal["parameter", "certified", "measured"]


@dataclass(frozen=True)
class Quantity:
    """A named quantity.

    `norm` is the norm or unit; `notation` is LaTeX; `lower` is the least value it can take (None:
    any real); `definition` is the formal term of a measured quantity, which ledgers unfold.
    """

    symbol: Symbol
    role: Role
    meaning: str
    norm: str
    notation: str
    lower: int | None = 0
    definition: Expr | None = None

    @property
    def name(self) -> str:
        """The name in statements and in records."""
        return str(self.symbol.name)


def _parameter(name: str, meaning: str, notation: str, lower: int | None = 0) -> Quantity:
    integer = name in ("T", "k", "t", "n", "d")
    symbol = Symbol(name, integer=True) if integer else Symbol(name, real=True)
    return Quantity(symbol, "parameter", meaning, "number", notation, lower)


def _certified(name: str, meaning: str, norm_name: str, notation: str) -> Quantity:
    return Quantity(Symbol(name, real=True), "certified", meaning, norm_name, notation)


def _measured(
    name: str, meaning: str, notation: str, definition: Expr | None = None, unit: str = "Euclidean"
) -> Quantity:
    symbol = Symbol(name, real=True)
    return Quantity(symbol, "measured", meaning, unit, notation, 0, definition)


T, k, t, n, d = (Symbol(name, integer=True) for name in ("T", "k", "t", "n", "d"))
_root, _scaling, _weights = vector("P_root"), vector("D"), vector("V")
_input: Vector = vector("x_t")
_step = phi(a, _input) - phi(b, _input)

QUANTITIES: tuple[Quantity, ...] = (
    _parameter("T", "length of the input sequence", "T"),
    _parameter("k", "length of the window: the truncated model sees the last k inputs", "k"),
    _parameter("t", "index of an input, t = T - k", "t"),
    _parameter("n", "number of states", "n", 1),
    _parameter("d", "number of inputs", "d", 1),
    _parameter("epsilon", "target accuracy", r"\varepsilon", None),
    _parameter("u", "unit roundoff of float64, 2^-53", "u"),
    _parameter("alpha", "step size of gradient descent", r"\alpha", None),
    _parameter("a_1", "start of gradient descent on a scalar linear system", "a_1", None),
    _certified("lam", "contraction factor", "of the certificate", r"\lambda"),
    _certified("L_rho", "Lipschitz constant of the activation, sup |ρ'|", "slope", r"L_\rho"),
    _certified("beta_rho", "smoothness of the activation, sup |ρ''|", "curvature", r"\beta_\rho"),
    _certified("M_rho", "bound on the activation, sup |ρ|", "absolute value", r"M_\rho"),
    _certified("W_norm", "‖W‖₂ of the recurrent matrix", "spectral", r"\lVert W\rVert"),
    _certified("U_norm", "‖U‖₂ of the input matrix", "spectral", r"\lVert U\rVert"),
    _certified("B_x", "bound on the inputs, sup ‖x_t‖₂", "Euclidean", "B_x"),
    _certified("S_0", "drive, sup ‖φ(0, x)‖₂", "Euclidean", "S_0"),
    _certified("B_h", "bound on the states, sup ‖h_t‖₂", "Euclidean", "B_h"),
    _certified("L_x", "Lipschitz constant of φ in the input", "Euclidean", "L_x"),
    _certified("L_f", "Lipschitz constant of the readout", "Euclidean", "L_f"),
    _certified("W_radius", "spectral radius of W", "eigenvalues", r"r(W)"),
    _certified("lam_P", "contraction factor in ‖P^{1/2}·‖₂ (linear)", "quadratic", r"\lambda_P"),
    _certified("kappa", "condition number of P^{1/2}", "spectral", r"\kappa"),
    _certified("lam_D", "contraction factor in ‖D·‖₂, D diagonal", "diagonal", r"\lambda_D"),
    _certified("lam_v", "contraction factor in max |·|_i/v_i", "weighted maximum", r"\lambda_v"),
    _certified("Z_hat", "bound on the computed pre-activations", "Euclidean", r"\hat{Z}"),
    _certified("e_rho", "absolute error of the library's activation", "Euclidean", r"e_\rho"),
    _certified("eps_1", "rounding error of one step", "Euclidean", r"\varepsilon_1"),
    _certified("s_gate", "bound returned by the Cholesky gate", "spectral", "s_{gate}"),
    _certified("s_svd", "a library's singular value, rounding ignored", "spectral", "s_{svd}"),
    _certified("s_power", "power iteration's estimate", "spectral", "s_{power}"),
    _certified("s_unshifted", "the gate without its shift", "spectral", "s_{unshifted}"),
    _certified("s_unscaled", "the gate without its scaling", "spectral", "s_{unscaled}"),
    _certified("e_relative", "the activation's error if it were relative", "Euclidean", "e_{rel}"),
    _measured("h_norm", "the state", r"\lVert h_T\rVert", norm(state(x, 0, T))),
    _measured(
        "h_start",
        "the state at the start of the window",
        r"\lVert h_{T-k}\rVert",
        norm(state(x, 0, T - k)),
    ),
    _measured(
        "h_gap",
        "full against truncated state",
        r"\lVert h_T-h_T^{(k)}\rVert",
        norm(state(x, 0, T) - state(x, T - k, k)),
    ),
    _measured(
        "y_gap",
        "full against truncated output",
        r"\lVert y_T-y_T^{(k)}\rVert",
        norm(readout(state(x, 0, T)) - readout(state(x, T - k, k))),
    ),
    _measured(
        "dh_dx",
        "the state's derivative in the input at time t",
        r"\lVert \partial h_T/\partial x_t\rVert",
        norm(jacobian(x, T, t)),
        "spectral",
    ),
    _measured(
        "step_gap",
        "two states after one step",
        r"\lVert \varphi(h,x)-\varphi(h',x)\rVert",
        norm(_step),
    ),
    _measured("state_gap", "two states", r"\lVert h-h'\rVert", norm(a - b)),
    _measured(
        "step_gap_P",
        "two states after one step",
        r"\lVert \varphi(h,x)-\varphi(h',x)\rVert_P",
        norm(_root * _step),
        "‖P^{1/2}·‖₂",
    ),
    _measured(
        "state_gap_P", "two states", r"\lVert h-h'\rVert_P", norm(_root * (a - b)), "‖P^{1/2}·‖₂"
    ),
    _measured(
        "step_gap_D",
        "two states after one step",
        r"\lVert \varphi(h,x)-\varphi(h',x)\rVert_D",
        norm(_scaling * _step),
        "‖D·‖₂",
    ),
    _measured(
        "state_gap_D", "two states", r"\lVert h-h'\rVert_D", norm(_scaling * (a - b)), "‖D·‖₂"
    ),
    _measured(
        "step_gap_v",
        "two states after one step",
        r"\lVert \varphi(h,x)-\varphi(h',x)\rVert_v",
        max_norm(_weights * _step),
        "max |·|_i/v_i",
    ),
    _measured(
        "state_gap_v",
        "two states",
        r"\lVert h-h'\rVert_v",
        max_norm(_weights * (a - b)),
        "max |·|_i/v_i",
    ),
    _measured(
        "h_rounding",
        "computed against exact state",
        r"\lVert \hat{h}_T-h_T\rVert",
        norm(computed(x, T) - state(x, 0, T)),
    ),
    _measured("W_norm_exact", "the true ‖W‖₂", r"\lVert W\rVert_2", norm(vector("W")), "spectral"),
    _measured(
        "forward_gap",
        "feed-forward network against truncated model",
        r"\lVert H_T^{(k)}-h_T^{(k)}\rVert",
        norm(forward(x, k, T) - state(x, T - k, k)),
    ),
    _measured(
        "field_gap",
        "feed-forward network, inputs changed at times ≤ T - k",
        r"\lVert H_T^{(k)}(x)-H_T^{(k)}(x')\rVert",
        norm(forward(x, k, T) - forward(x_past, k, T)),
    ),
    _measured(
        "edge_gap",
        "feed-forward network, input changed at time T - k + 1 alone",
        r"\lVert H_T^{(k)}(x)-H_T^{(k)}(x'')\rVert",
        norm(forward(x, k, T) - forward(x_edge, k, T)),
    ),
    _measured(
        "padding_gap",
        "truncated model against the full one on inputs zeroed before the window",
        r"\lVert h_T^{(k)}-h_T(0,x)\rVert",
        norm(state(x, T - k, k) - state(x_zeroed, 0, T)),
    ),
    _measured(
        "recurrent_gap",
        "recurrent model, inputs changed at times ≤ T - k",
        r"\lVert h_T(x)-h_T(x')\rVert",
        norm(state(x, 0, T) - state(x_past, 0, T)),
    ),
    _measured(
        "descent_growth",
        "least growth of a parameter in one step of gradient descent",
        r"\min_i |a_{i+1}|/|a_i|",
        Abs(descent(i + 1) / descent(i)),
        "number",
    ),
)

VOCABULARY: dict[str, Quantity] = {quantity.name: quantity for quantity in QUANTITIES}
DEFINITIONS: dict[Symbol, Expr] = {
    quantity.symbol: quantity.definition
    for quantity in QUANTITIES
    if quantity.definition is not None
}


def quantity(name: str) -> Quantity:
    """The quantity of this name; raises UnknownNameError."""
    if name not in VOCABULARY:
        raise UnknownNameError("quantity", name, VOCABULARY)
    return VOCABULARY[name]


def symbols(names: str) -> tuple[Symbol, ...]:
    """The symbols of several quantities, separated by blanks."""
    return tuple(quantity(name).symbol for name in names.split())


def unfold(statement: Statement) -> Statement:
    """The statement with each measured quantity replaced by its formal definition."""
    return statement.replace(DEFINITIONS)
