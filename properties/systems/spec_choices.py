"""Choices and limits of the fields of specs."""

from __future__ import annotations

from rnnbounds.properties.systems.drawing.explicit import Values as Values

REGIMES = (
    "orthogonal",
    "gaussian",
    "symmetric",
    "diagonal",
    "permutation",
    "block",
    "rank-one",
    "nilpotent",
    "shear",
    "similar",
    "zero",
)


INPUTS = ("constant", "gaussian", "alternating", "impulse", "resonant", "saturating", "zero")


# What a spec says even where it is as by default: without it, it is of no system in particular.
REQUIRED_FIELDS = ("kind", "n", "d", "T", "seed")


TRAINED = ("WUb", "W", "U", "WU", "b", "Wb", "Ub")


LOSSES = ("squared", "linear", "cross-entropy")


BALLS = ("spectral", "infinity", "frobenius")


CHOICES = {
    "inputs": INPUTS, "trained": TRAINED, "loss": LOSSES, "ball": BALLS,
}  # fmt: skip


NUMBERS = ("lam", "scale", "bias", "epsilon", "alpha", "target", "distance", "start")


LIMITS = {
    "n": 512, "d": 512, "T": 100_000, "K": 4_096, "batch": 65_536, "sequences": 4_096,
    "steps": 10_000, "states": 1024, "units": 512, "layers": 64, "taps": 64, "dilation": 64,
}  # fmt: skip


LEAST = {"K": 0, "steps": 0, "units": 0}


# What one batch may hold: 1 GiB of float64.
ENTRIES = 2**27
