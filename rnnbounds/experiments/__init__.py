"""Experiments: each trains or draws something, certifies, compares, and writes a page."""

from importlib import import_module
from typing import Any

from rnnbounds.properties.errors import UnknownChoiceError

NAMES = (
    "truncation-curve", "gradient-decay", "data-stability", "weights-apart", "stable-vs-unstable",
    "feed-forward", "deep-cell", "urnn", "permuted-digits", "similarity", "sigmoid-gap",
)  # fmt: skip
"""Experiments by name; each is the EXPERIMENT of its module, imported when it is asked for."""


def find_experiment(name: str) -> Any:
    """The experiment of that name; raises UnknownChoiceError."""
    if name not in NAMES:
        raise UnknownChoiceError("experiment", name, NAMES)
    return import_module(f"rnnbounds.experiments.{name.replace('-', '_')}").EXPERIMENT
