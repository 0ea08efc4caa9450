"""Certificates as the gate reads them, whichever command wrote them, and two of them compared.

Only answers to one question can be compared: then the verdict, λ, each k, the gain, rounding and
the size of a unitary equivalent may regress, and nothing else is looked at.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec

from rnnbounds import disk
from rnnbounds.reports.errors import InputError, RecordError
from rnnbounds.reports.gate.runs import compare_runs
from rnnbounds.reports.gate.settings import CertifyQuestion, Thresholds
from rnnbounds.reports.records.changes import (
    Change,
    Changes,
    compare_bounds,
    compare_ranks,
    list_names,
    shorten,
)
from rnnbounds.reports.records.codec import MOST_BYTES, load, require_unique

VERSIONS = {"certificate": (1,), "truncated-certificate": (2, 1), "unitary-certificate": (3, 2, 1)}
Verdict = Literal["certified", "undecided", "refuted"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Positive = Annotated[float, msgspec.Meta(ge=0)]
Length = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
_SHOWN = 60  # characters of one side of a difference
_TABLE = "the rows of "  # before the name of the tensor whose rows are all inputs
_NAMELESS = f"{_TABLE}a table"


class PairError(InputError):
    """Two certificates of different questions, which say nothing of one another."""


class Header(msgspec.Struct):
    """The name that every record bears; `check` prints a certificate inside of what it found."""

    schema: str = ""
    certificate: msgspec.Raw = msgspec.Raw()
    holds: bool = False


class Inputs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A set of inputs beside the ball: low ≤ x ≤ high (d,), or of these the rows of a table."""

    set: Literal["box", "rows"]
    low: tuple[float, ...]
    high: tuple[float, ...]
    what: str = ""
    rows: Length | None = None


class Readout(msgspec.Struct, frozen=True):
    """The linear layer after the cell that ε is about."""

    outputs: Length
    tensor: str
    sha256: str = ""


class Window(msgspec.Struct, frozen=True):
    """The memory k for one ε, None where none is certified."""

    eps: Positive
    k: Length | None = None


class Rounding(msgspec.Struct, frozen=True):
    """Bound on the rounding error of a state, None if unknown."""

    state: Positive | None = None


class Information(msgspec.Struct, frozen=True):
    """Fields of a file's certificate on how its model was read and what `check` does not prove."""

    ignored: tuple[str, ...] = ()
    tensors: dict[str, str] = {}
    unread: tuple[str, ...] = ()
    inputs: str = ""
    rounding: Positive | None = None


class Difference(msgspec.Struct, frozen=True):
    """How far a unitary equivalent's states are from the model's."""

    own_dtype: Positive | None = None


class Certificate(msgspec.Struct, frozen=True):
    """Compared fields of a certificate; sha256: of the weights and the cell that it is of.

    Raises ValueError for what contradicts itself: an ε with two different k, a certified model
    whose λ is not below 1 or which has no k for an ε."""

    schema: str
    cell: str
    verdict: Verdict
    input_bound: Positive
    sha256: Digest
    dtype: str = ""
    shape: dict[str, Length] = {}
    inputs: Inputs | None = None
    readout: Readout | None = None
    lam: Positive | None = msgspec.field(name="lambda", default=None)
    constants: dict[str, Positive | None] = {}
    truncation: tuple[Window, ...] = ()
    rounding: Rounding = Rounding()
    states: Length | str = ""
    initial_state: tuple[float, ...] = ()
    difference: Difference = Difference()
    tensors: dict[str, str] = {}
    unread: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    information: Information = Information()

    def __post_init__(self) -> None:
        lengths = self.lengths
        if any(lengths[window.eps] != window.k for window in self.truncation):
            raise ValueError("one ε has two different k")
        factor = self.lam if self.lam is not None or self.family == "certificate" else 0.0
        below_one = factor is not None and factor < 1
        if self.verdict == "certified" and (not below_one or None in lengths.values()):
            raise ValueError("certified, without λ < 1 or without a k")

    @property
    def lengths(self) -> dict[float, int | None]:
        """The k of each ε, smallest ε first: two floats are one key if they are equal."""
        return {window.eps: window.k for window in sorted(self.truncation, key=lambda w: w.eps)}

    @property
    def family(self) -> str:
        """Family of the certificate's schema `rnnbounds/FAMILY/VERSION`."""
        return self.schema.partition("/")[2].partition("/")[0]

    @property
    def rounding_bound(self) -> float | None:
        """How far rounding moves a state, None where nothing is known."""
        bounds = (self.rounding.state, self.information.rounding, self.difference.own_dtype)
        return next((bound for bound in bounds if bound is not None), None)

    @property
    def title(self) -> str:
        """The certificate in a few words."""
        words = (self.family.replace("-", " "), self.cell, self.sha256[:12])
        return ", ".join(shorten(word, 80) for word in words if word)


