"""The certificate of a truncated file: what a checker can prove from the file, and nothing else.

A certificate of `impl.certificate.certify` says more: which other norms were tried, what is known
of training, how the model was read. None of it is proved again, so it stays out of the file; what
is worth keeping all the same stands apart, as information. Free of torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from rnnbounds.impl.checker.stated_norms import Layer as Layer
from rnnbounds.impl.checker.stated_norms import Other, known, layer, listed, other, sides
from rnnbounds.impl.checker.stated_norms import RecordError as RecordError
from rnnbounds.impl.checker.stated_norms import Stated as Stated
from rnnbounds.impl.checker.stated_norms import number as number
from rnnbounds.impl.checker.stated_norms import require_keys as require_keys
from rnnbounds.impl.checker.stated_norms import signed as signed
from rnnbounds.impl.checker.stated_norms import whole as whole

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
OTHERS = "other_norms"  # of constants that are less in another norm, where there are any
OTHER = {"gain", "rounding"}
_KEYS = {
    "schema", *_KEPT, *_PROOF, "inputs", "shape", "constants", "truncation", "rounding",
    "information",
}  # fmt: skip


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
    others = certificate.get(OTHERS) or {}
    if names != CONSTANTS:  # of others than vanilla cells no rounding is proved
        others = {name: one for name, one in others.items() if name != "rounding"}
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
        **({OTHERS: others} if others else {}),
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
    others: Mapping[str, Other]
    scale: float = 1.0  # at least ‖C‖₂ of the readout that windows and gain are about

    @property
    def stated(self) -> Stated:
        """Its norm."""
        known = self.constants
        return Stated(
            self.norm, self.lam, self.weights, int(known["steps"]),
            *(known[name] for name in ("drive", "equivalence", "reach", "radius")),
        )  # fmt: skip

    def of(self, constant: str) -> "Record":
        """The record in the norm in which that constant is stated."""
        if constant not in self.others:
            return self
        one, told = self.others[constant], self.others[constant].norm
        names = ("steps", "drive", "equivalence", "reach", "radius")
        changed = {name: float(getattr(told, name)) for name in names} | {"B_h": one.states}
        return replace(
            self, norm=told.name, lam=told.lam, weights=told.weights, layers=one.layers, others={},
            constants={**self.constants, **changed},
        )  # fmt: skip

    @property
    def longest(self) -> set[int]:
        """The windows k."""
        return {k for _, k in self.windows}


def record(told: Any) -> Record:
    """What a parsed record states; raises RecordError unless it has each key and no other, each of
    its type, and numbers that are finite and ≥ 0."""
    require_keys(told, _KEYS | ({OTHERS} if type(told) is dict and OTHERS in told else set()))
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
        constants={name: known(value) for name, value in told["constants"].items()},
        windows=windows_of(told["truncation"]),
        rounding=known(told["rounding"]["state"]),
        box=sides(told["box"]),
        layers=None if told["layers"] is None else tuple(map(layer, listed(told["layers"]))),
        others=_others(told.get(OTHERS, {})),
    )


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


def _inputs(told: Any, d: object, bound: float) -> tuple[list[float], list[float]] | None:
    """The ends of a box; rows are not kept in a file."""
    if told is None:
        return None
    require_keys(told, set(_BOX))
    if told["set"] != "box":
        raise RecordError("inputs that are no box")
    return ends(told, d, bound)


def _others(told: Any) -> dict[str, Other]:
    """The norms of single constants, by the name of the constant."""
    if type(told) is not dict or not told.keys() <= OTHER:
        raise RecordError("norms of other constants")
    return {name: other(one) for name, one in told.items()}
