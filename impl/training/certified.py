"""The constants of training a user's model, uniform on the set Ω of weights: γ, β and their kin.

The run starts at the stored weights and takes N projected gradient steps of sizes α/t, t = 1 … N,
once on the loss of the full model and once on that of the truncated one, each in all its weights:
W, U and every bias that the model has, in the Euclidean norm of all of them together. After each
step the weights are projected onto

    Ω = {‖W‖₂ ≤ ℓ} × {‖U‖_F ≤ u} × {‖b_ih‖₂ ≤ r_ih} × {‖b_hh‖₂ ≤ r_hh},

since no constant holds for all weights. The loss p of the last state, or the mean of such losses
over time or over sequences with ‖x_t‖₂ ≤ B, has ‖∇p‖ ≤ L_p and a β_p-Lipschitz gradient on
‖h‖ ≤ B_h. All in real arithmetic and in the Euclidean norm of the state, so the model must contract
in that norm on all of Ω. Source: Miller & Hardt, Lemmas 2 and 3, Theorem 1.
"""

import torch

from rnnbounds.impl.gradients.constants import Constants
from rnnbounds.impl.gradients.loss import Loss
from rnnbounds.impl.gradients.weight_sets import Region
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.outward import add_up, norm_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm
from rnnbounds.impl.training.bound import TrainingConstants
from rnnbounds.impl.training.descent import Omega

NAMES = "lam S_0 B_h L_f L_w L_p beta_p G_0 G_1 D_1 beta beta_hh beta_wh beta_ww".split()


def training_constants(model: LoadedModel[RNN], input_bound: float, p: Loss) -> TrainingConstants:
    """The constants of training a loaded model with inputs ‖x_t‖₂ ≤ B.

    ``p`` is a loss of its state, a batch of one, whose readout makes the outputs y = C h. The radii
    of Ω are the norms of the stored weights, so that no norm may grow. Raises ShapeError for a loss
    of other states.
    """
    biases = sum(role in model.weights for role in ("bias_ih", "bias_hh"))
    radii = {
        role: float(certified_norm(part[None]) if role == "weight_hh" else norm_up(part.flatten()))
        for role, part in ((role, part.double()) for role, part in model.weights.items())
    }
    bias = add_up(radii.get("bias_ih", 0.0), radii.get("bias_hh", 0.0))
    sizes = (radii["weight_hh"], radii["weight_ih"], bias)
    omega = Omega(*(torch.as_tensor(size, dtype=torch.float64)[None] for size in sizes))
    constants = Constants(
        model.cell,
        torch.tensor([input_bound], dtype=torch.float64),
        p.C,
        loss=p,
        trained="WUb" if biases else "WU",
        region=Region.of_omega(omega, model.cell, "WUb"),
        biases=biases,
    )
    return TrainingConstants(**{name: constants[name].item() for name in NAMES}, radii=radii)
