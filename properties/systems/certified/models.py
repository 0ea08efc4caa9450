"""A member of a certified system: a model as a user has it, and what `certify` makes of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from typing import Any, Self, TypeVar

import numpy as np
import torch
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.inputs.sets import input_box, input_rows
from rnnbounds.impl.arithmetic.invariance import InvariantBox
from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.stacks.stack import layer_weights as weights_of
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.convert.unitary import NotReluError, NoUnitaryError, UnitaryModel, unitary
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.training.certificate import Task
from rnnbounds.properties.systems.cells import drawn
from rnnbounds.properties.systems.cells.batch import Cells
from rnnbounds.properties.systems.cells.drawn import Generator, Weights, fed, offset, recurrent
from rnnbounds.properties.systems.drawing.regimes import Array, generator
from rnnbounds.properties.systems.spec import SystemSpec

# The shares of the inputs' bound that are asked for as ε, in turn by the members of a batch.
SHARES = (1.0, 0.25, 0.0625)
KEPT = 4096
# How many rows a table of inputs has, and how many steps a number up to its bound.
ROWS, GRID = 3, 8
Tensor = torch.Tensor
T = TypeVar("T")
Made = Callable[[SystemSpec, int], T]
# What is drawn of cells that are no layers of torch's, by how their names begin.
OWN: dict[str, Callable[[SystemSpec, Generator], Weights]] = {
    "lstm-projected": drawn.projected,
    "leaky": drawn.leaky,
    "deep": drawn.deep,
    "diagonal": drawn.diagonal,
    "min-gru": drawn.min_gru,
    "min-lstm": drawn.min_lstm,
    "selective": drawn.selective,
}


def kept_for(part: Callable[[SystemSpec], SystemSpec]) -> Callable[[Made[T]], Made[T]]:
    """Keep what is made of a spec and a member, for that part of the spec which it depends on."""

    def kept(make: Made[T]) -> Made[T]:
        known = lru_cache(maxsize=KEPT)(make)
        return wraps(make)(lambda spec, member: known(part(spec), member))

    return kept


def weights(spec: SystemSpec, rng: Generator) -> Weights:
    """Drawn weights by the names of their layout; layers of a stack one after another."""
    cell, stacked = spec.cell.removeprefix(PREFIX), spec.cell.startswith(PREFIX)
    for name, family in OWN.items():
        if f"{cell}-".startswith(f"{name}-"):
            return of_own(spec, rng, family) if stacked else family(spec, rng)
    found = of_torch(spec, rng, kind_of(cell).gates, spec.layers if stacked else 1)
    if stacked:
        return found
    return {name.removesuffix("_l0"): part for name, part in found.items()}


def of_own(
    spec: SystemSpec, rng: Generator, family: Callable[[SystemSpec, Generator], Weights]
) -> Weights:
    """Layers of other cells, each fed by the outputs of the one below."""
    found: Weights = {}
    layout, below = kind_of(spec.cell.removeprefix(PREFIX)).layout, spec.d
    for layer in range(spec.layers):
        one = family(replace(spec, d=below), rng)
        found |= {f"{name}_l{layer}": part for name, part in one.items()}
        below = layout(one).sizes(one).n  # type: ignore[arg-type]
    return found


def carried(spec: SystemSpec, rng: Generator) -> Array:
    """A recurrent matrix; a shift is nilpotent, so that the norms differ most."""
    n = spec.n
    if spec.regime == "shift":
        return np.eye(n, k=-1) * spec.lam
    return recurrent(spec, rng, n, n)


def of_torch(spec: SystemSpec, rng: Generator, gates: int, layers: int) -> Weights:
    """Layers of cells whose gates are stacked, each of n outputs."""
    found: Weights = {}
    n, below = spec.n, spec.d
    for layer in range(layers):
        for name, part in (
            ("weight_hh", [carried(spec, rng) for _ in range(gates)]),
            ("weight_ih", [fed(spec, rng, n, below) for _ in range(gates)]),
            ("bias_ih", [offset(spec, rng, n) for _ in range(gates)]),
            ("bias_hh", [offset(spec, rng, n) for _ in range(gates)]),
        ):
            found[f"{name}_l{layer}"] = torch.cat([torch.from_numpy(one) for one in part]).numpy()
        below = n
    return found


@dataclass(frozen=True, eq=False)
class Stored(Cells):
    """Cells with the weights as they are stored, in float64: each bias by itself."""

    parts: dict[str, Tensor] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, Tensor]:
        """The weights as stored."""
        return self.parts

    def member(self, index: int) -> Self:
        """One model, as a batch of one."""
        parts = {role: part[index : index + 1] for role, part in self.parts.items()}
        return dataclasses.replace(super().member(index), parts=parts)


def anywhere(raw: Tensor) -> InvariantBox:
    """The box of all states (B, N, S), which none leaves."""
    free = torch.full_like(raw[:, :, 0], torch.inf)
    return InvariantBox(free, free, free, torch.zeros(len(free), dtype=torch.bool))


def parts_of(models: Sequence[LoadedModel[Any]]) -> dict[str, Tensor]:
    """The weights of models of one kind, (B, …) by name."""
    return {
        role: torch.stack([one.weights[role].double() for one in models])
        for role in models[0].weights
    }


def loaded(spec: SystemSpec, member: int) -> LoadedModel[Any]:
    """The model of a member, read as a user's is."""
    drawn, kind = weights(spec, generator(spec, member)), kind_of(spec.cell)
    dtype = getattr(torch, spec.dtype)
    tensors = {
        name + kind.suffix: torch.from_numpy(part.copy()).to(dtype) for name, part in drawn.items()
    }
    return load_model(tensors, spec.cell)


