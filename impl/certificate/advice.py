"""Advice on a model that no norm certifies.

Candidates come from the estimate of `impl.certificate.contraction`, within a small budget; each
reported one is certified, at that scale or input bound and with the weights as then stored.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputBound, InputSet
from rnnbounds.impl.cells.kind import Kind
from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.certificate.contraction import factors
from rnnbounds.impl.errors import at_least, exactly, factor, to_copy
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.norms.norm_data import least_window

TARGET = 0.95  # of the penalty and of the projection
_RECURRENT = re.compile(r"(weight_hh|W|transition_\d+_weight)(_l\d+)?")
_LAYER = re.compile(r"_l(\d+)$")
_OF_LSTM = ("input gate", "forget gate", "candidate", "output gate")
_OF_GRU = ("reset gate", "update gate", "candidate")
GATES = {"lstm": _OF_LSTM, "lstm-projected": _OF_LSTM, "gru": _OF_GRU, "gru-cho": _OF_GRU}
_UPDATE = ("z_bar", "update gate")
# The name of the certified bound on what a unit keeps of itself, and the gate that it is of.
_KEPT = {"lstm": ("f_bar", "forget gate"), "gru": _UPDATE, "gru-cho": _UPDATE}
_ROWS = 1024  # of all recurrent weights, beyond which nothing is sought
_HALVINGS, _TRIES = 9, 3
_FEW = 4  # channels whose ends a call lists
_LEAST = 2.0**-20  # the smallest scale that is sought


@dataclass(frozen=True)
class Certified:
    """A change that certifies: its size, λ, the norm, and k at the first ε that was asked for."""

    size: float
    lam: float
    norm: str
    k: int | None

    def to_dict(self, name: str) -> dict[str, Any]:
        """The change as plain JSON data, its size under that name."""
        return {name: self.size, "lambda": self.lam, "norm": self.norm, "k": self.k}


@dataclass(frozen=True)
class Advice:
    """drivers: pairs of a part and about what λ would be without its recurrent weights, or of a
    layer and about its own λ (`layers`); estimates, the part that matters most first. weights: the
    largest scale, to two digits, of all recurrent weights at which the model is certified; None if
    there is none, or none was sought. inputs: the largest B. kept: the gate that keeps the state,
    its certified bound and the k at which that bound to the power k is at most ε. train: what to
    call in training. skipped: why nothing was sought, if nothing was.
    """

    drivers: tuple[tuple[str, float], ...]
    layers: tuple[float, ...]
    weights: Certified | None
    inputs: Certified | None
    kept: tuple[str, float, int | None] | None
    train: tuple[str, ...]
    epsilon: float
    skipped: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The advice as plain JSON data."""
        kept = None
        if self.kept is not None:
            kept = dict(zip(("gate", "at_most", "k"), self.kept, strict=True))
        return {
            "eps": self.epsilon,
            "estimates_without": [{"part": part, "lambda": lam} for part, lam in self.drivers],
            "estimates_of_layers": self.layers,
            "recurrent_weights": None if self.weights is None else self.weights.to_dict("scale"),
            "inputs": None if self.inputs is None else self.inputs.to_dict("input_bound"),
            "kept": kept,
            "train": list(self.train),
            "skipped": self.skipped,
            "lines": self.lines(),
        }

    def lines(self) -> list[str]:
        """The advice in lines of text: changes, then training, then what λ is made of."""
        lines = []
        if self.inputs is not None:
            lines.append(
                f"inputs with ‖x_t‖₂ ≤ {exactly(self.inputs.size)}: {self._of(self.inputs)}"
            )
        lines += self.train
        if self.weights is not None:
            size = f"recurrent weights times {exactly(self.weights.size)}"
            lines.append(f"{size}: {self._of(self.weights)}")
        elif self.skipped is None:
            lines.append("no smaller recurrent weights that were tried are certified")
        else:
            lines.append(self.skipped)
        if len(self.layers) > 1:
            lines.append(f"λ of each layer (estimates): {', '.join(map(_estimate, self.layers))}")
        if self.drivers:
            drivers = ", ".join(f"{part}: {_estimate(lam)}" for part, lam in self.drivers)
            lines.append(f"λ without the recurrent weights of one part (estimates): {drivers}")
        if self.kept is not None and self.epsilon < 1:
            gate, bound, k = self.kept
            duration = "never" if k is None else f"in {k} steps"
            lines.append(
                f"the {gate} may reach {factor(bound)} for these inputs: then a unit shrinks to "
                f"{exactly(self.epsilon)} of its size {duration}"
            )
        return lines

    def _of(self, change: Certified) -> str:
        k = (
            "no k is known"
            if change.k is None
            else f"k = {change.k} at ε = {exactly(self.epsilon)}"
        )
        return f"certified, λ = {factor(change.lam)} in the {change.norm} norm, {k}"


