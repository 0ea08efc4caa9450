"""The certificate of a truncated file: what a checker can prove from the file, and nothing else.

A certificate of `impl.certificate.certify` says more: which other norms were tried, what is known
of training, how the model was read. None of it is proved again, so it stays out of the file; what
is worth keeping all the same stands apart, as information. Free of torch.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

SCHEMA = "rnnbounds/truncated-certificate/2"
WHOLE = "rnnbounds/certificate/1"
NAMES = ("model", "tensors", "ignored", "unread")
# Of inputs the words, of what the record states the ends; a bound on rounding that is not proved.
INFORMATION = (*NAMES, "inputs", "rounding")
OF_STATES = (
    "B_x", "S_0", "B_h", "drive", "radius", "equivalence", "reach", "steps", "gain"
)  # fmt: skip
CONSTANTS = ("L_rho", "M_rho", "W_norm", "U_norm", "L_x", *OF_STATES)  # of a vanilla cell

_TEXTS = ("cell", "dtype", "sha256", "norm", "verdict")
_KEPT = (*_TEXTS, "lambda", "input_bound", "weights")
_BOX = ("set", "low", "high")
_PROOF = ("box", "layers")
_KEYS = {
    "schema", *_KEPT, *_PROOF, "inputs", "shape", "constants", "truncation", "rounding",
    "information",
}  # fmt: skip
_NORM = {"norm", "lambda", "weights", "steps", "drive", "equivalence", "reach", "radius"}
_LAYER = {"norm", "bounded", "coupling", "input_bound", "box"}


class RecordError(ValueError):
    """A record that states more, less or something else than its format."""


def stated(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a whole certificate; of a record itself, a copy of it.

    Raises LookupError, TypeError and AttributeError for what is neither.
    """
    if certificate.get("schema") != WHOLE:
        return dict(certificate)
    constants, rounding = certificate["constants"], certificate["rounding"]
    box, proof = certificate["inputs"], {key: certificate.get(key) for key in _PROOF}
    names = CONSTANTS if proof == dict.fromkeys(_PROOF) else OF_STATES
    weights = certificate["weights"]
    if proof["layers"] is not None:  # which have their norms with them
        weights = [row[0] for row in weights]
    return {
        "schema": SCHEMA,
        **{key: certificate[key] for key in _KEPT},
        "weights": weights,
        **proof,
        "inputs": None if box is None else {key: box[key] for key in _BOX},
        "shape": {key: certificate["shape"][key] for key in ("n", "d")},
        "constants": {key: ({"steps": 1} | constants)[key] for key in names},
        "truncation": [
            {"eps": entry["eps"], "k": entry["k"]}
            for entry in certificate["truncation"]
            if entry["k"] is not None
        ],
        "rounding": {
            "dtype": rounding["dtype"],
            "state": rounding["state"] if names == CONSTANTS else None,  # of others none is proved
        },
        "information": {key: certificate[key] for key in NAMES if key in certificate}
        | ({} if box is None else {"inputs": box["what"]})
        | ({} if names == CONSTANTS else {"rounding": rounding["state"]}),
    }


def left_out(whole: Mapping[str, Any], told: Mapping[str, Any]) -> list[str]:
    """The names of what a whole certificate says and its record does not: nothing proves it."""
    inner = [
        f"{part}.{name}"
        for part in ("shape", "constants")
        for name in whole[part]
        if name not in told[part]
    ]
    return [name for name in whole if name not in {*told, *told["information"]}] + inner


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


@dataclass(frozen=True)
class Record:
    """What a record states; constants, and the bound on rounding, are infinite where none is known.

    inputs: the ends of the box that all inputs lie in beside ‖x‖₂ ≤ input_bound, None for that ball
    alone. windows: pairs (ε, k). weights: those of the norm, as they stand in the record; of a
    stack those of its layers. box: the sides of the states' box, infinite where there is none, of
    a cell that is neither vanilla nor a stack.
    """

    cell: str
    dtype: str
    digest: str
    n: int
    d: int
    norm: str
    lam: float
    input_bound: float
    inputs: tuple[list[float], list[float]] | None
    weights: list[Any] | None
    constants: Mapping[str, float]
    windows: tuple[tuple[float, int], ...]
    rounding: float
    box: list[float] | None
    layers: tuple[Layer, ...] | None

    @property
    def stated(self) -> Stated:
        """Its norm."""
        known = self.constants
        return Stated(
            self.norm, self.lam, self.weights, int(known["steps"]),
            *(known[name] for name in ("drive", "equivalence", "reach", "radius")),
        )  # fmt: skip

    @property
    def longest(self) -> set[int]:
        """The windows k."""
        return {k for _, k in self.windows}


