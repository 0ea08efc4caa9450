"""The kinds of systems, and what gated cells and the kinds in exact rationals choose among."""

from __future__ import annotations

from typing import Literal

Kind = Literal[
    "linear", "rnn", "matrix", "unstable", "descent",
    "gradient", "smooth", "training", "quadratic", "projection",
    "unitary", "urnn", "block", "candidate", "sigmoid", "planted",
    "lstm", "gru", "gru-cho",
]  # fmt: skip
# How gated cells are drawn, the simplest first.
GATED_REGIMES = ("zero", "candidate", "signs", "gaussian", "stable", "steep")
GATED: dict[str, tuple[str, ...]] = dict.fromkeys(("lstm", "gru", "gru-cho"), GATED_REGIMES)
# Constructors of the kinds that are built and decided in rationals, the simplest first.
EXACT_REGIMES: dict[str, tuple[str, ...]] = {
    "unitary": ("zero", "diagonal", "pythagorean", "near", "nilpotent"),
    "urnn": ("identity", "signed", "cayley"),
    "block": ("identity", "signed", "cayley", "dilation", "multiple"),
    "candidate": (
        "dilated", "unrelated", "solved", "rotated", "rescaled", "similar", "approximate", "scalar",
    ),
    "sigmoid": ("unrelated", "lumped", "held", "mixed", "cancelling"),
    "planted": ("none", "duplicates", "signs", "constant", "undriven", "chain", "all"),
}  # fmt: skip
# Where the kind prescribes the activation.
ACTIVATIONS_OF: dict[str, tuple[str, ...]] = {
    "unitary": ("relu",),
    "candidate": ("relu",),
    "sigmoid": ("sigmoid", "tanh", "relu"),
    "planted": ("tanh",),
}
# Rationals grow along a run.
EXACT_LIMITS = {"n": 32, "d": 32, "T": 256, "states": 64}
LONGEST = 2**11  # n T together
# Where a kind takes derivatives in all inputs, or lists all relations.
TIGHTER_LIMITS: dict[str, dict[str, int]] = {
    "candidate": {"n": 8, "d": 8, "T": 32, "states": 24},
    "sigmoid": {"n": 3, "d": 1, "states": 32},
    "planted": {"n": 16, "d": 1, "T": 16},
}
