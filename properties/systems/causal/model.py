"""Causal models from specs: modules whose weights are drawn, in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import ClassVar

import numpy as np
import torch

from rnnbounds.impl.models.causal.attention import WindowedAttention
from rnnbounds.impl.models.causal.convolution import TCN, GatedConvolution, WaveNet
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.causal.fields import dilations, module_kind, receptive_fields
from rnnbounds.properties.systems.drawing.draws import (
    Array,
    draw_inputs,
    grid_normals,
    member_generator,
)
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.supply.route import BatchParts
from rnnbounds.properties.systems.vanilla.networks import Networks
from rnnbounds.properties.systems.vanilla.route import NetworkRoute

MODULE_BUILDERS: dict[str, Callable[[SystemSpec], torch.nn.Module]] = {
    "tcn": lambda spec: TCN(spec.d, spec.n, spec.taps, dilations(spec), spec.activation),
    "gated-conv": lambda spec: GatedConvolution(spec.d, spec.n, spec.taps, dilations(spec)),
    "wavenet": lambda spec: WaveNet(spec.d, spec.n, spec.taps, dilations(spec)),
    "attention": lambda spec: WindowedAttention(
        spec.d, spec.n, spec.taps, spec.layers, heads=2 - spec.n % 2
    ),
}


def build_module(spec: SystemSpec, member: int) -> torch.nn.Module:
    """One member's model, weights in the order of the module's parameters.

    gaussian: normal weights, halved; signs: ±1; steep: eight times as large, so that gates and
    softmax saturate. monotone: positive weights between ¼ and ½, but no queries and keys.
    """
    with torch.random.fork_rng(devices=[]):  # no random number of torch's own is used, nor lost
        module = MODULE_BUILDERS[module_kind(spec)](spec)
    shapes = {name: weights.shape for name, weights in module.named_parameters()}
    z = grid_normals(
        member_generator(spec, member), sum(shape.numel() for shape in shapes.values())
    )
    parts = np.split(z, np.cumsum([shape.numel() for shape in shapes.values()])[:-1])
    tensors = {
        name: torch.from_numpy(scale_draws(spec, name, part).reshape(tuple(shape)))
        for (name, shape), part in zip(shapes.items(), parts, strict=True)
    }
    module.load_state_dict(tensors, assign=True)
    return module.requires_grad_(False)


def scale_draws(spec: SystemSpec, name: str, z: Array) -> Array:
    """Normal draws as the regime has them, for the parameter of that name."""
    scale = spec.bias if name.endswith("bias") else 0.5
    if spec.kind == "monotone":
        is_score = "query" in name or "key" in name
        return 0 * z if is_score else 0.25 + np.minimum(np.abs(z), 4.0) / 16
    if spec.regime == "signs":
        return np.copysign(1.0 if scale else 0.0, z)
    return z * scale * (8.0 if spec.regime == "steep" else 1.0)


@dataclass(frozen=True, eq=False)
class CausalModels(Networks):
    """Feed-forward models, and networks of zeros in the place of cells."""

    modules: tuple[torch.nn.Module, ...] = ()


class CausalRoute(NetworkRoute):
    """Feed-forward models."""

    causal: ClassVar[bool] = True

    def build_parts(self, spec: SystemSpec, device: str) -> BatchParts:
        """The models of all members."""
        network_parts = super().build_parts(spec, device)
        models = tuple(build_module(spec, member).to(device) for member in spec.members)
        return network_parts._replace(
            systems=CausalModels(**vars(network_parts.systems), modules=models)
        )

    def forgotten_bound(self, batch: Batch) -> Array:
        """Return 0: nothing is forgotten, as no state runs."""
        return np.zeros((1, 1, 1))

    def parameter(self, batch: Batch, name: str) -> Array:
        """R as the models themselves state it, and the wrong fields, beside the spec's numbers."""
        (stated_field,) = {float(getattr(module, "field", nan)) for module in batch_modules(batch)}
        values = receptive_fields(batch.spec) | {"R": stated_field}
        return (
            np.full((1, 1, 1), values[name]) if name in values else super().parameter(batch, name)
        )

    def display_name(self, spec: SystemSpec) -> str:
        """Name a model in explanations, by its kind."""
        return spec.kind


def batch_modules(batch: Batch) -> tuple[torch.nn.Module, ...]:
    """The models of a batch, one for each member."""
    assert isinstance(batch.systems, CausalModels)
    return batch.systems.modules


def draw_causal_numbers(spec: SystemSpec, member: int) -> dict[str, Array]:
    """The inputs of one member, not negative for a monotone model; no recurrent weights at all."""
    n, d, S = spec.n, spec.d, spec.sequences
    x = draw_inputs(spec, member_generator(spec, member, stream=2), 1)
    none = {"W": (n, n), "U": (n, d), "b": (n,), "C": (1, n), "h": (S, n), "h_other": (S, n)}
    zeros = {name: np.zeros(shape) for name, shape in none.items()}
    return zeros | {"x": np.abs(x) if spec.kind == "monotone" else x}
