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
from rnnbounds.properties.systems.cells import cell_weights
from rnnbounds.properties.systems.cells.batch import Cells
from rnnbounds.properties.systems.cells.cell_weights import (
    Generator,
    Weights,
    draw_bias,
    draw_input_matrix,
    draw_recurrent,
)
from rnnbounds.properties.systems.drawing.draws import Array, member_generator
from rnnbounds.properties.systems.spec import SystemSpec

# The shares of the inputs' bound that are asked for as ε, in turn by the members of a batch.
SHARES = (1.0, 0.25, 0.0625)
CACHED_MODELS = 4096
# How many rows a table of inputs has, and how many steps a number up to its bound.
ROWS, GRID = 3, 8
Tensor = torch.Tensor
T = TypeVar("T")
MemberMaker = Callable[[SystemSpec, int], T]
# What is drawn of cells that are no layers of torch's, by how their names begin.
OWN_CELLS: dict[str, Callable[[SystemSpec, Generator], Weights]] = {
    "lstm-projected": cell_weights.draw_projected_lstm,
    "leaky": cell_weights.draw_leaky,
    "deep": cell_weights.draw_deep,
}


def cached_by(
    select: Callable[[SystemSpec], SystemSpec],
) -> Callable[[MemberMaker[T]], MemberMaker[T]]:
    """Keep what is made of a spec and a member, for that part of the spec which it depends on."""

    def cache_member(make: MemberMaker[T]) -> MemberMaker[T]:
        cached = lru_cache(maxsize=CACHED_MODELS)(make)
        return wraps(make)(lambda spec, member: cached(select(spec), member))

    return cache_member


def draw_weights(spec: SystemSpec, rng: Generator) -> Weights:
    """Drawn weights by the names of their layout; layers of a stack one after another."""
    cell, stacked = spec.cell.removeprefix(PREFIX), spec.cell.startswith(PREFIX)
    for name, family in OWN_CELLS.items():
        if f"{cell}-".startswith(f"{name}-"):
            return draw_stack_layers(spec, rng, family) if stacked else family(spec, rng)
    layers = draw_torch_layers(spec, rng, kind_of(cell).gates, spec.layers if stacked else 1)
    if stacked:
        return layers
    return {name.removesuffix("_l0"): part for name, part in layers.items()}


def draw_stack_layers(
    spec: SystemSpec, rng: Generator, family: Callable[[SystemSpec, Generator], Weights]
) -> Weights:
    """Layers of other cells, each fed by the outputs of the one below."""
    weights: Weights = {}
    layout, inputs = kind_of(spec.cell.removeprefix(PREFIX)).layout, spec.d
    for layer in range(spec.layers):
        layer_weights = family(replace(spec, d=inputs), rng)
        weights |= {f"{name}_l{layer}": part for name, part in layer_weights.items()}
        inputs = layout(layer_weights).sizes(layer_weights).n  # type: ignore[arg-type]
    return weights


def draw_shift_or_recurrent(spec: SystemSpec, rng: Generator) -> Array:
    """A recurrent matrix; a shift is nilpotent, so that the norms differ most."""
    n = spec.n
    if spec.regime == "shift":
        return np.eye(n, k=-1) * spec.lam
    return draw_recurrent(spec, rng, n, n)


def draw_torch_layers(spec: SystemSpec, rng: Generator, gates: int, layers: int) -> Weights:
    """Layers of cells whose gates are stacked, each of n outputs."""
    weights: Weights = {}
    n, inputs = spec.n, spec.d
    for layer in range(layers):
        for name, part in (
            ("weight_hh", [draw_shift_or_recurrent(spec, rng) for _ in range(gates)]),
            ("weight_ih", [draw_input_matrix(spec, rng, n, inputs) for _ in range(gates)]),
            ("bias_ih", [draw_bias(spec, rng, n) for _ in range(gates)]),
            ("bias_hh", [draw_bias(spec, rng, n) for _ in range(gates)]),
        ):
            weights[f"{name}_l{layer}"] = torch.cat(
                [torch.from_numpy(block) for block in part]
            ).numpy()
        inputs = n
    return weights


@dataclass(frozen=True, eq=False)
class StoredCells(Cells):
    """Cells with the weights as they are stored, in float64: each bias by itself."""

    stored_weights: dict[str, Tensor] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, Tensor]:
        """The weights as stored."""
        return self.stored_weights

    def member(self, index: int) -> Self:
        """One model, as a batch of one."""
        parts = {role: part[index : index + 1] for role, part in self.stored_weights.items()}
        return dataclasses.replace(super().member(index), stored_weights=parts)


def unbounded_box(raw: Tensor) -> InvariantBox:
    """The box of all states (B, N, S), which none leaves."""
    free = torch.full_like(raw[:, :, 0], torch.inf)
    return InvariantBox(free, free, free, torch.zeros(len(free), dtype=torch.bool))


