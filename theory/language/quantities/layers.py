"""Deep transitions and stacks of layers: factors of the layers, and what they do to two states."""

from rnnbounds.theory.language.quantities.norms import EUCLIDEAN, SPECTRAL, T, k
from rnnbounds.theory.language.quantity import Quantity, certified, parameter, tag
from rnnbounds.theory.language.terms.unitary import d_run
from rnnbounds.theory.language.terms.variables import a, b, vector, x
from rnnbounds.theory.language.terms.vectors import phi

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
        r"\partial h_T/\partial h_{T-k}", d_run(x, T - k, k), "_{deep}",
    ),
)  # fmt: skip
