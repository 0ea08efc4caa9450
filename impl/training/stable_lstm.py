"""Miller & Hardt's stable set of LSTMs, and the projection onto it.

For a bound f̄ < 1 on the forget gate and θ < 1 an LSTM is in the set if, unit by unit,

    ‖W_i‖₁, ‖W_o‖₁ ≤ θ(1 − f̄),  ‖W_z‖₁ ≤ θ(1 − f̄)/4,  ‖W_f‖₁ ≤ θ(1 − f̄)²    (rows),
    ‖U_f‖₂ B + b_f ≤ logit f̄ − θ(1 − f̄)²,                  b_f = b_ih + b_hh,

the last of which keeps the forget gate at most f̄ for all |h| ≤ 1 and ‖x‖₂ ≤ B. Then one step
contracts by λ ≤ 1 − (1 − θ)(1 − f̄) in the ∞-norm of (c, h). In the paper f̄ is that of the weights
at hand, and so moves with them; for a fixed f̄ the set is convex, a product of ℓ1 balls and of
cones in (U_f, b_ih, b_hh), and the projection is that onto each factor: exact and non-expansive.
All other weights are free. Sources: Miller & Hardt, Proposition 1 and section 4; Duchi et al.
(2008).
"""

import torch

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.models.surroundings import isolated, writing
from rnnbounds.impl.training.stable_gates import N, StableGates

_NOT_PLAIN = (
    "is no plain torch.nn.LSTM of one layer and one direction without projection; hand one over"
)


class StableLSTM(StableGates):
    """The set for θ, f̄ and B. Raises RangeError unless 0 ≤ θ < 1, 0 < f̄ < 1 and 0 ≤ B < ∞, and for
    θ and f̄ so near to 1 that the factor rounds to 1."""

    gates, keeps, kept_by = "ifzo", "f", "forget"

    @staticmethod
    def sizes(theta: N, rest: N) -> dict[str, N]:
        """The ℓ1 radius of the rows of each gate's W."""
        edge = theta * rest
        return {"i": edge, "f": edge * rest, "z": edge / 4, "o": edge}


@isolated()
def stable_lstm_(
    module: torch.nn.Module, theta: float, forget: float, input_bound: float
) -> torch.nn.Module:
    """Project an LSTM's weights in place onto its stable set, after a step of training, say.

    `module`: a `torch.nn.LSTM` of one layer and one direction, or an `LSTMCell`, whose parameters
    are torch's, each of its own. Afterwards the weights are certified to be in the set, so that
    `certify` finds λ ≤ 1 − (1 − θ)(1 − f̄) < 1 for ‖x_t‖₂ ≤ B. Raises an InputError for other
    modules and for numbers out of range.
    Source: Miller & Hardt, section 4.

    >>> rnnbounds.stable_lstm_(torch.nn.LSTM(1, 16), theta=0.5, forget=0.8, input_bound=1.0)
    """
    one_layer = isinstance(module, torch.nn.LSTM) and (
        (module.num_layers, module.bidirectional, module.proj_size) == (1, False, 0)
    )
    if not (one_layer or isinstance(module, torch.nn.LSTMCell)):
        raise InputError(f"{type(module).__name__} {_NOT_PLAIN}")
    suffix = "_l0" if one_layer else ""
    roles = ("weight_hh", "weight_ih", "bias_ih", "bias_hh")[: 4 if module.bias else 2]
    parameters = dict(module.named_parameters())
    plain = type(module).forward in (torch.nn.LSTM.forward, torch.nn.LSTMCell.forward)
    if not plain or parameters.keys() != {role + suffix for role in roles}:
        raise InputError(f"{type(module).__name__} {_NOT_PLAIN}")
    weights = {role: parameters[role + suffix] for role in roles}
    moved = StableLSTM(theta, forget, input_bound).certified(weights)
    with writing(module):
        for name, part in moved.items():
            parameters[name + suffix].copy_(part)
    return module