def _estimate(lam: float) -> str:
    return at_least(lam, 3, below=1.0) if lam < math.inf else "∞"


Tries = Callable[[LoadedModel[Any], InputBound], tuple[str, float, int | None] | None]


def advise(
    model: LoadedModel[Any],
    kind: Kind,
    B: InputBound,
    epsilon: float,
    lam: float,
    constants: Mapping[str, float],
    tries: Tries,
) -> Advice:
    """Advise on a model with the best factor lam ≥ 1 and those constants, for inputs ‖x_t‖₂ ≤ B.
    `tries` certifies a model under a bound: (norm, λ, k at ε), or None."""
    train = training_calls(kind, B)
    kept = _kept(kind, constants, epsilon)
    size = sum(len(part) for role, part in model.weights.items() if _RECURRENT.fullmatch(role))
    if size > _ROWS:
        skipped = (
            f"no smaller weights or inputs were tried: the recurrent weights of all gates and "
            f"layers have {size} rows, more than {_ROWS}"
        )
        return Advice((), (), None, None, kept, train, epsilon, skipped)
    with torch.no_grad():
        search = _Search(model, kind, B, lam, tries)
        layers = search.layers(1.0, B)
        return Advice(
            search.drivers(layers), tuple(layers), search.weights(), search.inputs(), kept, train,
            epsilon,
        )  # fmt: skip


@dataclass(frozen=True)
class _Search:
    model: LoadedModel[Any]
    kind: Kind
    B: InputBound
    lam: float
    tries: Tries

    @property
    def vanilla(self) -> bool:
        """True if λ is proportional to W for all inputs: vanilla and linear cells."""
        return self.kind.projects or self.kind.name.startswith((PREFIX + "rnn", PREFIX + "linear"))

    def scaled(self, scale: float) -> dict[str, Tensor]:
        """The weights as stored, the recurrent ones times the scale."""
        weights = self.model.weights.items()
        return {
            role: part * scale if scale != 1 and _RECURRENT.fullmatch(role) else part
            for role, part in weights
        }

    def layers(self, scale: float, B: InputBound) -> list[float]:
        """The estimated factors of the layers; of vanilla ones from what was certified."""
        if self.vanilla and "_l1" not in "".join(self.model.weights):
            return [self.lam * scale]
        estimates: list[float] = factors(self.kind, self.scaled(scale), B).tolist()
        return [math.inf if math.isnan(lam) else lam for lam in estimates]

    def drivers(self, layers: Sequence[float]) -> tuple[tuple[str, float], ...]:
        """λ of the worst layer without the recurrent weights of each gate."""
        gates = GATES.get(self.kind.name.removeprefix(PREFIX), ())
        worst = max(range(len(layers)), key=layers.__getitem__)
        role = f"weight_hh_l{worst}" if len(layers) > 1 else "weight_hh"
        estimates = []
        for place, gate in enumerate(gates):
            weights = dict(self.model.weights)
            weights[role] = weights[role].clone()
            weights[role].chunk(len(gates))[place].zero_()
            lam = factors(self.kind, weights, self.B)[worst].item()
            part = f"{gate} in layer {worst + 1}" if len(layers) > 1 else gate
            estimates.append((part, math.inf if math.isnan(lam) else lam))
        return tuple(sorted(estimates, key=lambda pair: pair[1]))

    def weights(self) -> Certified | None:
        """The largest scale of the recurrent weights."""
        if not any(map(_RECURRENT.fullmatch, self.model.weights)):
            return None

        def certified(scale: float) -> tuple[str, float, int | None] | None:
            weights = self.scaled(scale)
            cell = self.kind.build({role: part.double()[None] for role, part in weights.items()})
            return self.tries(replace(self.model, cell=cell, weights=weights), self.B)

        return _largest(lambda scale: max(self.layers(scale, self.B)), certified, 1.0)

    def inputs(self) -> Certified | None:
        """The largest B, of cells whose factor it is that depends on it."""
        if self.vanilla or self.B == 0:
            return None
        return _largest(
            lambda B: max(self.layers(1.0, B)), lambda B: self.tries(self.model, B), float(self.B)
        )


