"""Experiments: each trains or draws something, compares, and writes a page and a record."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from rnnbounds.properties.errors import UnknownChoiceError

_STABLE, _UNITARY = "rnnbounds.experiments.stable", "rnnbounds.experiments.unitary"
_AGAIN = "rnnbounds.experiments.replications"
HOMES: Mapping[str, str] = {
    "truncation-curve": f"{_STABLE}.truncation_curve",
    "gradient-decay": f"{_STABLE}.gradient_decay",
    "data-stability": f"{_STABLE}.data_stability",
    "weights-apart": f"{_STABLE}.weights_apart",
    "urnn": f"{_UNITARY}.urnn",
    "permuted-digits": f"{_UNITARY}.permuted_digits",
    "stable-vs-unstable": f"{_AGAIN}.stable_vs_unstable",
    "feed-forward": f"{_AGAIN}.feed_forward",
    "deep-cell": f"{_AGAIN}.deep_cell",
    "similarity": f"{_AGAIN}.similarity",
    "sigmoid-gap": f"{_AGAIN}.sigmoid_gap",
}
"""The module of each experiment, which ends with its EXPERIMENT; imported when it is asked for."""


def find_experiment(name: str) -> Any:
    """The experiment of that name; raises UnknownChoiceError."""
    if name not in HOMES:
        raise UnknownChoiceError("experiment", name, tuple(HOMES))
    return import_module(HOMES[name]).EXPERIMENT