def stack_weights(models: Sequence[LoadedModel[Any]]) -> dict[str, Tensor]:
    """The weights of models of one kind, (B, …) by name."""
    return {
        role: torch.stack([one.weights[role].double() for one in models])
        for role in models[0].weights
    }


def load_member(spec: SystemSpec, member: int) -> LoadedModel[Any]:
    """The model of a member, read as a user's is."""
    arrays, kind = draw_weights(spec, member_generator(spec, member)), kind_of(spec.cell)
    dtype = getattr(torch, spec.dtype)
    tensors = {
        name + kind.suffix: torch.from_numpy(part.copy()).to(dtype) for name, part in arrays.items()
    }
    return load_model(tensors, spec.cell)


def epsilons(spec: SystemSpec) -> tuple[float, ...]:
    """The ε that are asked for; inputs that saturate units move states by no more than 1."""
    return tuple(spec.epsilon * min(spec.scale, 1.0) * share for share in SHARES)


def epsilon_index(spec: SystemSpec, member: int) -> int:
    """Which of the ε a member is judged by."""
    return (spec.seed + member) % len(SHARES)


def draw_input_set(spec: SystemSpec, member: int, d: int) -> float:
    """Draw the input set of a member's certificate: the bound B, or rows or a box of short numbers
    that are exact in the model's dtype."""
    if spec.over == "ball":
        return spec.scale
    rng = member_generator(spec, member, stream=5)
    table = torch.from_numpy(rng.integers(-GRID, GRID + 1, (ROWS, d)) / GRID * spec.scale)
    if spec.over == "rows":
        return input_rows(table)
    return input_box(torch.minimum(*table[:2]), torch.maximum(*table[:2]))


def layer_certificate(
    model: LoadedModel[Any], certificate: Certificate, layer: int
) -> tuple[LoadedModel[Any], Certificate]:
    """A layer of a stack as a model, with what the stack's certificate prints of it.

    The first one reads the inputs of the stack, the others a ball of outputs. No k is printed of a
    layer, so that by itself it is undecided.
    """
    suffix, rows = f"_l{layer}", certificate.weights or ()
    row = rows[layer] if layer < len(rows) else ()
    assert isinstance(row, tuple)
    constants = {
        name.removesuffix(suffix): value
        for name, value in certificate.constants.items()
        if name.endswith(suffix)
    }
    name = certificate.cell.removeprefix(PREFIX)
    layer_weights = weights_of(model.weights, layer)
    layer_model = LoadedModel(
        model.cell.layers[layer], name, model.dtype, layer_weights, model.source
    )
    layer_record = dataclasses.replace(
        certificate,
        cell=name,
        n=layer_model.n,
        d=layer_model.d,
        lam=constants["lam"],
        verdict="undecided" if certificate.verdict == "certified" else certificate.verdict,
        input_bound=constants["B_x"],
        constants=constants,
        windows=tuple((epsilon, None) for epsilon, _ in certificate.windows),
        weights=row[1:] or None,
        rounding=None,
        inputs=None if layer else certificate.inputs,
    )
    return layer_model, layer_record


def model_fields_only(spec: SystemSpec) -> SystemSpec:
    """Reduce a spec to the fields that its models depend on, whatever inputs they run on."""
    return replace(
        spec, inputs="constant", T=1, K=0, batch=1, sequences=1, member=None, sequence=None,
        distance=0.25,
    )  # fmt: skip


@cached_by(lambda spec: replace(model_fields_only(spec), layer=0))
def certified_whole_model(spec: SystemSpec, member: int) -> tuple[LoadedModel[Any], Certificate]:
    """The model of a member, of all layers, and its certificate."""
    model = load_member(spec, member)
    return model, certify(
        model,
        draw_input_set(spec, member, model.d),
        epsilons(spec),
        spec.norm,
    )


def certified_model(spec: SystemSpec, member: int) -> tuple[LoadedModel[Any], Certificate]:
    """The model of a member and its certificate, whatever it runs on; of a layer, its own."""
    pair = certified_whole_model(spec, member)
    return layer_certificate(*pair, spec.layer - 1) if spec.layer else pair


@cached_by(model_fields_only)
def proved_box(spec: SystemSpec, member: int) -> InvariantBox | None:
    """Prove a member's box invariant under the inputs of its certificate; None for cells without
    a box."""
    model, certificate = certified_model(spec, member)
    if not hasattr(model.cell, "proved_box"):
        return None
    box: InvariantBox = model.cell.proved_box(
        certificate.input_bound if certificate.inputs is None else certificate.inputs
    )
    return box


@cached_by(model_fields_only)
def unitary_network(spec: SystemSpec, member: int) -> UnitaryModel | None:
    """The unitary network of a ReLU model; None if there is none."""
    model, certificate = certified_model(spec, member)
    try:
        return unitary(model, certificate.input_bound)
    except (NotReluError, NoUnitaryError):
        return None
