"""From a SystemSpec to tensors: a batch of systems, their inputs and their certified constants."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from impl.activation import activation
from impl.constants import Constants
from impl.outward import norm_up
from impl.rnn import RNN
from properties.regimes import Array, generator, input_sequences, normal, recurrent_matrix
from properties.spec import SystemSpec, Values
from theory.interval import Interval

# Certified constants and parameters hold for a whole batch along (batch, sequence, window).
AXES = 3


@dataclass(frozen=True)
class Batch:
    """B systems with S input sequences each.

    cell: h_t = ρ(W h_{t−1} + U x_t + b), y_t = C h_t; x (B, T, d, S); a pair of states h, h_other
    (B, n, S); everything float64. The pairs' scale shrinks along S.
    """

    spec: SystemSpec
    cell: RNN
    C: torch.Tensor
    x: torch.Tensor
    h: torch.Tensor
    h_other: torch.Tensor
    cache: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def K(self) -> int:
        """The largest window."""
        return self.spec.K

    @cached_property
    def B_x(self) -> torch.Tensor:
        """An upper bound on every ‖x_t‖₂ of a system, (B,)."""
        return norm_up(self.x.transpose(2, 3)).amax(dim=(1, 2))

    @cached_property
    def finite(self) -> npt.NDArray[np.bool_]:
        """Where every number of a pair is finite, (B, S, 1)."""
        system = [
            torch.isfinite(A).flatten(1).all(1)
            for A in (self.cell.W, self.cell.U, self.cell.b, self.C)
        ]
        pair = [torch.isfinite(A).all(1) for A in (self.h, self.h_other)]
        inputs = torch.isfinite(self.x).all(2).all(1)
        found = torch.stack(system).all(0)[:, None] & inputs & pair[0] & pair[1]
        return np.asarray(found.cpu().numpy()[:, :, None])

    @cached_property
    def constants(self) -> Constants:
        """The certified constants, (B,) each, by the names of the vocabulary."""
        return Constants(self.cell, self.B_x, self.C)

    @property
    def windows(self) -> Array:
        """k = 0 … K, along the last axis."""
        return np.arange(self.K + 1, dtype=np.float64).reshape(1, 1, -1)

    @cached_property
    def parameters(self) -> dict[str, Array]:
        """The spec's numbers by the names of the vocabulary; epsilon is a share of S_0/(1 − λ)."""
        spec = self.spec
        plain = {"T": spec.T, "n": spec.n, "d": spec.d, "alpha": spec.alpha, "a_1": spec.lam}
        numbers = {name: np.full((1, 1, 1), float(value)) for name, value in plain.items()}
        numbers |= {
            "u": np.full((1, 1, 1), 2.0**-53),
            "k": self.windows,
            "t": spec.T - self.windows,
        }
        with np.errstate(all="ignore"):
            reach = self.constant("S_0").hi / (1 - self.constant("lam").hi)
            target = np.where(np.isfinite(reach) & (reach > 0), spec.epsilon * reach, 0.0)
        return numbers | {"epsilon": target}

    def constant(self, name: str) -> Interval:
        """A certified constant as a point interval (B, 1, 1): the bound as the number it is."""
        value = self.constants[name].detach().cpu().numpy().reshape(-1, 1, 1)
        return Interval(value, value)


def draw(spec: SystemSpec, member: int) -> dict[str, Array]:
    """The numbers of one member: W, U, b, C, x (S, T, d), h and h_other (S, n)."""
    rng = generator(spec, member)
    n, d, S = spec.n, spec.d, spec.sequences
    W = recurrent_matrix(spec, rng)
    rng = generator(spec, member, stream=1)
    U, b, C = normal(rng, n, d) / 2, spec.bias * normal(rng, n), normal(rng, min(n, 2), n)
    if spec.kind == "unstable":
        U = np.eye(n, d)  # the witnesses of instability have input weight 1
    rng = generator(spec, member, stream=2)
    x = input_sequences(spec, rng, W, U, C)
    shrink = np.ldexp(np.ones(S), -3 * (np.arange(S) // 2))[:, None]
    h, h_other = shrink * normal(rng, S, n), shrink * normal(rng, S, n)
    h_other[1::2] = -h[1::2]
    return {"W": W, "U": U, "b": b, "C": C, "x": x, "h": h, "h_other": h_other}


def written_out(values: Values) -> dict[str, Array]:
    """The numbers of an explicit spec, one sequence."""
    arrays = {
        name: np.array(getattr(values, name), dtype=np.float64) for name in values.__struct_fields__
    }
    return arrays | {name: arrays[name][None] for name in ("x", "h", "h_other")}


def build(spec: SystemSpec, device: str = "cpu") -> Batch:
    """The batch that a spec describes; with ``member`` and ``sequence`` set, that pair alone."""
    if spec.values is not None:
        drawn = [written_out(spec.values)]
    else:
        drawn = [draw(spec, member) for member in spec.members]
    if spec.sequence is not None and spec.values is None:
        chosen = slice(spec.sequence, spec.sequence + 1)
        drawn = [m | {name: m[name][chosen] for name in ("x", "h", "h_other")} for m in drawn]

    def stack(name: str, *axes: int) -> torch.Tensor:
        array = np.stack([member[name] for member in drawn])
        return torch.from_numpy(np.ascontiguousarray(array.transpose(0, *axes))).to(device)

    cell = RNN(
        W=stack("W", 1, 2),
        U=stack("U", 1, 2),
        b=stack("b", 1),
        activation=activation(spec.activation),
    )
    return Batch(
        spec=spec,
        cell=cell,
        C=stack("C", 1, 2),
        x=stack("x", 2, 3, 1),
        h=stack("h", 2, 1),
        h_other=stack("h_other", 2, 1),
    )


def explicit(batch: Batch, **fields: object) -> SystemSpec:
    """The spec that writes a batch of one pair out in full; ``fields`` change its other fields."""
    import msgspec

    values = Values(
        W=batch.cell.W[0].tolist(),
        U=batch.cell.U[0].tolist(),
        b=batch.cell.b[0].tolist(),
        C=batch.C[0].tolist(),
        x=batch.x[0, :, :, 0].tolist(),
        h=batch.h[0, :, 0].tolist(),
        h_other=batch.h_other[0, :, 0].tolist(),
    )
    alone = {"batch": 1, "sequences": 1, "member": None, "sequence": None, "seed": 0}
    return msgspec.structs.replace(batch.spec, values=values, **(alone | fields))
