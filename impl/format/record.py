"""The record of a truncated model: what a checker can prove from its file, and nothing else.

A certificate of `certify` says more: which other norms were tried, what is known of training, how
the model was read. None of it is proved again, so it stays out of the file; what is worth keeping
all the same stands apart, as information.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, field
from msgspec.structs import replace

from rnnbounds.impl.format.fields import (
    Bound,
    Exactly,
    Layer,
    Other,
    RecordError,
    Shape,
    Size,
    Stated,
    StatedSet,
    Window,
    converted,
    record_inputs,
)

SCHEMA: Literal["rnnbounds/truncated-certificate/2"] = "rnnbounds/truncated-certificate/2"
WHOLE = "rnnbounds/certificate/1"
NAMES = ("model", "tensors", "ignored", "unread")
OF_STATES = (
    "B_x", "S_0", "B_h", "drive", "radius", "equivalence", "reach", "gain"
)  # fmt: skip
CONSTANTS = ("L_rho", "M_rho", "W_norm", "U_norm", "L_x", *OF_STATES)  # of a vanilla cell
_KEPT = ("cell", "dtype", "sha256", "norm", "verdict", "lambda", "input_bound", "weights")
_PROOF = ("box", "layers")
GONE = ("diagonal-sdp", "gate-sdp", "iterated")  # norms of earlier versions
_OF_NORM = ("drive", "equivalence", "reach", "radius")  # constants
OTHERS = "other_norms"  # of constants that are less in another norm, where there are any


class GoneError(RecordError):
    """A certificate of an earlier version, by what this one proves no more."""

    def __init__(self, what: str) -> None:
        super().__init__(f"rests on {what}, which this version proves no more")


class Rounding(Exactly, frozen=True):
    """The bound on ‖fl(h_t) − h_t‖₂."""

    dtype: str
    state: Bound


class Record(Exactly, frozen=True):
    """Statements of a record; see `impl.checker.truncated` for each part.

    inputs: the set of all inputs beside ‖x‖₂ ≤ input_bound, None for that ball alone. weights:
    those of the norm, for a stack those of its layers. box: the sides of the states' box, infinite
    if there is none, for a cell that is neither vanilla nor a stack. information: the names of the
    source and its tensors, the inputs in words, an unproved bound on rounding. unit_gains: how far
    inputs 1 apart drive each unit of the state, where the gain follows from that.
    """

    schema: Literal["rnnbounds/truncated-certificate/2"]
    cell: str
    dtype: str
    digest: str = field(name="sha256")
    norm: str
    verdict: Literal["certified"]
    lam: Size = field(name="lambda")
    input_bound: Size
    weights: list[Any] | None
    box: list[Bound] | None
    layers: tuple[Layer, ...] | None
    inputs: StatedSet | None
    shape: Shape
    constants: dict[str, Bound]
    truncation: Annotated[tuple[Window, ...], Meta(min_length=1)]
    rounding: Rounding
    information: dict[
        Literal["model", "tensors", "ignored", "unread", "inputs", "rounding"], Any
    ]  # fmt: skip
    others: dict[Literal["gain", "rounding"], Other] = field(name=OTHERS, default_factory=dict)
    unit_gains: list[Size] | None = None

    def __post_init__(self) -> None:
        if self.rounding.dtype != self.dtype:
            raise RecordError("rounding of another dtype")
        if self.inputs is not None:
            self.inputs.require(self.shape.d, self.input_bound)

    @property
    def stated(self) -> Stated:
        """Its norm."""
        ends = {name: self.constants[name] for name in _OF_NORM}
        return Stated(self.norm, self.lam, self.weights, **ends)

    def of(self, constant: str) -> "Record":
        """The record in the norm in which that constant is stated."""
        if (one := self.others.get(constant)) is None:  # type: ignore[call-overload]
            return self
        changed = {name: Bound(getattr(one, name)) for name in _OF_NORM}
        return replace(
            self, norm=one.name, lam=one.lam, weights=one.weights, layers=one.layers, others={},
            constants={**self.constants, **changed, "B_h": one.states},
        )  # fmt: skip

    @property
    def longest(self) -> set[int]:
        """The windows k."""
        return {one.k for one in self.truncation}


def record(document: object) -> Record:
    """Convert parsed JSON to a `Record`; raises RecordError, GoneError of an earlier version's."""
    return converted(_current(document), Record)


def _current(document: Any) -> Any:
    """A document without the one step that earlier versions state of each norm; raises GoneError
    where windows are by pieces, rounding is that of other products, a readout has several stages,
    or a norm is one of those that are gone."""
    if not isinstance(document, dict):
        return document
    if document.get("pieces") is not None:
        raise GoneError("windows by pieces")
    rounding = document.get("rounding")
    if isinstance(rounding, dict) and "arithmetic" in rounding:
        raise GoneError("the rounding of other products than those of IEEE 754")
    readout = document.get("readout")
    if isinstance(readout, dict) and "chain" in readout:
        raise GoneError("a readout of several stages")
    parts = {
        name: document[name] for name in ("norm", "constants", "layers", OTHERS) if name in document
    }
    return document | _of_one_step(parts, 6)


def _of_one_step(part: Any, depth: int) -> Any:
    """The part without the number of steps of its norms, 1 of each, down to this depth."""
    if isinstance(part, list) and depth:
        return [_of_one_step(each, depth - 1) for each in part]
    if not isinstance(part, dict) or not depth:
        return part
    if part.get("norm") in GONE:
        raise GoneError(f"the {part['norm']} norm")
    return {
        name: _of_one_step(each, depth - 1)
        for name, each in part.items()
        if name != "steps" or type(each) is not int or each != 1
    }


def stated(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a whole certificate, or of a record itself.

    Raises GoneError, and LookupError, TypeError and AttributeError for what is neither.
    """
    certificate = _current(dict(certificate))
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
        "inputs": record_inputs(box),
        "shape": {key: certificate["shape"][key] for key in ("n", "d")},
        "constants": {key: constants[key] for key in names},
        "truncation": [
            {"eps": entry["eps"], "k": entry["k"]}
            for entry in certificate["truncation"]
            if entry["k"] is not None
        ],
        "rounding": {  # of others than vanilla cells none is proved
            "dtype": rounding["dtype"],
            "state": rounding["state"] if names == CONSTANTS else None,
        },
        "information": {key: certificate[key] for key in NAMES if key in certificate}
        | ({} if box is None else {"inputs": box["what"]})
        | ({} if names == CONSTANTS else {"rounding": rounding["state"]}),
        **({OTHERS: others} if others else {}),
        **({"unit_gains": units} if (units := certificate.get("unit_gains")) is not None else {}),
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
