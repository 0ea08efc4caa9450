"""Feed-forward causal models: their receptive fields, and what their last output sees.

Outputs are compared bit by bit, as they are computed.  With K_l taps d_l apart, layer l reaches
back (K_l − 1) d_l inputs; windowed attention has K_l = w and d_l = 1.
"""

from rnnbounds.theory.language.quantities.norms import T
from rnnbounds.theory.language.quantity import Quantity, measured, parameter, tag
from rnnbounds.theory.language.terms.causal import J, apart
from rnnbounds.theory.language.terms.variables import x, x_edge, x_past

CAUSAL: tuple[Quantity, ...] = tag(
    "tcn gated-conv wavenet attention monotone",
    parameter("R", "receptive field, 1 + Σ (K_l - 1) d_l over the layers", "R", 1),
    parameter("R_undilated", "1 + Σ (K_l - 1), the dilations forgotten", "R_{undilated}", 1),
    parameter("R_widest", "the largest receptive field of one layer", "R_{widest}", 1),
    parameter("R_halved", "R with every second layer of a block forgotten", "R_{halved}", 1),
    parameter("R_overlap", "Σ K_l d_l, the overlap counted twice", "R_{overlap}", 1),
    measured(
        "causal_gap", "causal model, inputs changed at times ≤ T - k and after T",
        r"\lVert y_T(x)-y_T(x')\rVert", apart(x, x_past, J, T), windowed=True,
    ),
    measured(
        "causal_edge_gap", "causal model, input changed at time T - k + 1 alone",
        r"\lVert y_T(x)-y_T(x'')\rVert", apart(x, x_edge, J, T), windowed=True,
    ),
)  # fmt: skip