def _largest(
    estimate: Callable[[float], float],
    try_size: Callable[[float], tuple[str, float, int | None] | None],
    top: float,
) -> Certified | None:
    """The largest size below the top, to two digits, that is certified, as far as was tried."""
    low, high = top * _LEAST, top
    if not estimate(low) < 1:
        return None
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high) if low < high / 2 else (low + high) / 2
        low, high = (middle, high) if estimate(middle) < 1 else (low, middle)
    for _ in range(_TRIES):
        low = _two_digits(low)
        if (result := try_size(low)) is not None:
            norm, lam, k = result
            return Certified(low, lam, norm, k)
        low *= 0.98
    return None


def _two_digits(size: float) -> float:
    """The size to two significant digits, rounded down."""
    places = 1 - math.floor(math.log10(size))
    return float(f"{math.floor(size * 10.0**places * (1 + 1e-12))}e{-places}")


def _kept(
    kind: Kind, constants: Mapping[str, float], epsilon: float
) -> tuple[str, float, int | None] | None:
    """The gate that keeps the state, the largest f̄ of any layer, and the least k with f̄ᵏ ≤ ε."""
    constant, gate = _KEPT.get(kind.name.removeprefix(PREFIX), (None, ""))
    bounds = [value for name, value in constants.items() if _LAYER.sub("", name) == constant]
    if not bounds or not (bound := max(bounds)) <= 1:
        return None
    return gate, bound, least_window(1.0, bound, epsilon, 1.0)


def training_calls(kind: Kind, B: InputBound) -> tuple[str, ...]:
    """The calls in training that make a model of such a cell certified, in lines of text."""
    inner = kind.name.removeprefix(PREFIX)
    bound = f"inputs={_inputs(B)}"
    penalty = f"contraction(module, {bound}"
    if kind.mode is None and not kind.name.startswith(PREFIX) and inner not in GATES:
        penalty = f"contraction(weights, {bound}, cell={kind.name!r}"
    calls = [f"train with a penalty: loss + c * torch.relu(rnnbounds.{penalty}) - {TARGET:g})"]
    if (inner in GATES and inner != "gru-cho") or inner in ("rnn-tanh", "rnn-relu"):
        calls.append(f"or project after each step: rnnbounds.stable_(module, {TARGET:g}, {bound})")
    return tuple(calls)


def _inputs(B: InputBound) -> str:
    """The inputs in a call: the box that was asked about, of few channels or equal ones, else its
    ball."""
    if isinstance(B, InputSet) and B.rows is None:
        sides = {(low, high) for low, high in zip(B.low.tolist(), B.high.tolist(), strict=True)}
        if len(sides) == 1:
            ((low, high),) = sides
            return f"rnnbounds.input_box({exactly(low)}, {exactly(high)}, {B.d})"
        if B.d <= _FEW:
            low = ", ".join(exactly(-float(to_copy(-endpoint))) for endpoint in B.low.tolist())
            high = ", ".join(map(to_copy, B.high.tolist()))
            return f"rnnbounds.input_box([{low}], [{high}])"
    return to_copy(float(B))