def record(told: Any) -> Record:
    """What a parsed record states; raises RecordError unless it has each key and no other, each of
    its type, and numbers that are finite and ≥ 0."""
    require_keys(told, _KEYS)
    require_keys(told["shape"], {"n", "d"})
    require_keys(told["rounding"], {"dtype", "state"})
    if (told["schema"], told["verdict"]) != (SCHEMA, "certified"):
        raise RecordError("certifies nothing")
    if not all(type(told[key]) is str for key in _TEXTS):
        raise RecordError("a name is no text")
    if told["rounding"]["dtype"] != told["dtype"]:
        raise RecordError("rounding of another dtype")
    if type(told["constants"]) is not dict or type(told["information"]) is not dict:
        raise RecordError("constants, or information, are none")
    if not told["information"].keys() <= set(INFORMATION):
        raise RecordError("information of another kind")
    weights = told["weights"]
    if not (weights is None or type(weights) is list):
        raise RecordError("weights are no list")
    return Record(
        cell=told["cell"],
        dtype=told["dtype"],
        digest=told["sha256"],
        n=whole(told["shape"]["n"]),
        d=whole(told["shape"]["d"]),
        norm=told["norm"],
        lam=number(told["lambda"]),
        input_bound=number(told["input_bound"]),
        inputs=_inputs(told["inputs"], told["shape"]["d"], number(told["input_bound"])),
        weights=weights,
        constants={name: _known(value) for name, value in told["constants"].items()},
        windows=windows_of(told["truncation"]),
        rounding=_known(told["rounding"]["state"]),
        box=_sides(told["box"]),
        layers=None if told["layers"] is None else tuple(map(_layer, _listed(told["layers"]))),
    )


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


def ends(told: Mapping[str, Any], d: object, bound: float) -> tuple[list[float], list[float]]:
    """`low` and `high` of a box of d channels that meets ‖x‖₂ ≤ B; raises RecordError."""
    if not all(type(told[end]) is list and len(told[end]) == d for end in ("low", "high")):
        raise RecordError("a box of other channels")
    low, high = ([signed(value) for value in told[end]] for end in ("low", "high"))
    if any(a > b for a, b in zip(low, high, strict=True)):
        raise RecordError("a box with nothing in it")
    nearest = (Fraction(max(a, -b, 0.0)) for a, b in zip(low, high, strict=True))
    if sum(x**2 for x in nearest) > Fraction(bound) ** 2:
        raise RecordError("a box of which the ball holds nothing")
    return low, high


def windows_of(told: object) -> tuple[tuple[float, int], ...]:
    """Pairs (ε, k), one at least and no ε = 0; raises RecordError. A factor that is a float needs
    fewer than 2⁶⁴ steps from the greatest float to the least."""
    if type(told) is not list or not told:
        raise RecordError("no window")
    for entry in told:
        require_keys(entry, {"eps", "k"})
    windows = tuple((number(entry["eps"]), whole(entry["k"], 2**64)) for entry in told)
    if any(epsilon == 0 for epsilon, _ in windows):
        raise RecordError("ε = 0")
    return windows


def _known(value: object) -> float:
    return math.inf if value is None else number(value)


def _inputs(told: Any, d: object, bound: float) -> tuple[list[float], list[float]] | None:
    """The ends of a box; rows are not kept in a file."""
    if told is None:
        return None
    require_keys(told, set(_BOX))
    if told["set"] != "box":
        raise RecordError("inputs that are no box")
    return ends(told, d, bound)


def _layer(told: Any) -> Layer:
    require_keys(told, _LAYER)
    bounded = None if told["bounded"] is None else _stated(told["bounded"])
    sizes = (number(told["coupling"]), number(told["input_bound"]))
    return Layer(_stated(told["norm"]), bounded, *sizes, _sides(told["box"]))


def _stated(told: Any) -> Stated:
    require_keys(told, _NORM)
    if type(told["norm"]) is not str:
        raise RecordError("a name is no text")
    weights = None if told["weights"] is None else _listed(told["weights"])
    sizes = (number(told["drive"]), number(told["equivalence"]))
    ends = (_known(told["reach"]), _known(told["radius"]))
    lam = number(told["lambda"])
    return Stated(told["norm"], lam, weights, whole(told["steps"]), *sizes, *ends)


def _sides(told: Any) -> list[float] | None:
    return None if told is None else [_known(side) for side in _listed(told)]


def _listed(told: Any) -> list[Any]:
    if type(told) is not list:
        raise RecordError("no list")
    return told
