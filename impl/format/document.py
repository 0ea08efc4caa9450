"""The documents that `certify` writes, by their schema; keys that older ones lack have defaults.

Keys of later versions pass: whoever keeps a document keeps them.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from rnnbounds.impl.errors import at_least
from rnnbounds.impl.format.fields import Bound, Constant, Ends, RecordError, converted
from rnnbounds.impl.format.record import NAMES, WHOLE, Record
from rnnbounds.impl.format.record import SCHEMA as TRUNCATED
from rnnbounds.impl.format.tensors import strict

ALL = "all states (ℝⁿ)"
BOX = "the box that is proved to hold every state from zero on"
_Count = Annotated[int, Meta(ge=0)]
_Size = Annotated[float, Meta(ge=0)]


class Sizes(Struct):
    """Those of the output and of the input."""

    n: _Count
    d: _Count


class Memory(Struct):
    """The k at an ε."""

    eps: Annotated[float, Meta(gt=0)]
    k: _Count | None


class Tried(Struct):
    """A norm with its factor and its k, the reason if the factor is infinite, or why it was not
    tried."""

    norm: str
    lam: Bound = field(name="lambda")
    k: _Count | None = None
    skipped: str | None = None
    reason: str | None = None


class Roundoff(Struct):
    """The bound on rounding, or why there is none."""

    state: _Size | None = None
    reason: str | None = None
    arithmetic: Literal["ieee"] = "ieee"  # earlier versions had others


class Skipped(Struct):
    """An attempt that was not made, and why."""

    what: str
    reason: str


class InputBox(Ends, frozen=True, forbid_unknown_fields=True):
    """A set of inputs, in words too; of the rows of a table the box around them."""

    what: str
    set: Literal["box", "rows"] = "box"
    rows: _Count | None = None


WitnessKind = Literal["eigenvalue", "two-orbits", "unstable-orbit", "growth"]


class Witness(Struct, frozen=True, rename={"bound": "input_bound"}):
    """Why a model is not contractive.

    `eigenvalue`: a linear map has an eigenvalue of that `modulus` ≥ 1. `two-orbits`: under the
    constant `input` (d,) two distinct points of that `period`, one within `radius` of each of the
    `points` (n,). `unstable-orbit`: one such point, with an eigenvalue of modulus > 1 of the
    Jacobian of a whole period, so that states near it part. `growth`: the orbits of the two points
    stay apart, and move apart by the factor `modulus` ≥ 1 each step. Euclidean distances.

    What it refutes is that any norm makes the step a contraction of its `states` under the inputs
    that were asked for, ‖x_t‖₂ ≤ `bound`: of all states, or of the proved box of those that are
    reached from zero. That the two runs start from zero is not said. distance: the `input` lies at
    most so far from the nearest recorded input in Euclidean norm, if any are known.
    """

    kind: WitnessKind
    text: str
    input: tuple[float, ...] = ()
    points: tuple[tuple[float, ...], ...] = ()
    radius: float = 0.0
    period: int = 1
    modulus: float | None = None
    states: str = ALL
    bound: float = 0.0
    distance: float | UnsetType = UNSET

    @property
    def claim_text(self) -> str:
        """Refuted claim in words, with the states and the input bound."""
        among = f"‖x_t‖₂ ≤ {at_least(self.bound)}"
        return f"no norm makes it a contraction of {self.states} under {among}"

    @property
    def meaning(self) -> str:
        """Consequence of the witness for a run of the model, in words."""
        if self.kind == "eigenvalue":
            return "two states that differ along its eigenvector never come together"
        if self.kind == "two-orbits" and self.period == 1:
            return "given that input for ever, it rests in either of two states"
        if self.kind == "two-orbits":
            return "given that input for ever, it cycles in either of two orbits"
        if self.kind == "unstable-orbit":
            return "given that input for ever, states however near that orbit part from it"
        return "given that input for ever, two runs move apart at every step"


class Next(Struct):
    """Next steps for an undecided model."""

    measure: str
    lines: list[str] = []


class Document(Struct):
    """A certificate of any verdict."""

    model: str
    cell: str
    shape: Sizes
    dtype: str
    sha256: str
    norm: str
    verdict: Literal["certified", "refuted", "undecided"]
    stable: bool | None
    input_bound: _Size
    constants: dict[str, Constant]
    truncation: list[Memory]
    norms_tried: list[Tried]
    weights: list[Any] | None
    rounding: Roundoff
    witness: Witness | None
    lam: Bound = field(name="lambda")
    tensors: dict[str, str] = {}
    ignored: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    reason: str | None = None
    inputs: InputBox | None = None
    box: list[Any] | None = None
    layers: list[dict[str, Any]] | None = None
    states: str = ALL
    skipped: list[Skipped] = []
    rounds_to_one: dict[str, _Count] = {}
    other_norms: dict[str, dict[str, Any]] | None = None
    unit_gains: list[_Size] | None = None
    readout: dict[str, Any] | None = None
    next: Next | None = None


def document_in(data: bytes) -> tuple[Document, dict[str, Any]]:
    """The document in the bytes of a JSON file, and its data; raises ValueError and RecursionError
    for a key that comes twice, NaN, infinity, and what is of no schema."""
    told = strict(data.decode())
    json.dumps(told, allow_nan=False)  # 1e999 is a number to JSON, and no float
    schema = told.get("schema") if isinstance(told, dict) else None
    if schema == TRUNCATED:
        converted(told, Record)
        return of_record(told), told
    if schema != WHOLE:
        raise RecordError(f"its schema is not {WHOLE}")
    return converted(told, Document), told


def of_record(told: Mapping[str, Any]) -> Document:
    """The record of a truncated model as a document; what the record leaves out is empty."""
    information, inputs = told["information"], told["inputs"]
    boxes = [part["box"] or () for part in told["layers"] or [told]]
    named = {name: information[name] for name in NAMES if name in information}
    whole = {"model": "", **told, **named, "stable": True, "norms_tried": [], "witness": None} | {
        "inputs": None if inputs is None else inputs | {"what": information.get("inputs", "")},
        "rounding": told["rounding"]
        | {"state": information.get("rounding", told["rounding"]["state"])},
        "states": BOX if all(set(box) - {None} for box in boxes) else ALL,
    }
    return converted(whole, Document)
