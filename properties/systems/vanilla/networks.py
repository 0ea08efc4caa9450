"""A batch of vanilla networks with pairs of states, and what is certified of them: the constants of
the cell, of a pair of states, of each window and of training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import sympy
import torch

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.gradients.weight_sets import Region
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.properties.systems.batch import Batch, BatchParts, Systems, to_tensor
from rnnbounds.properties.systems.draws import Array, Numbers, batch_numbers, resonant_inputs
from rnnbounds.properties.systems.other_inputs import x_gap
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.vanilla.network_weights import with_signals
from rnnbounds.theory.claims.training.end_to_end import DRIFT, STILL
from rnnbounds.theory.language.quantities.kinds import CELLS, GATES
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.numbers.evaluate import enclose
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor


def state_pair_bound(batch: Batch) -> Array:
    """H ≥ ‖h‖, ‖h'‖ of each pair of states, (B, S, 1)."""
    sizes = [norm_up(h.detach().transpose(1, 2)) for h in (batch.h, batch.h_other)]
    return np.asarray(torch.maximum(*sizes).cpu().numpy()[:, :, None])


def gradient_window_bounds(batch: Batch) -> Array:
    """ε_k of each window, (B, 1, K+1)."""
    return np.asarray(batch.constants.epsilons(batch.K).detach().cpu().numpy()[:, None])


def prediction_reading(expr: sympy.Expr) -> Callable[[Batch], Array]:
    """The upper end of what the theorem asks of K_0 or K_1, (B, 1, 1)."""

    def read(batch: Batch) -> Array:
        env = {}
        for symbol in expr.free_symbols:
            name = symbol.name
            parameter = VOCABULARY[name].role == "parameter"
            known = batch.parameters[name] if parameter else None
            env[name] = batch.constant(name) if known is None else Interval(known, known)
        with np.errstate(all="ignore"):
            high = enclose(expr, env).hi
        return np.where(np.isnan(high), np.inf, high)

    return read


DERIVED: dict[str, Callable[[Batch], Array]] = {
    "H": state_pair_bound,
    "eps_k": gradient_window_bounds,
    "x_gap": x_gap,
}
# What training of a network asks for.
PREDICTIONS = {"K_0": prediction_reading(STILL), "K_1": prediction_reading(DRIFT)}
# What only systems of other families have, where a quantity does not name the kinds that do.
_FOREIGN = (*GATES, *CELLS)
FOREIGN_CONSTANTS = {quantity.name for quantity in _FOREIGN if quantity.role == "certified"}
FOREIGN_CONSTANTS = FOREIGN_CONSTANTS.union(PREDICTIONS).difference(DERIVED)


