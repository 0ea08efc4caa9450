"""Ascent through vanilla networks: free parameters, and what they are projected onto."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.properties.systems.batch import Batch, build_batch
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.vanilla.networks import Networks

Tensor = torch.Tensor


@dataclass
class Ascent:
    """Free parameters of a batch and the projection of them onto contractive systems."""

    spec: SystemSpec
    parameters: dict[str, Tensor]
    radius: Tensor

    @classmethod
    def start(cls, spec: SystemSpec) -> Ascent:
        """The drawn batch as free parameters, with ‖W‖₂ held at the spec's ``lam``."""
        batch = build_batch(spec)
        free = {"W": batch.cell.W, "U": batch.cell.U, "b": batch.cell.b, "C": batch.C, "x": batch.x,
                "h": batch.h, "h_other": batch.h_other}  # fmt: skip
        if batch.y is not None:
            # Small inputs keep a cell in its linear range: a bias is as small.
            free |= {"y": batch.y, "b": batch.cell.b / spec.scale, "x": batch.x / spec.scale}
        if batch.other is not None:
            other = batch.other
            # Of one unit nothing but ±W has this norm.
            direction = other.W if batch.cell.n > 1 else -batch.cell.W
            free |= {"V": direction, "dU": other.U - batch.cell.U, "db": other.b - batch.cell.b}
        parameters = {name: tensor.clone().requires_grad_() for name, tensor in free.items()}
        radius = torch.full((batch.cell.batch, 1, 1), spec.lam, dtype=torch.float64)
        return cls(spec, parameters, radius)

    def batch(self) -> Batch:
        """The systems at the current parameters: ‖W‖₂ = λ/L_ρ, ‖U‖₂ = ‖C‖₂ = 1, ‖x_t‖₂ ≤ B_x."""
        p = self.parameters

        def unit(A: Tensor) -> Tensor:
            size: Tensor = torch.linalg.matrix_norm(A, 2, keepdim=True)
            return A / size.clamp(min=1e-30)

        size = torch.linalg.vector_norm(p["x"], dim=2, keepdim=True)
        if "y" in p:
            # Smooth up to the bound, so that a scalar input can change its sign.
            x = p["x"] * self.spec.scale * torch.rsqrt(1 + size * size)
        else:
            x = p["x"] * (self.spec.scale / size.clamp(min=self.spec.scale))
        cell = RNN(
            W=self.radius * unit(p["W"]), U=unit(p["U"]),
            b=p["b"] * (self.spec.scale if "y" in p else 1.0),
            activation=ACTIVATIONS[self.spec.activation],
        )  # fmt: skip
        other = self.second_weights(cell, unit(p["V"])) if "V" in p else None
        systems = Networks(cell, p["h"], p["h_other"], other)
        return Batch(self.spec, systems, unit(p["C"]), x, p.get("y"))

    def second_weights(self, cell: RNN, direction: Tensor) -> RNN:
        """The second weights, about the spec's distance away, the recurrent ones in the same set;
        what is not trained stays."""
        tau, p, trained = self.spec.distance, self.parameters, self.spec.trained
        moved = {
            "W": (1 - tau) * cell.W + tau * self.radius * direction,
            "U": cell.U + tau * p["dU"],
            "b": cell.b + tau * p["db"],
        }
        parts = {name: moved[name] if name in trained else getattr(cell, name) for name in moved}
        return RNN(**parts, activation=cell.activation)
