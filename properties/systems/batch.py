"""From a SystemSpec to tensors: a batch of systems, their inputs and their certified constants."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import nan
from typing import Any, ClassVar, NamedTuple, Self

import msgspec
import numpy as np
import numpy.typing as npt
import torch

from rnnbounds.impl.gradients.constants import Constants
from rnnbounds.impl.gradients.loss import Loss
from rnnbounds.impl.gradients.loss import loss as make_loss
from rnnbounds.impl.gradients.weight_sets import Omega, Region
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm
from rnnbounds.properties.systems.caching import LazyDict, per_system
from rnnbounds.properties.systems.draws import Array
from rnnbounds.properties.systems.spec import SystemSpec, Values
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor
# Pairs of a batch that are kept once built: so many fit into memory with all their balls.
KEPT_PAIRS = 64
LARGEST_STEP = 2.0**500
# Weights of ``training`` may grow to this multiple of the norms that they were drawn with.
WEIGHT_GROWTH = 1.5


class Systems(ABC):
    """B systems of one family, S pairs of states of each, and what is certified of them.

    has_input_bound: True if what is certified holds for inputs up to a bound. other: the second
    networks, of what compares two weights.
    """

    cell: Any
    other: RNN | None = None
    has_input_bound: ClassVar[bool] = False

    @property
    @abstractmethod
    def states(self) -> tuple[Tensor, Tensor]:
        """The pairs of states, (B, N, S) each."""

    @property
    def explicit_states(self) -> tuple[Tensor, Tensor]:
        """The pairs as a spec writes them out."""
        return self.states

    @property
    @abstractmethod
    def named_weights(self) -> dict[str, Tensor]:
        """The weights by name, stacked where there are gates."""

    @abstractmethod
    def pair(self, i: int, s: int) -> Self:
        """One system and one of its pairs of states."""

    @abstractmethod
    def member(self, i: int) -> Self:
        """One system of the batch, as a batch of one."""

    @abstractmethod
    def input_bound(self, x: Tensor) -> Tensor:
        """An upper bound on every ‖x_t‖₂ of a system, (B,), for inputs x (B, T, d, S)."""

    @abstractmethod
    def is_allowed(self, x: Tensor) -> Tensor:
        """True for each sequence of inputs that the bound admits, (B, S)."""

    @abstractmethod
    def furthest_inputs(self, C: Tensor, T: int, S: int) -> Array:
        """The inputs that move the last state furthest, (B, S, T, d)."""

    @abstractmethod
    def constant(self, batch: Batch, name: str) -> Array:
        """A certified constant, (B, 1, 1), (B, S, 1) of each pair or (B, 1, K+1) of each window;
        infinite where nothing is known."""

    def parameter(self, batch: Batch, name: str) -> Array | None:
        """A number that these systems supply in place of the spec; None of all others."""
        return None

    def forgotten_bound(self, batch: Batch) -> Array:
        """Bound the norm of the state forgotten by a run of any length: S_0/(1 − λ), (B, 1, 1)."""
        return batch.constant("S_0").hi / (1 - batch.constant("lam").hi)

    def region(self, batch: Batch) -> Region | None:
        """The weights for which the constants of gradients hold; None of systems without a loss."""
        return None


class BatchParts(NamedTuple):
    """The systems of a batch, their readout C (B, p, n), inputs x (B, T, d, S) and targets y."""

    systems: Systems
    C: Tensor
    x: Tensor
    y: Tensor | None = None


@dataclass(frozen=True)
class Batch:
    """B systems of one family with S input sequences each, everything float64.

    systems: vanilla networks, cells of any other kind, whose states (B, N, S) lie in an invariant
    box, or members in rationals with their float images, of which all statements are decided about
    the rationals. C (B, p, n) with y_t = C h_t; x (B, T, d, S); targets y (B, p) of the loss.

    whole: the batch that a pair is of, with its places there: what is certified of it is its own.
    """

    spec: SystemSpec
    systems: Systems
    C: Tensor
    x: Tensor
    y: Tensor | None = None
    whole: tuple[Batch, int, int] | None = field(default=None, compare=False, repr=False)
    cache: dict[str, Any] = field(init=False, default_factory=dict, compare=False, repr=False)
    readings: dict[Any, Any] = field(init=False, default_factory=dict, compare=False, repr=False)
    constant_intervals: dict[str, Interval] = field(
        init=False, default_factory=dict, compare=False, repr=False
    )
    kept_pairs: dict[tuple[int, int], Batch] = field(
        init=False, default_factory=dict, compare=False, repr=False
    )

    @property
    def cell(self) -> RNN:
        """Shipped module of these systems."""
        cell: RNN = self.systems.cell
        return cell

    @property
    def other(self) -> RNN | None:
        """The second networks, of what compares two weights."""
        return self.systems.other

    @property
    def h(self) -> Tensor:
        """The first of the pairs of states, (B, N, S); the pairs' scale shrinks along S."""
        return self.systems.states[0]

    @property
    def h_other(self) -> Tensor:
        """The second of the pairs of states."""
        return self.systems.states[1]

    @property
    def weights(self) -> dict[str, Tensor]:
        """The weights by name, stacked where there are gates."""
        return self.systems.named_weights

    @property
    def K(self) -> int:
        """The largest window."""
        return self.spec.K

    @per_system
    def B_x(self) -> Tensor:
        """An upper bound on every ‖x_t‖₂ of a system, (B,)."""
        return self.systems.input_bound(self.x)

    @cached_property
    def finite(self) -> npt.NDArray[np.bool_]:
        """Mask (B, S, 1) of the pairs whose weights, states and inputs are all finite."""
        other_weights = () if self.other is None else (self.other.W, self.other.U, self.other.b)
        finite_systems = [
            all_finite(A, axes=tuple(range(1, A.ndim)))
            for A in (*self.weights.values(), self.C, *other_weights, self.y)
            if A is not None
        ]
        finite_pairs = (
            all_finite(self.h, axes=1)
            & all_finite(self.h_other, axes=1)
            & all_finite(self.x, axes=(1, 2))
        )
        return np.asarray((np.all(finite_systems, axis=0)[:, None] & finite_pairs)[:, :, None])

    @per_system
    def constants(self) -> Constants:
        """The certified constants of networks, (B,) each, by the names of the vocabulary.

        Uniform on the segment between the two weights of ``smooth``, on Ω in ``training``.
        """
        region = self.systems.region(self)
        if region is None:
            return Constants(self.cell, self.B_x, self.C)
        return Constants(
            self.cell, self.B_x, self.C, loss=self.loss, trained=self.spec.trained,
            region=region,
        )  # fmt: skip

    @cached_property
    def loss(self) -> Loss:
        """The loss on the last state."""
        y = self.C.new_zeros(self.C.shape[:2]) if self.y is None else self.y
        return make_loss(self.spec.loss, self.C, y)

    @per_system
    def omega(self) -> Omega:
        """The convex set of the weights of ``training``; the networks lie in it."""
        W, U, b = self.cell.W, self.cell.U, self.cell.b
        # What is drawn has norm lam to nine digits; what is written out may have any.
        aimed_norm = torch.full_like(self.B_x, self.spec.lam * (1 + 2.0**-20))
        return Omega(
            W=torch.maximum(aimed_norm, certified_norm(W)),
            U=WEIGHT_GROWTH * norm_up(U.flatten(1)),
            b=WEIGHT_GROWTH * norm_up(b),
        )

    @property
    def windows(self) -> Array:
        """k = 0 … K, along the last axis."""
        return np.arange(self.K + 1, dtype=np.float64).reshape(1, 1, -1)

    @per_system
    def step_size(self) -> Array:
        """α = c/β with c = the spec's ``alpha``, a float64; 0 where β is no positive number."""
        beta = self.constant("beta").hi
        with np.errstate(all="ignore"):
            alpha = np.minimum(self.spec.alpha / beta, LARGEST_STEP)
        return np.where((beta > 0) & np.isfinite(beta), alpha, 0.0)

    @cached_property
    def parameters(self) -> dict[str, Array]:
        """The spec's numbers by the names of the vocabulary, along (batch, sequence, window); NaN
        of those that only other families have."""
        return LazyDict(self._read_parameter)

    def _read_parameter(self, name: str) -> Array:
        own = self.systems.parameter(self, name)
        return PARAMETERS[name](self) if own is None else own

    def constant(self, name: str) -> Interval:
        """A certified constant, from whoever supplies it of such systems."""
        if name not in self.constant_intervals:
            value = self._read_constant(name)
            self.constant_intervals[name] = Interval(value, value)
        return self.constant_intervals[name]

    def _read_constant(self, name: str) -> Array:
        if self.whole is None:
            return self.systems.constant(self, name)
        parent, i, s = self.whole
        parent_values = parent.constant(name).hi
        column = slice(s, s + 1) if parent_values.shape[1] > 1 else slice(None)
        row = slice(i, i + 1) if len(parent_values) > 1 else slice(None)
        return parent_values[row, column]

    def pair(self, i: int, s: int) -> Batch:
        """One pair alone, on the CPU. The first few are kept: the forms of a claim are decided on
        the same pairs, which hold their constants and their balls."""
        if (len(self.spec.members), len(self.spec.sequence_range), self.x.device.type) == (
            1,
            1,
            "cpu",
        ):
            return self
        if (i, s) in self.kept_pairs:
            return self.kept_pairs[i, s]
        found = self._build_pair(i, s)
        if len(self.kept_pairs) < KEPT_PAIRS:
            self.kept_pairs[i, s] = found
        return found

    def _build_pair(self, i: int, s: int) -> Batch:
        spec, at = self.spec.select_pair(self.spec.members[i], s), slice(i, i + 1)
        if self.x.device.type != "cpu":
            return build_batch(spec)
        y = None if self.y is None else self.y[at]
        x = self.x[at, :, :, s : s + 1]
        return Batch(spec, self.systems.pair(i, s), self.C[at], x, y, whole=(self, i, s))

    def clear_caches(self) -> None:
        """Let go of all that was measured of these systems, and of their pairs."""
        for cache in (self.cache, self.readings, self.constant_intervals, self.kept_pairs):
            cache.clear()


