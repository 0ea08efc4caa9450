"""How far a causal model looks back, counted rightly and wrongly, from its spec alone."""

from __future__ import annotations

from math import nan

from msgspec.structs import replace

from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.systems.spec import INPUTS, SystemSpec, spec_of

# Models are looked at window by window, each of which is a run of its own.
MOST: dict[str, float] = {
    "n": 16, "d": 16, "T": 512, "layers": 8, "taps": 16, "dilation": 16,
    "scale": 2.0**20,
}  # fmt: skip
# Of the models that must tell the oldest input apart in float64.
MOST_MONOTONE: dict[str, float] = {"scale": 1.0, "layers": 4, "taps": 4}
MONOTONE_INPUTS = ("constant", "gaussian", "impulse", "zero")
WIDEST = 512
# What is drawn sees no further.
LONGEST = 40


def architecture(spec: SystemSpec) -> str:
    """The model's own kind: of the monotone ones it is the regime."""
    return spec.regime if spec.kind == "monotone" else spec.kind


def dilations(spec: SystemSpec) -> list[int]:
    """d_l = dilation^l."""
    return [spec.dilation**l for l in range(spec.layers)]


def layers_of(spec: SystemSpec) -> list[tuple[int, int]]:
    """(K_l, d_l) of every layer that looks back, in order."""
    pairs = [(spec.taps, d) for d in dilations(spec)]
    match architecture(spec):
        case "tcn":
            return [pair for pair in pairs for _ in range(2)]
        case "wavenet":
            return [(spec.taps, 1), *pairs]
        case "attention":
            return [(spec.taps, 1)] * spec.layers
        case _:
            return pairs


def fields(spec: SystemSpec) -> dict[str, float]:
    """The receptive field R, and what it is mistaken for, by the names of the vocabulary."""
    layers = layers_of(spec)
    blocks = layers[::2] if architecture(spec) == "tcn" else []
    found = {
        "R": 1 + sum((K - 1) * d for K, d in layers),
        "R_undilated": 1 + sum(K - 1 for K, _ in layers),
        "R_widest": 1 + max((K - 1) * d for K, d in layers),
        "R_halved": 1 + sum((K - 1) * d for K, d in blocks) if blocks else nan,
        "R_overlap": sum(K * d for K, d in layers),
    }
    return {name: float(value) for name, value in found.items()}


def fitted(spec: SystemSpec, longer: int) -> SystemSpec:
    """The spec with few enough layers, and sequences longer than what it may be said to see."""
    while spec.layers > 1 and fields(spec)["R_overlap"] > LONGEST:
        spec = replace(spec, layers=spec.layers - 1)
    T = int(fields(spec)["R_overlap"]) + longer
    return replace(spec, T=T, K=T)


def check_causal(spec: SystemSpec) -> None:
    """Raise SpecError for a causal model that cannot be built, or takes too long to look at."""
    known = MONOTONE_INPUTS if spec.kind == "monotone" else INPUTS
    if spec.inputs == "resonant" or spec.inputs not in known:
        raise SpecError(f"a {spec.kind} has no {spec.inputs} inputs")
    if fields(spec)["R"] > WIDEST:
        raise SpecError(f"the receptive field {fields(spec)['R']:g} exceeds {WIDEST}")


SHAPE = "T K regime inputs layers taps dilation scale bias"
REGIMES = ("gaussian", "signs", "steep")
Tcn = spec_of(
    "tcn", f"activation n d {SHAPE}", activations=("relu", "tanh"), regimes=REGIMES, limits=MOST,
    check=check_causal,
)  # fmt: skip
GatedConv, WaveNet, Attention = (
    spec_of(kind, f"n d {SHAPE}", regimes=REGIMES, limits=MOST, check=check_causal)
    for kind in ("gated-conv", "wavenet", "attention")
)
Monotone = spec_of(
    "monotone", SHAPE, regimes=("tcn", "gated-conv", "wavenet", "attention"),
    limits=MOST | MOST_MONOTONE, check=check_causal,
)  # fmt: skip
