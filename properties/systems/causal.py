"""Feed-forward causal models with drawn weights, in float64: convolutions and windowed attention.

With K_l taps d_l apart, a layer l looks back (K_l − 1) d_l inputs; attention has K_l positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.models.causal import TCN, GatedConvolution, WaveNet, WindowedAttention
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.systems.batch import Batch, BatchParts
from rnnbounds.properties.systems.draws import (
    Array,
    draw_each_member,
    draw_inputs,
    grid_normals,
    member_generator,
)
from rnnbounds.properties.systems.kind import (
    DrawRequest,
    Kind,
    draw_choices,
    pick,
    seeds,
    spec_grid,
)
from rnnbounds.properties.systems.spec import SystemSpec, spec_of
from rnnbounds.properties.systems.vanilla.networks import Networks, build_networks

MODULES: dict[str, Callable[[SystemSpec], torch.nn.Module]] = {
    "tcn": lambda spec: TCN(spec.d, spec.n, spec.taps, dilations(spec), "relu"),
    "gated-conv": lambda spec: GatedConvolution(spec.d, spec.n, spec.taps, dilations(spec)),
    "wavenet": lambda spec: WaveNet(spec.d, spec.n, spec.taps, dilations(spec)),
    "attention": lambda spec: WindowedAttention(
        spec.d, spec.n, spec.taps, spec.layers, heads=2 - spec.n % 2
    ),
}
INPUTS = ("gaussian", "constant", "impulse", "alternating", "zero")
LARGEST_FIELD = 512
# What is drawn sees no further.
LARGEST_DRAWN_FIELD = 40


def dilations(spec: SystemSpec) -> list[int]:
    """d_l = dilation^l."""
    return [spec.dilation**l for l in range(spec.layers)]


def receptive_field(spec: SystemSpec) -> int:
    """R = 1 + Σ (K_l − 1) d_l: a block of a TCN has two convolutions, WaveNet one before all."""
    distances = [1] * spec.layers if spec.regime == "attention" else dilations(spec)
    count = {"tcn": 2 * sum(distances), "wavenet": 1 + sum(distances)}
    return 1 + (spec.taps - 1) * count.get(spec.regime, sum(distances))


def check_causal(spec: SystemSpec) -> None:
    """Raise SpecError for a causal model that cannot be built, or takes too long to look at."""
    if spec.inputs not in INPUTS:
        raise SpecError(f"a causal model has no {spec.inputs} inputs")
    if receptive_field(spec) > LARGEST_FIELD:
        raise SpecError(f"the receptive field {receptive_field(spec)} exceeds {LARGEST_FIELD}")


# Models are looked at window by window, each of which is a run of its own.
Causal = spec_of(
    "causal", "n d T K regime inputs layers taps dilation scale bias", regimes=tuple(MODULES),
    limits={"n": 16, "d": 16, "T": 512, "layers": 8, "taps": 16, "dilation": 16, "scale": 2.0**20},
    check=check_causal,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class CausalModels(Networks):
    """Feed-forward models, and networks of zeros in the place of cells."""

    modules: tuple[torch.nn.Module, ...] = ()

    def forgotten_bound(self, batch: Batch) -> Array:
        """Return 0: nothing is forgotten, as no state runs."""
        return np.zeros((1, 1, 1))

    def parameter(self, batch: Batch, name: str) -> Array | None:
        """R as the models themselves state it."""
        if name != "R":
            return None
        fields: set[Any] = {module.field for module in self.modules}
        (stated,) = fields
        return np.full((1, 1, 1), float(stated))


def build_models(spec: SystemSpec, device: str) -> BatchParts:
    """The models of all members."""
    parts = build_networks(draw_each_member(draw_numbers), spec, device)
    models = tuple(build_module(spec, member).to(device) for member in spec.members)
    return parts._replace(systems=CausalModels(**vars(parts.systems), modules=models))


def build_module(spec: SystemSpec, member: int) -> torch.nn.Module:
    """One member's model: normal weights, halved, in the order of the module's parameters."""
    with torch.random.fork_rng(devices=[]):  # no random number of torch's own is used, nor lost
        module = MODULES[spec.regime](spec)
    generator = member_generator(spec, member)
    tensors = {
        name: torch.from_numpy(
            grid_normals(generator, weights.numel()).reshape(tuple(weights.shape))
            * (spec.bias if name.endswith("bias") else 0.5)
        )
        for name, weights in module.named_parameters()
    }
    module.load_state_dict(tensors, assign=True)
    return module.requires_grad_(False)


def batch_modules(batch: Batch) -> tuple[torch.nn.Module, ...]:
    """The models of a batch, one for each member."""
    assert isinstance(batch.systems, CausalModels)
    return batch.systems.modules


def draw_numbers(spec: SystemSpec, member: int) -> dict[str, Array]:
    """The inputs of one member; no recurrent weights at all."""
    n, d, S = spec.n, spec.d, spec.sequences
    none = {"W": (n, n), "U": (n, d), "b": (n,), "C": (1, n), "h": (S, n), "h_other": (S, n)}
    x = draw_inputs(spec, member_generator(spec, member, stream=2), 1)
    return {name: np.zeros(shape) for name, shape in none.items()} | {"x": x}


def fit_length(spec: SystemSpec, extra_steps: int) -> SystemSpec:
    """The spec with few enough layers, and sequences longer than it sees."""
    while spec.layers > 1 and receptive_field(spec) > LARGEST_DRAWN_FIELD:
        spec = replace(spec, layers=spec.layers - 1)
    T = receptive_field(spec) + extra_steps
    return replace(spec, T=T, K=T)


def worst_models() -> Iterator[SystemSpec]:
    """Every architecture with one layer and with several, with one tap, and with holes."""
    base = Causal(inputs="gaussian", n=2, d=2, batch=2, sequences=2, seed=7)
    shapes = {"layers": (1, 1, 3, 2, 2), "taps": (1, 4, 2, 2, 3), "dilation": (1, 1, 2, 4, 3)}
    for spec in spec_grid(base, {"regime": Causal.regimes}, shapes):
        yield fit_length(spec, 3)


@st.composite
def draw_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """A model of 1 to 3 layers, on sequences longer than its receptive field."""
    choices = draw_choices(
        draw, regime=Causal.regimes, inputs=INPUTS, n=(2, 1, 3, 4), d=(1, 2), layers=(2, 1, 3, 2),
        taps=(2, 3, 4, 1), dilation=(2, 1, 3, 4), scale=(1.0, 0.25, 4.0), bias=(0.5, 0.0),
    )  # fmt: skip
    spec = Causal(seed=draw(seeds()), batch=wanted.batch, sequences=wanted.sequences, **choices)
    return fit_length(spec, draw(pick((1, 2, 4, 7))))


KINDS = (
    Kind(
        Causal, draw_spec, build_models, attrgetter("regime"), worst_models,
        family="causal",
    ),
)  # fmt: skip
