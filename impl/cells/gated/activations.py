"""Activations of gates, candidates and outputs by name, over any arithmetic.

    hard-sigmoid        min(1, max(0, (v + 3)/6)), torch's and that of Keras 3
    hard-sigmoid-α-β    min(1, max(0, αv + β)), ONNX's; Keras 2 has α = 0.2, β = 0.5
    affine-α-β          αv + β
    scaled-tanh-α-β     α tanh(βv)
    leaky-relu-α        v where v > 0, else αv

and each activation of `impl.arithmetic.activation`. α and β are decimal numbers and stand for the
nearest float32 each, as ONNX stores them. All of it is composed: min(1, max(0, u)) is
1 − max(0, 1 − max(0, u)), which encloses its values and its slopes without loss.
Source: the operators RNN, LSTM and GRU of ONNX, version 22.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.errors import UnknownActivationError, UnknownNameError

HARD_SIGMOID = "hard-sigmoid"
_NUMBER = r"-?\d{1,40}(?:\.\d{1,50})?"
_NAME = re.compile(rf"([a-z]+(?:-[a-z]+)*)((?:-{_NUMBER})*)", re.ASCII)
Composed = Callable[..., Any]


def _clipped(m: Any, v: Any) -> Any:
    """min(1, max(0, v))."""
    return 1.0 - m.activate("relu", 1.0 - m.activate("relu", v))


_COMPOSED: Mapping[tuple[str, int], Composed] = {  # by name and how many numbers follow
    (HARD_SIGMOID, 0): lambda m, v: _clipped(m, (3.0 + v) * v.constant(6.0).reciprocal()),
    (HARD_SIGMOID, 2): lambda m, v, a, b: _clipped(m, a * v + b),
    ("affine", 2): lambda m, v, a, b: a * v + b,
    ("scaled-tanh", 2): lambda m, v, a, b: a * (b * v).tanh(),
    ("leaky-relu", 1): lambda m, v, a: a * v + (1.0 - v.constant(a)) * m.activate("relu", v),
}


def numbered(name: str, *numbers: float) -> str:
    """The name of an activation with these float32 numbers, in their shortest decimals.

    >>> numbered("hard-sigmoid", 0.2, 0.5)
    'hard-sigmoid-0.2-0.5'
    """
    texts = (np.format_float_positional(np.float32(a), trim="-") for a in numbers)
    return "-".join((name, *texts))


@cache
def _parsed(name: str) -> tuple[Composed | None, tuple[float, ...]]:
    """The composition of that name with its numbers; None for a function of the table.

    Raises UnknownActivationError.
    """
    if name in ACTIVATIONS:
        return None, ()
    match = _NAME.fullmatch(name)
    numbers = re.findall(rf"-({_NUMBER})", match[2]) if match else []
    composed = _COMPOSED.get((match[1], len(numbers))) if match else None
    values = tuple(float(np.float32(a)) for a in numbers)
    if composed is None or not np.isfinite(values).all():
        raise UnknownActivationError(name, [*ACTIVATIONS, *known_forms()])
    return composed, values


def known_forms() -> tuple[str, ...]:
    """How the activations with numbers are written: `leaky-relu-0.2`."""
    usual = (("0.2", "0.5"), ("0.2",), ())
    return tuple(
        "-".join((name, *next(u for u in usual if len(u) == count))) for name, count in _COMPOSED
    )


def check_activation(name: str, *, gate: bool = False) -> None:
    """Raise UnknownNameError for a name that is no activation; of a gate, for all but σ and hard
    sigmoids, whose values are between 0 and 1."""
    _parsed(name)
    if gate and name != "sigmoid" and not name.startswith(HARD_SIGMOID):
        forms = ["sigmoid", HARD_SIGMOID, HARD_SIGMOID + "-0.2-0.5"]
        raise UnknownNameError("activation of gates", name, forms)


def activate(m: Arithmetic[V], name: str, v: V) -> V:
    """ρ(v) for an activation of that name.

    >>> activate(m, "hard-sigmoid-0.2-0.5", v)
    """
    composed, numbers = _parsed(name)
    if composed is not None:
        found: V = composed(m, v, *numbers)
        return found
    if name in ("sigmoid", "tanh"):
        return v.sigmoid() if name == "sigmoid" else v.tanh()
    return m.activate(name, v)