@dataclass(frozen=True, eq=False)
class Networks(Systems):
    """h_t = ρ(W h_{t−1} + U x_t + b), and pairs of states h, h_other (B, n, S).

    other: a second network of each system, for what compares two weights.
    """

    cell: RNN
    h: Tensor
    h_other: Tensor
    other: RNN | None = None

    @property
    def n(self) -> int:
        """The size of the output."""
        return self.cell.n

    @property
    def parameters(self) -> dict[str, Tensor]:
        """The weights by the names that a step has for them, (B, …) each."""
        return self.cell.parameters

    def input_bound(self, x: Tensor) -> Tensor:
        """An upper bound on every ‖x_t‖₂ of a system, (B,), for inputs x (B, T, d, S)."""
        found: Tensor = norm_up(x.transpose(2, 3)).amax(dim=(1, 2))
        return found

    def is_allowed(self, x: Tensor) -> Tensor:
        """True for each sequence of inputs, (B, S)."""
        return torch.ones_like(x[:, 0, 0], dtype=torch.bool)

    def furthest_inputs(self, C: Tensor, T: int, S: int) -> Array:
        """The inputs that move the last state furthest, (B, S, T, d): along Uᵀ(Wᵀ)^{T−t}c."""
        W, U, read = (A.detach().cpu().numpy() for A in (self.cell.W, self.cell.U, C))
        return resonant_inputs(np.ones((len(W), read.shape[1], S)), W, U, read, T)

    @property
    def states(self) -> tuple[Tensor, Tensor]:
        """The pairs of states."""
        return self.h, self.h_other

    @property
    def named_weights(self) -> dict[str, Tensor]:
        """The weights by name."""
        return {"W": self.cell.W, "U": self.cell.U, "b": self.cell.b}

    def pair(self, i: int, s: int) -> Self:
        """One system and one of its pairs of states."""
        one = self.member(i)
        at = slice(s, s + 1)
        return replace(one, h=one.h[:, :, at], h_other=one.h_other[:, :, at])

    def member(self, i: int) -> Self:
        """One system of the batch, as a batch of one."""
        at, other = slice(i, i + 1), self.other and self.other.member(i)
        return replace(
            self, cell=self.cell.member(i), h=self.h[at], h_other=self.h_other[at], other=other
        )

    def region(self, batch: Batch) -> Region | None:
        """Of a loss the cell's own weights, or the segment between both."""
        if not batch.spec.has("loss"):
            return None
        both = (self.cell, self.other)
        return Region.join(*(Region.of(cell) for cell in both if cell is not None))

    def constant(self, batch: Batch, name: str) -> Array:
        """A constant of the cell, of a pair of states or of a window; infinite where only other
        systems have it."""
        if name in DERIVED:
            return DERIVED[name](batch)
        known = VOCABULARY.get(name)
        if name in FOREIGN_CONSTANTS or (known is not None and known.about):
            return np.full((batch.cell.batch, 1, 1), np.inf)
        return batch.constants[name].detach().cpu().numpy().reshape(-1, 1, 1)


class TrainedNetworks(Networks):
    """Networks that are trained by steps c/(βt) in the set Ω."""

    def region(self, batch: Batch) -> Region:
        """The set Ω."""
        return Region.of_omega(batch.omega, self.cell, batch.spec.trained)

    def constant(self, batch: Batch, name: str) -> Array:
        """A constant of the network, or what the theorem asks of K_0 and K_1."""
        return PREDICTIONS[name](batch) if name in PREDICTIONS else super().constant(batch, name)

    def parameter(self, batch: Batch, name: str) -> Array | None:
        """α of a share c of 1/β."""
        return batch.step_size if name == "alpha" else None


class QuadraticNetworks(Networks):
    """The losses p(w) = −βw²/2 and p^k(w) = p(w) + εw, and a factor λ; networks stand for them."""

    def constant(self, batch: Batch, name: str) -> Array:
        """β, ε at each window and λ; infinite for all others."""
        given = {"beta": batch.spec.lam, "eps_k": batch.spec.epsilon, "lam": 0.5}
        windows = batch.K + 1 if name == "eps_k" else 1
        return np.full((len(batch.spec.members), 1, windows), given.get(name, np.inf))


def build_networks(
    draw: Numbers, spec: SystemSpec, device: str = "cpu", make: type[Networks] = Networks
) -> BatchParts:
    """Networks of the weights that `draw` draws of all members, with inputs and states, if it does
    not give them, of streams of their own."""

    def driving_matrices(own: Mapping[str, Array]) -> tuple[Array, Array]:
        return own["W"], own["U"]

    numbers = batch_numbers(spec, lambda spec: with_signals(spec, draw(spec)), driving_matrices)
    return network_parts(spec, numbers, device, make)


def network_parts(
    spec: SystemSpec, numbers: Mapping[str, Array], device: str, make: Callable[..., Networks]
) -> BatchParts:
    """Networks of these numbers, with second weights where there are some."""

    def cell(suffix: str) -> RNN:
        W, U, b = (
            to_tensor(device, numbers[name + suffix], *axes)
            for name, axes in (("W", (1, 2)), ("U", (1, 2)), ("b", (1,)))
        )
        return RNN(W, U, b, activation(spec.activation))

    h, h_other = (to_tensor(device, numbers[name], 2, 1) for name in ("h", "h_other"))
    return BatchParts(
        make(cell(""), h, h_other, cell("2") if "W2" in numbers else None),
        to_tensor(device, numbers["C"], 1, 2),
        to_tensor(device, numbers["x"], 2, 3, 1),
        to_tensor(device, numbers["y"], 1) if "y" in numbers else None,
    )
