"""From a SystemSpec to tensors: a batch of systems, their inputs and their certified constants."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from impl.cells.activation import activation
from impl.cells.rnn import RNN
from impl.gradients.constants import Constants
from impl.gradients.loss import Loss
from impl.gradients.loss import loss as make_loss
from impl.numbers.outward import norm_up
from impl.numbers.spectral_norm import certified_norm
from impl.training.descent import Omega
from properties.systems.cells.batch import Cells
from properties.systems.cells.build import INWARD, fields
from properties.systems.cells.constants import of_cells
from properties.systems.derived import DERIVED
from properties.systems.drawing.regimes import Array, input_sequences
from properties.systems.drawing.written import written_out
from properties.systems.gated.cell import Gated
from properties.systems.gated.constants import gate_constants
from properties.systems.kind import about
from properties.systems.parameters import Parameters
from properties.systems.spec import SystemSpec, Values
from properties.systems.unitary.exact import Exact, image
from theory.numbers.interval import Interval

LARGEST_STEP = 2.0**500
# Pairs of a batch that are kept once built: so many fit into memory with all their balls.
PAIRS = 64
# Weights of ``training`` may grow to this multiple of the norms that they were drawn with.
ROOM = 1.5


@dataclass(frozen=True)
class Batch:
    """B systems with S input sequences each.

    cell: h_t = ρ(W h_{t−1} + U x_t + b), y_t = C h_t; x (B, T, d, S); a pair of states h, h_other
    (B, n, S); targets y (B, p) of the loss; other: a second cell, for what compares two weights;
    everything float64. The pairs' scale shrinks along S.

    cells: those of any other kind, whose states (B, N, S) lie in the invariant box; ``cell`` then
    only has their shape. ``gated`` are they if they are LSTMs or GRUs.

    exact: the members in rationals, of the kinds that are; cell, C, x, h and other are then their
    float images, and the statements are decided about the rationals.
    """

    spec: SystemSpec
    cell: RNN
    C: torch.Tensor
    x: torch.Tensor
    h: torch.Tensor
    h_other: torch.Tensor
    y: torch.Tensor | None = None
    other: RNN | None = None
    exact: tuple[Exact, ...] = ()
    cells: Cells | None = None
    cache: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def K(self) -> int:
        """The largest window."""
        return self.spec.K

    @cached_property
    def B_x(self) -> torch.Tensor:
        """An upper bound on every ‖x_t‖₂ of a system, (B,)."""
        if self.cells is not None:
            return self.cells.B_x
        return norm_up(self.x.transpose(2, 3)).amax(dim=(1, 2))

    @cached_property
    def finite(self) -> npt.NDArray[np.bool_]:
        """Where every number of a pair is finite, (B, S, 1)."""
        system = [
            torch.isfinite(A).flatten(1).all(1)
            for A in (*self.weights.values(), self.C, *weights(self.other), self.y)
            if A is not None
        ]
        pair = [torch.isfinite(A).all(1) for A in (self.h, self.h_other)]
        inputs = torch.isfinite(self.x).all(2).all(1)
        found = torch.stack(system).all(0)[:, None] & inputs & pair[0] & pair[1]
        return np.asarray(found.cpu().numpy()[:, :, None])

    @property
    def weights(self) -> dict[str, torch.Tensor]:
        """The weights by name, stacked where there are gates."""
        if self.cells is not None:
            return self.cells.tensors
        return {"W": self.cell.W, "U": self.cell.U, "b": self.cell.b}

    @property
    def gated(self) -> Gated | None:
        """The cells that have gates."""
        return self.cells if isinstance(self.cells, Gated) else None

    @cached_property
    def gate_constants(self) -> dict[str, Array]:
        """The certified constants of gated cells, (B, 1, 1) each."""
        assert self.gated is not None
        found = gate_constants(self.gated).items()
        return {name: value.detach().cpu().numpy().reshape(-1, 1, 1) for name, value in found}

    @cached_property
    def constants(self) -> Constants:
        """The certified constants, (B,) each, by the names of the vocabulary.

        Uniform on the segment between the two weights of ``smooth``, on Ω in ``training``.
        """
        region = about(self.spec).region
        if region is None:
            return Constants(self.cell, self.B_x, self.C)
        return Constants(
            self.cell, self.B_x, self.C, loss=self.loss, trained=self.spec.trained,
            region=region(self),
        )  # fmt: skip

    @cached_property
    def loss(self) -> Loss:
        """The loss on the last state."""
        y = self.C.new_zeros(self.C.shape[:2]) if self.y is None else self.y
        return make_loss(self.spec.loss, self.C, y)

    @cached_property
    def omega(self) -> Omega:
        """The convex set of the weights of ``training``; the cell lies in it."""
        W, U, b = self.cell.W, self.cell.U, self.cell.b
        # What is drawn has norm lam to nine digits; what is written out may have any.
        aimed = torch.full_like(self.B_x, self.spec.lam * (1 + 2.0**-20))
        return Omega(
            W=torch.maximum(aimed, certified_norm(W)),
            U=ROOM * norm_up(U.flatten(1)),
            b=ROOM * norm_up(b),
        )

    @property
    def windows(self) -> Array:
        """k = 0 … K, along the last axis."""
        return np.arange(self.K + 1, dtype=np.float64).reshape(1, 1, -1)

    @cached_property
    def parameters(self) -> Parameters:
        """The spec's numbers by the names of the vocabulary; epsilon is a share of S_0/(1 − λ)."""
        return Parameters(self)

    def pair(self, i: int, s: int) -> Batch:
        """One pair alone, on the CPU. The first few are kept: the forms of a claim are decided on
        the same pairs, which hold their constants and their balls."""
        if (len(self.spec.members), len(self.spec.chosen), self.x.device.type) == (1, 1, "cpu"):
            return self
        key = f"pair {i} {s}"
        if key in self.cache:
            found: Batch = self.cache[key]
            return found
        found = build(self.spec.alone(self.spec.members[i], s))
        if sum(name.startswith("pair ") for name in self.cache) < PAIRS:
            self.cache[key] = found
        return found

    @cached_property
    def exact_constants(self) -> list[dict[str, float]]:
        """The certified constants of each exact member."""
        return [member.constants() for member in self.exact]

    @cached_property
    def step_size(self) -> Array:
        """α = c/β with c = the spec's ``alpha``, a float64; 0 where β is no positive number."""
        beta = self.constant("beta").hi
        with np.errstate(all="ignore"):
            alpha = np.minimum(self.spec.alpha / beta, LARGEST_STEP)
        return np.where((beta > 0) & np.isfinite(beta), alpha, 0.0)

    def constant(self, name: str) -> Interval:
        """A certified constant as a point interval: the bound as the number it is.

        (B, 1, 1), but (B, S, 1) of each pair and (B, 1, K+1) of each window.
        """
        if (own := about(self.spec).constant) is not None:
            value = own(self, name)
        elif self.exact:
            given = [member.get(name, np.inf) for member in self.exact_constants]
            value = np.array(given).reshape(-1, 1, 1)
        elif self.cells is not None:
            value = of_cells(self, name)
        elif name in DERIVED:
            key = f"constant {name}"
            if key not in self.cache:
                self.cache[key] = DERIVED[name](self)
            value = self.cache[key]
        else:
            value = self.constants[name].detach().cpu().numpy().reshape(-1, 1, 1)
        return Interval(value, value)