def compare_certificates(old: Certificate, new: Certificate, allowed: Thresholds) -> Changes:
    """All changes from one to another; raises PairError for answers to different questions."""
    require_same_question(old, new)
    rows = tuple(_changes(old, new, allowed))
    return Changes(old=old.title, new=new.title, rows=rows, fails=allowed.fails)


def compare_with_baseline(question: CertifyQuestion, old: Certificate, new: Certificate) -> Changes:
    """All changes since the baseline; what is not asked of the model is information. Raises
    PairError for answers to different questions."""
    changes = compare_certificates(old, new, question.allowed)
    rows = (
        row
        if row.kind not in changes.fails or question.fails_on_regression(row.what)
        else msgspec.structs.replace(row, kind="changed")
        for row in changes.rows
    )
    return msgspec.structs.replace(changes, rows=tuple(rows))


def baseline_standing(name: str, old: Certificate, new: Certificate) -> str:
    """How far the new certificate proves the baseline of that name: of the same weights what is
    compared is derived anew; of others there is nothing but the file, which can only be believed.
    """
    changed = [*_changes(old, new, Thresholds())]
    table = new.inputs is not None and new.inputs.set == "rows"  # whose rows have no digest
    if (old.sha256, old.readout) != (new.sha256, new.readout) or (changed and table):
        return f"{name}, of other weights, is believed as it stands"
    if changed:
        return (
            f"{name}, of these weights, is not what is certified now: it was edited, or is of "
            "another version or other extras"
        )
    return f"{name}, of these weights: its verdict, λ, k, gain and rounding are proved anew"


def _changes(old: Certificate, new: Certificate, allowed: Thresholds) -> Iterator[Change]:
    name, share = new.cell, allowed.factor
    yield from compare_ranks(name, "verdict", VERDICTS, old.verdict, new.verdict)
    yield from compare_bounds(name, "λ", old.lam, new.lam, share=share)
    before, after = old.lengths, new.lengths
    for eps in {**before, **after}:  # no window for an ε is none that is certified
        windows = before.get(eps), after.get(eps)
        yield from compare_bounds(name, f"k for ε = {eps!r}", *windows, margin=allowed.window)
    gains = [side.constants.get("gain") for side in (old, new)]
    yield from compare_bounds(name, "gain", *gains, share=share)
    yield from compare_bounds(name, "rounding", old.rounding_bound, new.rounding_bound, share=share)
    if isinstance(old.states, int) and isinstance(new.states, int):
        yield from compare_bounds(name, "states", old.states, new.states)


def require_same_question(old: Certificate, new: Certificate) -> None:
    """Raise PairError, which names all that differs, unless both answer one question."""
    first, second = question_fields(old), question_fields(new)
    unequal = {
        aspect: (first[aspect], second[aspect])
        for aspect in first
        if first[aspect] != second[aspect]
    }
    layers = [set((side.tensors or side.information.tensors).values()) for side in (old, new)]
    unread = [{*side.unread, *side.information.unread} for side in (old, new)]
    if layers[0] & unread[1] or layers[1] & unread[0]:
        # One file's other layer; no new name for one.
        unequal["layers"] = (list_names(sorted(layers[0])), list_names(sorted(layers[1])))
    if unequal:
        parts = (f"different {aspect}, {_excerpts(*both)}" for aspect, both in unequal.items())
        raise PairError(
            f"certificates of {'; of '.join(parts)}; certify both models with the same options"
        )


def question_fields(one: Certificate) -> dict[str, str]:
    """All that was asked whatever the weights are, in words that differ where a number does."""
    return {
        "sorts": one.family,
        "cells": one.cell,
        "shapes": ", ".join(f"{name} = {size}" for name, size in sorted(one.shape.items())),
        "dtypes": one.dtype,
        "inputs": _inputs_text(one),
        "readouts": "none, but the state itself"
        if one.readout is None
        else f"{one.readout.tensor}, {one.readout.outputs} outputs",
        "initial states": _numbers_text(one.initial_state),
        "ε": _numbers_text(one.lengths),
        "tensors left out": ", ".join(sorted({*one.ignored, *one.information.ignored})) or "none",
    }