def epsilons(spec: SystemSpec) -> tuple[float, ...]:
    """The ε that are asked for; inputs that saturate units move states by no more than 1."""
    return tuple(spec.epsilon * min(spec.scale, 1.0) * share for share in SHARES)


def chosen(spec: SystemSpec, member: int) -> int:
    """Which of the ε a member is judged by."""
    return (spec.seed + member) % len(SHARES)


def inputs_of(spec: SystemSpec, member: int, d: int) -> float:
    """Draw the input set of a member's certificate: the bound B, or rows or a box of short numbers
    that are exact in the model's dtype."""
    if spec.over == "ball":
        return spec.scale
    rng = generator(spec, member, stream=5)
    table = torch.from_numpy(rng.integers(-GRID, GRID + 1, (ROWS, d)) / GRID * spec.scale)
    if spec.over == "rows":
        return input_rows(table)
    return input_box(torch.minimum(*table[:2]), torch.maximum(*table[:2]))


def layer_of(
    model: LoadedModel[Any], certificate: Certificate, layer: int
) -> tuple[LoadedModel[Any], Certificate]:
    """A layer of a stack as a model, with what the stack's certificate prints of it.

    The first one reads the inputs of the stack, the others a ball of outputs. No k is printed of a
    layer, so that by itself it is undecided.
    """
    end, rows = f"_l{layer}", certificate.weights or ()
    row = rows[layer] if layer < len(rows) else ()
    assert isinstance(row, tuple)
    constants = {
        name.removesuffix(end): value
        for name, value in certificate.constants.items()
        if name.endswith(end)
    }
    name = certificate.cell.removeprefix(PREFIX)
    own = weights_of(model.weights, layer)
    part = LoadedModel(model.cell.layers[layer], name, model.dtype, own, model.source)
    told = dataclasses.replace(
        certificate,
        cell=name,
        n=part.n,
        d=part.d,
        lam=constants["lam"],
        verdict="undecided" if certificate.verdict == "certified" else certificate.verdict,
        input_bound=constants["B_x"],
        constants=constants,
        windows=tuple((epsilon, None) for epsilon, _ in certificate.windows),
        weights=row[1:] or None,
        rounding=None,
        training=None,
        inputs=None if layer else certificate.inputs,
    )
    return part, told


def alone(spec: SystemSpec) -> SystemSpec:
    """Reduce a spec to the fields that its models depend on, whatever inputs they run on."""
    return replace(
        spec, inputs="constant", T=1, K=0, batch=1, sequences=1, member=None, sequence=None,
        distance=0.25,
    )  # fmt: skip


@kept_for(lambda spec: replace(alone(spec), layer=0))
def certified_whole(spec: SystemSpec, member: int) -> tuple[LoadedModel[Any], Certificate]:
    """The model of a member, of all layers, and its certificate."""
    model, trains = loaded(spec, member), kind_of(spec.cell).trains
    return model, certify(
        model,
        inputs_of(spec, member, model.d),
        epsilons(spec),
        spec.norm,
        training=Task(loss=spec.loss) if trains else None,
    )


def certified(spec: SystemSpec, member: int) -> tuple[LoadedModel[Any], Certificate]:
    """The model of a member and its certificate, whatever it runs on; of a layer, its own."""
    found = certified_whole(spec, member)
    return layer_of(*found, spec.layer - 1) if spec.layer else found


@kept_for(alone)
def held(spec: SystemSpec, member: int) -> InvariantBox | None:
    """Prove a member's box invariant under the inputs of its certificate; None for cells without
    a box."""
    model, told = certified(spec, member)
    if not hasattr(model.cell, "proved_box"):
        return None
    found: InvariantBox = model.cell.proved_box(
        told.input_bound if told.inputs is None else told.inputs
    )
    return found


@kept_for(alone)
def equivalent(spec: SystemSpec, member: int) -> UnitaryModel | None:
    """The unitary network of a ReLU model, every third one rescaled; None if there is none."""
    model, certificate = certified(spec, member)
    rescaled = chosen(spec, member) == 0
    try:
        return unitary(model, certificate.input_bound, rescale=rescaled)
    except (NotReluError, NoUnitaryError):
        return None