def weights(cell: RNN | None) -> tuple[torch.Tensor, ...]:
    """W, U and b of a cell; nothing without one."""
    return () if cell is None else (cell.W, cell.U, cell.b)


def build(spec: SystemSpec, device: str = "cpu") -> Batch:
    """The batch that a spec describes; with ``member`` and ``sequence`` set, that pair alone."""
    kind = about(spec)
    if kind.whole is not None:
        return Batch(spec=spec, **kind.whole(spec))
    exact = () if kind.exact is None else tuple(kind.exact(spec, i) for i in spec.members)
    if kind.exact is not None:
        drawn = [image(member) for member in exact]
    elif spec.values is not None:
        drawn = [written_out(spec.values)]
    else:
        assert kind.numbers is not None
        drawn = [kind.numbers(spec, member) for member in spec.members]
    stacked = {name: np.stack([member[name] for member in drawn]) for name in drawn[0]}
    if spec.values is None and not exact:
        driving = kind.driving(spec, stacked)
        stacked["x"] = input_sequences(spec, stacked["x"], *driving, stacked["C"])
        if spec.sequence is not None:
            chosen = slice(spec.sequence, spec.sequence + 1)
            stacked |= {name: stacked[name][:, chosen] for name in ("x", "h", "h_other")}

    def tensor(name: str, *axes: int) -> torch.Tensor:
        array = np.ascontiguousarray(stacked[name].transpose(0, *axes))
        return torch.from_numpy(array).to(device)

    x, y = tensor("x", 2, 3, 1), tensor("y", 1) if "y" in stacked else None
    if kind.cells is not None:
        x = x * INWARD if spec.values is None else x
        return with_cells(spec, kind.cells(spec, stacked, x, tensor), tensor("C", 1, 2), x, y)

    def cell(suffix: str = "") -> RNN:
        return RNN(
            W=tensor(f"W{suffix}", 1, 2),
            U=tensor(f"U{suffix}", 1, 2),
            b=tensor(f"b{suffix}", 1),
            activation=activation(spec.activation),
        )

    return Batch(
        spec=spec,
        cell=cell(),
        C=tensor("C", 1, 2),
        x=x,
        h=tensor("h", 2, 1),
        h_other=tensor("h_other", 2, 1),
        y=y,
        other=cell("2") if "W2" in stacked else None,
        exact=exact,
    )


def with_cells(
    spec: SystemSpec, cells: Cells, C: torch.Tensor, x: torch.Tensor, y: torch.Tensor | None = None
) -> Batch:
    """A batch of these cells."""
    return Batch(spec=spec, y=y, **fields(cells, C, x))


def explicit(batch: Batch, **fields: object) -> SystemSpec:
    """The spec that writes a batch of one pair out in full; ``fields`` change its other fields."""
    import msgspec

    weights, h, h_other = batch.weights, batch.h, batch.h_other
    if batch.gated is not None:
        h, h_other = batch.gated.raw, batch.gated.raw_other
    values = Values(
        W=weights["W"][0].tolist(),
        U=weights["U"][0].tolist(),
        b=weights["b"][0].tolist(),
        C=batch.C[0].tolist(),
        x=batch.x[0, :, :, 0].tolist(),
        h=h[0, :, 0].tolist(),
        h_other=h_other[0, :, 0].tolist(),
        y=None if batch.y is None else batch.y[0].tolist(),
        W2=None if batch.other is None else batch.other.W[0].tolist(),
        U2=None if batch.other is None else batch.other.U[0].tolist(),
        b2=None if batch.other is None else batch.other.b[0].tolist(),
        b_hh=weights["b_hh"][0].tolist() if "b_hh" in weights else None,
    )
    alone: dict[str, object] = {
        "batch": 1,
        "sequences": 1,
        "member": None,
        "sequence": None,
        "seed": 0,
    }
    return msgspec.structs.replace(batch.spec, values=values, **(alone | fields))