def _inputs_text(one: Certificate) -> str:
    """The set of inputs by its numbers; a tensor of the model by its name, as its rows are trained
    with the rest."""
    input_set, ball = one.inputs, f"‖x_t‖₂ ≤ {one.input_bound!r}"
    if input_set is None:
        return ball
    description = input_set.what or one.information.inputs
    count = "" if input_set.rows is None else f"{input_set.rows} rows, "
    if input_set.set == "rows" and description.startswith(_TABLE) and description != _NAMELESS:
        return f"{count}{description}"
    ends = f"from {_numbers_text(input_set.low)} to {_numbers_text(input_set.high)}"
    return f"{input_set.set}, {count}{ball}, {ends}"


def _numbers_text(numbers: Iterable[float]) -> str:
    """All digits of all numbers; −0 is 0."""
    return ", ".join(repr(number + 0.0) for number in numbers)


def _excerpts(first: str, second: str) -> str:
    """Both texts from a little before where they part."""
    pairs = enumerate(zip(first, second, strict=False))
    position = next((i for i, (a, b) in pairs if a != b), min(len(first), len(second)))
    start = max(0, position - _SHOWN // 2)
    cut = [f"{'…' * bool(start)}{text[start : start + _SHOWN]}" for text in (first, second)]
    return f"{cut[0]!r} and {cut[1]!r}"


def split_record(data: bytes) -> tuple[str, bytes]:
    """The schema of a record and the record itself, which may be in what `check` printed.

    Raises RecordError for a certificate that `check` found to fail, and what msgspec raises."""
    header = msgspec.json.decode(data, type=Header)
    inner = bytes(header.certificate)
    if header.schema or not inner:
        return header.schema, data
    schema = msgspec.json.decode(inner, type=Header).schema
    if not header.holds:
        raise RecordError("the certificate in it fails, as 'check' found")
    return schema, inner


def load_certificate(path: Path) -> Certificate:
    """The certificate in a JSON file, as any command prints or writes it; raises RecordError."""
    try:
        data = disk.read(path, MOST_BYTES)
        schema, record = split_record(data)
        match = re.fullmatch(r"rnnbounds/([a-z-]+)/([0-9]{1,9})", schema)
        if match is None or int(match[2]) not in VERSIONS.get(match[1], ()):
            readable = (f"rnnbounds/{name}/{one}" for name, all in VERSIONS.items() for one in all)
            raise RecordError(f"schema {schema[:80]!r}, not among {', '.join(readable)}")
        certificate = msgspec.json.decode(record, type=Certificate)
        require_unique(data)
        return certificate
    except OSError as error:
        raise RecordError(f"{path}: it {error.strerror}; give a certificate in JSON") from None
    except RecordError as error:
        raise RecordError(f"{path}: {error}; write the certificate again") from None
    except (ValueError, RecursionError, msgspec.MsgspecError) as error:
        reason = " ".join(str(error).split())[:300]
        again = "write it again with 'rnnbounds certify --out' or 'guard --update'"
        raise RecordError(f"{path}: no certificate ({reason}); {again}") from None


def parse_certificate(record: bytes) -> Certificate:
    """The certificate of a record that was just made."""
    return msgspec.json.decode(record, type=Certificate)


def compare_files(old: Path, new: Path, allowed: Thresholds) -> Changes:
    """Compare two runs or two certificates; raises InputError for any other pair of files."""
    runs = [load(path) for path in (old, new) if not _is_certificate(path)]
    if not runs:
        return compare_certificates(load_certificate(old), load_certificate(new), allowed)
    if len(runs) == 1:
        raise InputError(
            f"{old} and {new} are a run and a certificate; compare two runs or two certificates"
        )
    return compare_runs(runs[0], runs[1], allowed)


def _is_certificate(path: Path) -> bool:
    """True if the file's schema names a certificate, or if `check` found its certificate to fail.

    Raises InputError for a record that is neither, but of an experiment, say."""
    try:
        schema, _ = split_record(disk.read(path, MOST_BYTES))
    except RecordError:
        return True
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError):
        return False
    publisher, _, schema_name = schema.partition("/")
    family = schema_name.partition("/")[0]
    if publisher == "rnnbounds" and family != "run" and not family.endswith("certificate"):
        raise InputError(
            f"{path}: records of {family[:80]!r} cannot be compared; compare two runs of verify, "
            "or two certificates"
        )
    return "certificate" in schema_name
