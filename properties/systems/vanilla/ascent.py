"""Ascent through vanilla networks: free tensors, and the contractive systems they are mapped to."""

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
    """Free parameters of a batch by name: W, U, b, C, x, and the pairs of states h, h_other; with a
    loss its targets y, and b and x in units of the inputs' bound; with second weights V, towards
    which the second W is moved, and the differences dU and db."""

    spec: SystemSpec
    parameters: dict[str, Tensor]

    @classmethod
    def start(cls, spec: SystemSpec) -> Ascent:
        """The batch that the spec draws, as free parameters."""
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
        return cls(spec, {name: A.clone().requires_grad_() for name, A in free.items()})

    def batch(self) -> Batch:
        """The systems at the current parameters: ‖W‖₂ = lam, ‖U‖₂ = ‖C‖₂ = 1 and ‖x_t‖₂ ≤ B, the
        spec's ``scale``, of x_t min(1, B/‖x_t‖₂), or with a loss of B x_t/√(1 + ‖x_t‖₂²)."""
        p, B = self.parameters, self.spec.scale
        size = torch.linalg.vector_norm(p["x"], dim=2, keepdim=True)
        if "y" in p:
            # Smooth up to the bound, so that a scalar input can change its sign.
            x = p["x"] * B * torch.rsqrt(1 + size * size)
        else:
            x = p["x"] * (B / size.clamp(min=B))
        b = p["b"] * (B if "y" in p else 1.0)
        rho = ACTIVATIONS[self.spec.activation]
        cell = RNN(W=self.spec.lam * unit(p["W"]), U=unit(p["U"]), b=b, activation=rho)
        other = self.second_weights(cell) if "V" in p else None
        systems = Networks(cell, p["h"], p["h_other"], other)
        return Batch(self.spec, systems, unit(p["C"]), x, p.get("y"))

    def second_weights(self, cell: RNN) -> RNN:
        """Second weights at about the spec's distance τ, equal in what is not trained:
        W′ = (1 − τ)W + τ lam V/‖V‖₂, so that ‖W′‖₂ ≤ lam, U′ = U + τ dU and b′ = b + τ db."""
        tau, p, trained = self.spec.distance, self.parameters, self.spec.trained
        moved = {
            "W": (1 - tau) * cell.W + tau * self.spec.lam * unit(p["V"]),
            "U": cell.U + tau * p["dU"],
            "b": cell.b + tau * p["db"],
        }
        parts = {name: moved[name] if name in trained else getattr(cell, name) for name in moved}
        return RNN(**parts, activation=cell.activation)


def unit(A: Tensor) -> Tensor:
    """A/‖A‖₂ of each matrix; 0 for 0."""
    size: Tensor = torch.linalg.matrix_norm(A, 2, keepdim=True)
    return A / size.clamp(min=1e-30)
