"""How far a causal model looks back, counted rightly and wrongly, from its spec alone."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

from properties.errors import SpecError

if TYPE_CHECKING:
    from properties.systems.spec import SystemSpec

# Models are looked at window by window, each of which is a run of its own.
MOST = {"n": 16, "d": 16, "T": 512, "layers": 8, "taps": 16, "dilation": 16}
# Of the models that must tell the oldest input apart in float64.
MOST_MONOTONE = {"n": 1, "d": 1, "scale": 1.0, "layers": 4, "taps": 4}
MONOTONE_INPUTS = ("constant", "gaussian", "impulse", "zero")
WIDEST = 512
LARGEST = 2.0**20


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


def check_causal(spec: SystemSpec) -> None:
    """Raise SpecError for a causal model that cannot be built, or takes too long to look at."""
    known = ("relu", "tanh") if architecture(spec) == "tcn" else ("tanh",)
    if spec.activation not in known:
        raise SpecError(f"a {spec.kind} of this regime has the activation {' or '.join(known)}")
    if spec.values is not None:
        raise SpecError(f"a {spec.kind} is drawn, not written out")
    monotone = spec.kind == "monotone"
    for name, most in (MOST | (MOST_MONOTONE if monotone else {"scale": LARGEST})).items():
        if getattr(spec, name) > most:
            raise SpecError(f"{name} = {getattr(spec, name)} exceeds {most}, of a {spec.kind}")
    if spec.inputs == "resonant" or (monotone and spec.inputs not in MONOTONE_INPUTS):
        raise SpecError(f"a {spec.kind} has no {spec.inputs} inputs")
    if fields(spec)["R"] > WIDEST:
        raise SpecError(f"the receptive field {fields(spec)['R']:g} exceeds {WIDEST}")
