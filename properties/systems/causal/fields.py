"""How far a causal model looks back, counted rightly and wrongly, from its spec alone."""

from __future__ import annotations

from math import nan

from msgspec.structs import replace

from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.systems.spec import SystemSpec, spec_of
from rnnbounds.properties.systems.spec_choices import INPUTS

# Models are looked at window by window, each of which is a run of its own.
MODULE_LIMITS: dict[str, float] = {
    "n": 16, "d": 16, "T": 512, "layers": 8, "taps": 16, "dilation": 16,
    "scale": 2.0**20,
}  # fmt: skip
# Of the models that must tell the oldest input apart in float64.
MONOTONE_LIMITS: dict[str, float] = {"scale": 1.0, "layers": 4, "taps": 4}
MONOTONE_INPUTS = ("constant", "gaussian", "impulse", "zero")
LARGEST_FIELD = 512
# What is drawn sees no further.
LARGEST_DRAWN_FIELD = 40


def module_kind(spec: SystemSpec) -> str:
    """The model's own kind: of the monotone ones it is the regime."""
    return spec.regime if spec.kind == "monotone" else spec.kind


def dilations(spec: SystemSpec) -> list[int]:
    """d_l = dilation^l."""
    return [spec.dilation**l for l in range(spec.layers)]


def layer_shapes(spec: SystemSpec) -> list[tuple[int, int]]:
    """(K_l, d_l) of every layer that looks back, in order."""
    pairs = [(spec.taps, d) for d in dilations(spec)]
    match module_kind(spec):
        case "tcn":
            return [pair for pair in pairs for _ in range(2)]
        case "wavenet":
            return [(spec.taps, 1), *pairs]
        case "attention":
            return [(spec.taps, 1)] * spec.layers
        case _:
            return pairs


def receptive_fields(spec: SystemSpec) -> dict[str, float]:
    """The receptive field R, and what it is mistaken for, by the names of the vocabulary."""
    layers = layer_shapes(spec)
    residual_blocks = layers[::2] if module_kind(spec) == "tcn" else []
    values = {
        "R": 1 + sum((K - 1) * d for K, d in layers),
        "R_undilated": 1 + sum(K - 1 for K, _ in layers),
        "R_widest": 1 + max((K - 1) * d for K, d in layers),
        "R_halved": 1 + sum((K - 1) * d for K, d in residual_blocks) if residual_blocks else nan,
        "R_overlap": sum(K * d for K, d in layers),
    }
    return {name: float(value) for name, value in values.items()}


def fit_length(spec: SystemSpec, extra_steps: int) -> SystemSpec:
    """The spec with few enough layers, and sequences longer than what it may be said to see."""
    while spec.layers > 1 and receptive_fields(spec)["R_overlap"] > LARGEST_DRAWN_FIELD:
        spec = replace(spec, layers=spec.layers - 1)
    T = int(receptive_fields(spec)["R_overlap"]) + extra_steps
    return replace(spec, T=T, K=T)


def check_causal(spec: SystemSpec) -> None:
    """Raise SpecError for a causal model that cannot be built, or takes too long to look at."""
    known = MONOTONE_INPUTS if spec.kind == "monotone" else INPUTS
    if spec.inputs == "resonant" or spec.inputs not in known:
        raise SpecError(f"a {spec.kind} has no {spec.inputs} inputs")
    if receptive_fields(spec)["R"] > LARGEST_FIELD:
        raise SpecError(
            f"the receptive field {receptive_fields(spec)['R']:g} exceeds {LARGEST_FIELD}"
        )


COMMON_FIELDS = "T K regime inputs layers taps dilation scale bias"
REGIMES = ("gaussian", "signs", "steep")
Tcn = spec_of(
    "tcn", f"activation n d {COMMON_FIELDS}", activations=("relu", "tanh"), regimes=REGIMES,
    limits=MODULE_LIMITS,
    check=check_causal,
)  # fmt: skip
GatedConv, WaveNet, Attention = (
    spec_of(kind, f"n d {COMMON_FIELDS}", regimes=REGIMES, limits=MODULE_LIMITS, check=check_causal)
    for kind in ("gated-conv", "wavenet", "attention")
)
Monotone = spec_of(
    "monotone", COMMON_FIELDS, regimes=("tcn", "gated-conv", "wavenet", "attention"),
    limits=MODULE_LIMITS | MONOTONE_LIMITS, check=check_causal,
)  # fmt: skip