def spec_number(read: Callable[[SystemSpec], float]) -> Callable[[Batch], Array]:
    """A number of the spec."""
    return lambda batch: np.full((1, 1, 1), float(read(batch.spec)))


def target_error(batch: Batch) -> Array:
    """The spec's share of what may be forgotten; 0 where no bound on that is known."""
    with np.errstate(all="ignore"):
        reach = batch.systems.forgotten_bound(batch)
        found: Array = np.where(np.isfinite(reach) & (reach > 0), batch.spec.epsilon * reach, 0.0)
    return found


# The parameters that only some families have.
FAMILY_PARAMETERS = (
    "R", "states", "w_abs", "same_activation", "driven", "within",
    "depth", "isometric", "v_top",
)  # fmt: skip
PARAMETERS: dict[str, Callable[[Batch], Array]] = {
    "T": spec_number(lambda spec: spec.T),
    "n": spec_number(lambda spec: spec.n),
    "d": spec_number(lambda spec: spec.d),
    "a_1": spec_number(lambda spec: spec.lam),
    "N": spec_number(lambda spec: spec.steps),
    "k": lambda batch: batch.windows,
    "t": lambda batch: batch.spec.T - batch.windows,
    "alpha": spec_number(lambda spec: spec.alpha),
    "epsilon": target_error,
    **dict.fromkeys(FAMILY_PARAMETERS, spec_number(lambda spec: nan)),
}


