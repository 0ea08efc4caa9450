"""A certificate read from its JSON document, validated; the document itself is kept with it.

A loaded certificate states the document word for word (`to_json`), so nothing that a field cannot
hold is lost. Keys that older documents lack take the defaults below.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import torch

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.cells.refutation.refute import ALL, BOX, Witness
from rnnbounds.impl.certificate.record import SCHEMA, Certificate
from rnnbounds.impl.checker.stored import strict
from rnnbounds.impl.checker.truncated_file import CertificateFileError
from rnnbounds.impl.checker.truncated_record import NAMES, record
from rnnbounds.impl.checker.truncated_record import SCHEMA as TRUNCATED
from rnnbounds.impl.errors import shown
from rnnbounds.impl.training.bound import TrainingConstants
from rnnbounds.impl.training.certificate import CELL, LENGTH, Task, TrainingCertificate

_Size = Annotated[float, msgspec.Meta(ge=0)]
_Count = Annotated[int, msgspec.Meta(ge=0)]
_Epsilon = Annotated[float, msgspec.Meta(gt=0)]
_UNSTATED = ("S_0", "B_h", "L_f", "D_1")  # constants of training that no document holds


class _Shape(msgspec.Struct):
    n: _Count
    d: _Count


class _Window(msgspec.Struct):
    eps: _Epsilon
    k: _Count | None
    largest_alpha: _Size | None = None  # of training


class _Tried(msgspec.Struct):
    norm: str
    lam: _Size | None = msgspec.field(name="lambda")
    k: _Count | None = None
    skipped: str | None = None


class _Rounding(msgspec.Struct):
    state: _Size | None = None
    reason: str | None = None


class _Skipped(msgspec.Struct):
    what: str
    reason: str


class _Inputs(msgspec.Struct):
    what: str
    low: list[float]
    high: list[float]


class _Training(msgspec.Struct):
    lam: _Size | None = msgspec.field(name="lambda")
    target_bound: _Size | None
    weights: dict[str, _Size | None]
    windows: list[_Window]
    steps: int | None = None
    alpha: float | None = None
    loss: str = "squared"
    readout_norm: float = 1.0
    target_asked: float | None = None
    length: int = LENGTH
    reason: str | None = None


class _Next(msgspec.Struct):
    measure: str
    lines: list[str] = []


class _Document(msgspec.Struct):
    model: str
    cell: str
    shape: _Shape
    dtype: str
    sha256: str
    norm: str
    verdict: Literal["certified", "refuted", "undecided"]
    stable: bool | None
    input_bound: _Size
    constants: dict[str, float | None]
    truncation: list[_Window]
    norms_tried: list[_Tried]
    weights: list[Any] | None
    rounding: _Rounding
    witness: dict[str, Any] | None
    lam: _Size | None = msgspec.field(name="lambda")
    tensors: dict[str, str] = {}
    ignored: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    reason: str | None = None
    inputs: _Inputs | None = None
    box: list[Any] | None = None
    layers: list[dict[str, Any]] | None = None
    states: str = ALL
    skipped: list[_Skipped] = []
    rounds_to_one: dict[str, _Count] = {}
    training: _Training | None = None
    other_norms: dict[str, dict[str, Any]] | None = None
    readout: dict[str, Any] | None = None
    next: _Next | None = None


def read_certificate(data: bytes, path: Path) -> Certificate:
    """The certificate in the bytes of a JSON file; raises CertificateFileError for what is none,
    contradicts itself, states a key twice, or holds NaN or infinity."""
    try:
        document = strict(data.decode())
        json.dumps(document, allow_nan=False)  # 1e999 is a number to JSON, and no float
        if isinstance(document, dict) and document.get("schema") == TRUNCATED:
            record(document)
            return of_truncated(document, path)
        if not isinstance(document, dict) or document.get("schema") != SCHEMA:
            raise ValueError(f"its schema is not {SCHEMA}")
        return _certificate(msgspec.convert(document, _Document), document)
    except (LookupError, ValueError, OverflowError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise CertificateFileError(path, f"no certificate ({shown(reason)})") from None


def of_truncated(stated: Mapping[str, Any], path: Path) -> Certificate:
    """The certificate of a truncated model, of the record that travels in its file; what the record
    leaves out (other norms, training) is empty. Raises CertificateFileError."""
    information, inputs = stated["information"], stated["inputs"]
    boxes = [part["box"] or () for part in stated["layers"] or [stated]]
    named = {name: information[name] for name in NAMES if name in information}
    whole = {"model": "", **stated, **named, "stable": True, "norms_tried": [], "witness": None} | {
        "inputs": None if inputs is None else inputs | {"what": information.get("inputs", "")},
        "rounding": {"state": information.get("rounding", stated["rounding"]["state"])},
        "states": BOX if all(set(box) - {None} for box in boxes) else ALL,
    }
    try:
        return _certificate(msgspec.convert(whole, _Document), dict(stated))
    except (LookupError, ValueError) as error:
        again = "write it again with 'rnnbounds truncate'"
        raise CertificateFileError(path, f"no certificate ({shown(error)})", again) from None


def _certificate(told: _Document, document: dict[str, Any]) -> Certificate:
    """The certificate of a document of which every part has its type."""
    windows = tuple((one.eps, one.k) for one in told.truncation)
    lam = _bound(told.lam)
    _require(len(dict(windows)) == len(set(windows)), "one ε has two different k")
    known = lam < 1 and all(k is not None for _, k in windows)
    _require(told.verdict != "certified" or known, "certified, without λ < 1 or without a k")
    _require(
        (told.verdict == "refuted") == (told.witness is not None),
        "refuted, without a witness or the reverse",
    )
    constants = {name: _bound(value) for name, value in told.constants.items()}
    found = Certificate(
        model=told.model,
        cell=told.cell,
        n=told.shape.n,
        d=told.shape.d,
        dtype=told.dtype,
        digest=told.sha256,
        norm=told.norm,
        lam=lam,
        verdict=told.verdict,
        input_bound=told.input_bound,
        constants=constants,
        windows=windows,
        tried=tuple(
            (one.norm, _bound(one.lam), one.k) for one in told.norms_tried if one.skipped is None
        ),
        weights=None if told.weights is None else _tuples(told.weights),
        rounding=told.rounding.state,
        witness=None if told.witness is None else _witness(told.witness),
        training=None if told.training is None else _training(told.training, constants),
        skipped=tuple((one.what, one.reason) for one in told.skipped),
        rounds_to_one=told.rounds_to_one,
        unrounded=told.rounding.reason,
        states=told.states,
        tensors=told.tensors,
        ignored=told.ignored,
        unread=told.unread,
        readout=told.readout,
        proof={"box": told.box, "layers": told.layers}
        | ({} if told.other_norms is None else {"other_norms": told.other_norms}),
        inputs=None if told.inputs is None else _inputs(told),
        measuring="" if told.next is None else told.next.measure,
        document=document,
    )
    _require(told.stable is found.stable, "verdict and stable contradict each other")
    return found


def _witness(told: dict[str, Any]) -> Witness:
    """The witness, whose `bound` is called `input_bound` in JSON."""
    return msgspec.convert(told | {"bound": told.get("input_bound", 0.0)}, Witness)


def _inputs(told: _Document) -> InputSet:
    """The box of the inputs; of a table's rows, which are only counted, the box around them."""
    assert told.inputs is not None
    low, high = told.inputs.low, told.inputs.high
    _require(len(low) == len(high) == told.shape.d, "a box of other channels than the inputs")
    _require(all(a <= b for a, b in zip(low, high, strict=True)), "a box with nothing in it")
    lowest, highest = (torch.tensor(end, dtype=torch.float64) for end in (low, high))
    return InputSet(told.input_bound, lowest, highest, told.inputs.what)


def _training(told: _Training, constants: dict[str, float]) -> TrainingCertificate:
    """What is certified of training; constants that no document states are infinite."""
    task = Task(
        told.steps, told.alpha, told.loss, told.readout_norm, told.target_asked, told.length
    )
    names = (*CELL, "G_0", "G_1", "beta")
    bounds = dict.fromkeys(_UNSTATED, math.inf) | {name: constants[name] for name in names}
    radii = {name: _bound(radius) for name, radius in told.weights.items()}
    known = TrainingConstants(lam=_bound(told.lam), radii=radii, stored={}, **bounds)
    windows = tuple((one.eps, one.k, one.largest_alpha) for one in told.windows)
    return TrainingCertificate(task, _bound(told.target_bound), known, windows, told.reason)


def _bound(value: float | None) -> float:
    """A bound as it is stated: null is infinite."""
    return math.inf if value is None else value


def _tuples(told: list[Any]) -> tuple[Any, ...]:
    return tuple(_tuples(each) if isinstance(each, list) else each for each in told)


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
