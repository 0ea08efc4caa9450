"""Feed-forward causal models: their receptive fields, and what their last output sees.

Outputs are compared bit by bit, as they are computed.  With K_l taps d_l apart, layer l reaches
back (K_l − 1) d_l inputs; windowed attention has K_l = w and d_l = 1.
"""

from rnnbounds.theory.language.quantities.norms import T
from rnnbounds.theory.language.quantity import Quantity, measured, parameter, tag
from rnnbounds.theory.language.terms.networks import J, apart
from rnnbounds.theory.language.terms.variables import x, x_past

CAUSAL: tuple[Quantity, ...] = tag(
    "causal",
    parameter("R", "receptive field, 1 + Σ (K_l - 1) d_l over the layers", "R", 1),
    measured(
        "causal_gap", "causal model, inputs changed at times ≤ T - k and after T",
        r"\lVert y_T(x)-y_T(x')\rVert", apart(x, x_past, J, T), windowed=True,
    ),
)  # fmt: skip
