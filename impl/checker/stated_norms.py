"""Norms, layers and numbers as a record of a truncated model states them, parsed strictly.

Free of torch. A number is finite and has the type that its key asks for; what is null is infinite,
where nothing is claimed.
"""

import math
from dataclasses import dataclass
from typing import Any

_NORM = {"norm", "lambda", "weights", "steps", "drive", "equivalence", "reach", "radius"}
_LAYER = {"norm", "bounded", "coupling", "input_bound", "box"}
_OTHER = _NORM | {"B_h", "layers"}


class RecordError(ValueError):
    """A record that states more, less or something else than its format."""


def require_keys(told: object, keys: set[str]) -> None:
    """Raises RecordError unless it has each of these keys and no other."""
    if type(told) is not dict or told.keys() != keys:
        raise RecordError("other keys than those of its format")


def number(value: object) -> float:
    """A finite number ≥ 0, as the float that it is; raises RecordError for anything else."""
    if type(value) is float and 0 <= value < math.inf:
        return value
    if type(value) is int and 0 <= value <= 2**53:
        return float(value)
    raise RecordError("no finite number ≥ 0")


def signed(value: object) -> float:
    """A finite number of either sign."""
    return -number(-value) if type(value) in (int, float) and value < 0 else number(value)  # type: ignore[operator]


def whole(value: object, most: int = 10**9) -> int:
    """An integer from 0 to the most that makes sense; raises RecordError for anything else."""
    if type(value) is int and 0 <= value <= most:
        return value
    raise RecordError("no integer ≥ 0")


def known(value: object) -> float:
    """A bound, infinite where it is null; raises RecordError."""
    return math.inf if value is None else number(value)


@dataclass(frozen=True)
class Stated:
    """A norm with its constants, as `impl.checker.cells.claimed` proves them; reach and radius are
    infinite where nothing is known."""

    name: str
    lam: float
    weights: list[Any] | None
    steps: int
    drive: float
    equivalence: float
    reach: float
    radius: float


@dataclass(frozen=True)
class Layer:
    """One layer of a stack: the norm in which it contracts, and the one that bounds its outputs if
    that is another; how far it moves with the layer below; the bound on its inputs; its box."""

    norm: Stated
    bounded: Stated | None
    coupling: float
    input_bound: float
    box: list[float] | None


def layer(told: Any) -> Layer:
    """One layer of a stack; raises RecordError."""
    require_keys(told, _LAYER)
    bounded = None if told["bounded"] is None else stated_norm(told["bounded"])
    sizes = (number(told["coupling"]), number(told["input_bound"]))
    return Layer(stated_norm(told["norm"]), bounded, *sizes, sides(told["box"]))


def stated_norm(told: Any) -> Stated:
    """A norm with its constants; raises RecordError."""
    require_keys(told, _NORM)
    if type(told["norm"]) is not str:
        raise RecordError("a name is no text")
    weights = None if told["weights"] is None else listed(told["weights"])
    sizes = (number(told["drive"]), number(told["equivalence"]))
    ends = (known(told["reach"]), known(told["radius"]))
    lam = number(told["lambda"])
    return Stated(told["norm"], lam, weights, whole(told["steps"]), *sizes, *ends)


def sides(told: Any) -> list[float] | None:
    """The sides of a box, infinite where they are null; raises RecordError."""
    return None if told is None else [known(side) for side in listed(told)]


def listed(told: Any) -> list[Any]:
    """A list; raises RecordError for anything else."""
    if type(told) is not list:
        raise RecordError("no list")
    return told


@dataclass(frozen=True)
class Other:
    """A norm in which one constant is stated that is less there than in the norm of the windows;
    states: a bound on ‖h_t‖₂ that follows in it; of a stack its layers in that norm."""

    norm: Stated
    states: float
    layers: tuple[Layer, ...] | None


def other(told: Any) -> Other:
    """One such norm; raises RecordError."""
    require_keys(told, _OTHER)
    layers = None if told["layers"] is None else tuple(map(layer, listed(told["layers"])))
    norm = stated_norm({key: told[key] for key in _NORM})
    return Other(norm, known(told["B_h"]), layers)