def to_tensor(device: str, array: Array, *axes: int) -> Tensor:
    """An array as a tensor of that device, its axes but the first in this order."""
    return torch.from_numpy(np.ascontiguousarray(array.transpose(0, *axes))).to(device)


def all_finite(A: Tensor, axes: int | tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """Mask the entries whose numbers along the axes are all finite; reduced where they lie."""
    if A.device.type != "cpu":
        return np.asarray(torch.isfinite(A.detach()).all(dim=axes).cpu().numpy())
    return np.asarray(np.isfinite(A.detach().cpu().numpy()).all(axis=axes))


def build_batch(spec: SystemSpec, device: str = "cpu") -> Batch:
    """The batch that a spec describes; with ``member`` and ``sequence`` set, that pair alone."""
    return Batch(spec, *spec.kind_record.build(spec, device))


def explicit_spec(batch: Batch, **fields: object) -> SystemSpec:
    """The spec that writes a batch of one pair out in full; ``fields`` change its other fields."""
    weights, (h, h_other), other_weights = batch.weights, batch.systems.explicit_states, batch.other
    values = Values(
        W=weights["W"][0].tolist(),
        U=weights["U"][0].tolist(),
        b=weights["b"][0].tolist(),
        C=batch.C[0].tolist(),
        x=batch.x[0, :, :, 0].tolist(),
        h=h[0, :, 0].tolist(),
        h_other=h_other[0, :, 0].tolist(),
        y=None if batch.y is None else batch.y[0].tolist(),
        W2=None if other_weights is None else other_weights.W[0].tolist(),
        U2=None if other_weights is None else other_weights.U[0].tolist(),
        b2=None if other_weights is None else other_weights.b[0].tolist(),
        b_hh=weights["b_hh"][0].tolist() if "b_hh" in weights else None,
    )
    alone = {"batch": 1, "sequences": 1, "member": None, "sequence": None, "seed": 0}
    return msgspec.structs.replace(batch.spec, values=values, **(alone | fields))
