"""The kinds of systems, and what gated cells and the kinds in exact rationals choose among."""

from __future__ import annotations

from typing import Literal

Kind = Literal[
    "linear", "rnn", "matrix", "unstable", "descent",
    "gradient", "smooth", "training", "quadratic", "projection",
    "unitary", "urnn", "block", "candidate", "sigmoid", "planted",
    "lstm", "gru", "gru-cho",
    "lstm-projected", "leaky", "deep", "diagonal", "min-gru", "min-lstm", "selective", "stack",
    "tcn", "gated-conv", "wavenet", "attention", "monotone",
    "layered", "cascade", "modes", "jordan", "scan", "certified",
    "certified-rnn", "certified-relu",
]  # fmt: skip
# How gated cells are drawn, the simplest first.
GATED_REGIMES = ("zero", "candidate", "driven", "signs", "gaussian", "stable", "steep")
GATED: dict[str, tuple[str, ...]] = dict.fromkeys(("lstm", "gru", "gru-cho"), GATED_REGIMES)
# Of every kind of cell, gated ones first, how it is drawn.
CELL_KINDS: dict[str, tuple[str, ...]] = GATED | {
    **dict.fromkeys(("lstm-projected", "leaky", "deep"), ("zero", "driven", "signs", "gaussian")),
    "diagonal": ("zero", "driven", "real", "complex", "lru", "s4d"),
    **dict.fromkeys(("min-gru", "min-lstm", "selective"), ("driven", "gaussian")),
    "stack": ("driven", "rnn", "gru", "lstm"),
}
# Real models with the certificates that ship for them; how their weights are drawn, and in what.
CERTIFIED: Kind = "certified"
# The same, of smooth vanilla cells, for what is certified of training them.
CERTIFIED_RNN: Kind = "certified-rnn"
# Of ReLU networks, with the unitary networks that ship for them.
CERTIFIED_RELU: Kind = "certified-relu"
CERTIFIED_KINDS = (CERTIFIED, CERTIFIED_RNN, CERTIFIED_RELU)
CERTIFIED_REGIMES = ("zero", "driven", "signs", "gaussian", "shift")
DTYPES = ("float64", "float32", "bfloat16", "float16")
# What `about` may say for any of several kinds.
FAMILIES: dict[str, tuple[Kind, ...]] = {
    "cell": (
        "lstm", "lstm-projected", "gru", "gru-cho", "leaky", "deep", "diagonal", "min-gru",
        "min-lstm", "selective", "stack",
    ),
}  # fmt: skip
# Causal models by the regime of their weights, the monotone ones by their architecture.
CAUSAL: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("tcn", "gated-conv", "wavenet", "attention"), ("gaussian", "signs", "steep")),
    "monotone": ("tcn", "gated-conv", "wavenet", "attention"),
}
# Constructors of the kinds that are built and decided in rationals, the simplest first.
EXACT_REGIMES: dict[str, tuple[str, ...]] = {
    "unitary": ("zero", "diagonal", "pythagorean", "near", "nilpotent"),
    "urnn": ("identity", "signed", "cayley"),
    "block": ("identity", "signed", "cayley", "dilation", "multiple"),
    "candidate": (
        "dilated", "unrelated", "solved", "rotated", "rescaled", "similar", "approximate", "scalar",
    ),
    "sigmoid": ("unrelated", "lumped", "held", "mixed", "cancelling"),
    "layered": ("zero", "identity", "signed", "nilpotent", "cancelling", "gaussian"),
    "cascade": ("positive", "equal", "signed", "gaussian"),
    "modes": ("real", "complex"),
    "jordan": ("block", "turned"),
    "scan": ("min-gru", "min-lstm", "selective"),
    "planted": ("none", "duplicates", "signs", "constant", "undriven", "chain", "all"),
}  # fmt: skip
# Where the kind prescribes the activation.
ACTIVATIONS_OF: dict[str, tuple[str, ...]] = {
    "unitary": ("relu",),
    "candidate": ("relu",),
    "sigmoid": ("sigmoid", "tanh", "relu"),
    "planted": ("tanh",),
    "cascade": ("identity", "relu", "leaky-relu"),
    **dict.fromkeys(("modes", "jordan", "scan"), ("identity",)),
}
# Rationals grow along a run.
EXACT_LIMITS = {"n": 32, "d": 32, "T": 256, "states": 64}
LONGEST = 2**11  # n T together
# Where a kind takes derivatives in all inputs, or lists all relations.
TIGHTER_LIMITS: dict[str, dict[str, int]] = {
    "candidate": {"n": 8, "d": 8, "T": 32, "states": 24},
    "sigmoid": {"n": 3, "d": 1, "states": 32},
    "planted": {"n": 16, "d": 1, "T": 16},
    "layered": {"n": 8, "T": 16, "layers": 8},
    "cascade": {"n": 8, "T": 32},
    "modes": {"n": 1, "T": 32},
    "jordan": {"n": 3, "T": 64},
    "scan": {"n": 1, "d": 1, "T": 32},
}
