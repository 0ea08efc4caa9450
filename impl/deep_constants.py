"""The constants of deep transitions, by jets.

λ = L_ρᴸ ∏‖W_l‖₂ bounds the growth of a step's gradient from above; equality needs the maximal
singular directions of the layers to be aligned. Source: Miller & Hardt, Section 3.
"""

from functools import cached_property

import torch
from torch import Tensor

from impl.constants import TRAINABLE
from impl.deep import DeepTransition
from impl.errors import PrecisionError, ShapeError, UnknownNameError
from impl.jet import Jet
from impl.loss import Loss
from impl.norm import certified_norm
from impl.outward import add_up, div_up, mul_up, norm_up, subtract_down
from impl.region import peak
from impl.smoothness import drift, forgotten, gradient_window, lipschitz, radius


class DeepConstants:
    """``constants[name]`` is a (B,) upper bound, infinite where none is known, never NaN.

    Names: lam, L_x, S_0, B_h, L_w, beta_hh, beta_hw, beta_wh, beta_ww and, with a loss, L_p,
    beta_p, G_0, D_1, G_1 and beta, with the meaning that they have in `Constants`; one layer gives
    the same up to ‖W‖₂ in place of ‖W‖_{2→∞}. ‖x_t‖₂ ≤ B_x (B,); ``trained`` names the blocks that
    are trained, in all layers. Raises an InputError.
    """

    def __init__(
        self, cell: DeepTransition, B_x: Tensor, *, loss: Loss | None = None, trained: str = "WUb"
    ) -> None:
        if B_x.shape != (cell.batch,):
            raise ShapeError("B_x", f"({cell.batch},)", B_x)
        if B_x.dtype != torch.float64:
            raise PrecisionError("B_x", B_x.dtype)
        if loss is not None and loss.C.shape[::2] != (cell.batch, cell.n):
            raise ShapeError("the loss's C", f"({cell.batch}, p, {cell.n})", loss.C)
        if trained not in TRAINABLE:
            raise UnknownNameError("trained part", trained, TRAINABLE)
        self.cell, self.B_x, self.trained = cell, B_x.detach(), trained
        self.known: dict[str, Tensor] = {}
        self.known |= self._states()
        self.known |= self._jet()
        self.known |= {} if loss is None else self._of_loss(loss)

    def __getitem__(self, name: str) -> Tensor:
        return self.known[name]

    @property
    def gap(self) -> Tensor:
        """At most 1 − λ, zero if λ ≥ 1."""
        return subtract_down(1.0, self["lam"]).clamp(min=0.0)

    def epsilons(self, K: int) -> Tensor:
        """ε_k ≥ ‖∇p_T − ∇p_T^k‖ for every T, k = 0 … K: (B, K+1), infinite at k = 0."""
        return gradient_window(self["lam"], self["G_0"], self["D_1"], K)

    @cached_property
    def norms(self) -> list[Tensor]:
        """‖W_l‖₂, layer by layer."""
        return [certified_norm(W) for W in self.cell.W]

    @cached_property
    def driven(self) -> Tensor:
        """‖U‖₂B_x."""
        return mul_up(certified_norm(self.cell.U), self.B_x)

    def layers(self, h_norm: Tensor) -> list[Tensor]:
        """sup‖u_l‖₂ for l = 0 … L and ‖u_0‖₂ ≤ h_norm, the lesser of M_ρ√n_l and the recursion."""
        rho, bounds = self.cell.activation, [h_norm]
        for layer, (W_norm, b) in enumerate(zip(self.norms, self.cell.b, strict=True)):
            inner = mul_up(W_norm, bounds[-1])
            inner = inner if layer else add_up(inner, self.driven)
            offset = norm_up(peak(rho, b.detach(), b.detach()))
            box = mul_up(rho.bound, norm_up(torch.ones_like(b)))
            bounds.append(torch.minimum(add_up(mul_up(rho.slope, inner), offset), box))
        return bounds

    def _states(self) -> dict[str, Tensor]:
        lam = torch.ones_like(self.B_x)
        for W_norm in self.norms:
            lam = mul_up(self.cell.activation.slope, mul_up(W_norm, lam))
        L_x = mul_up(self.cell.activation.slope, certified_norm(self.cell.U))
        for W_norm in self.norms[1:]:
            L_x = mul_up(self.cell.activation.slope, mul_up(W_norm, L_x))
        self.known["lam"] = lam
        S_0 = self.layers(torch.zeros_like(lam))[-1]
        box = self.layers(torch.full_like(lam, torch.inf))[-1]
        B_h = torch.minimum(div_up(S_0, self.gap), box)
        return {"L_x": L_x, "S_0": S_0, "B_h": B_h}

    def _jet(self) -> dict[str, Tensor]:
        jet, sizes = Jet.of_state(self.B_x), self.layers(self["B_h"])
        for layer, (W_norm, size) in enumerate(zip(self.norms, sizes, strict=False)):
            inputs = torch.zeros_like(self.B_x) if layer else self.B_x
            R = radius(self.trained, size, inputs)
            jet = jet.affine(W_norm, R, trained="W" in self.trained)
            jet = jet.activated(self.cell.activation)
        return {
            "L_w": jet.w,
            "beta_hh": jet.hh,
            "beta_hw": jet.hw,
            "beta_wh": jet.hw,
            "beta_ww": jet.ww,
        }

    def _of_loss(self, loss: Loss) -> dict[str, Tensor]:
        self.known |= {"L_p": loss.slope(self["B_h"]), "beta_p": loss.curvature}
        D_1 = drift(self)
        G_1 = div_up(D_1, self["lam"])
        return {"G_0": forgotten(self), "D_1": D_1, "G_1": G_1, "beta": lipschitz(self)}
