"""Certificates from their documents, which a loaded certificate states word for word (`to_json`),
so that nothing that a field cannot hold is lost."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import torch

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.cells.refutation.refute import Witness
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.errors import shown
from rnnbounds.impl.format.document import Document, InputBox, Training, document_in, of_record
from rnnbounds.impl.format.truncated import CertificateFileError
from rnnbounds.impl.training.bound import TrainingConstants
from rnnbounds.impl.training.certificate import CELL, Task, TrainingCertificate

_UNSTATED = ("S_0", "B_h", "L_f", "D_1")  # constants of training that no document holds


def read_certificate(data: bytes, path: Path) -> Certificate:
    """The certificate in the bytes of a JSON file; raises CertificateFileError for what is none,
    contradicts itself, states a key twice, or holds NaN or infinity."""
    try:
        return _certificate(*document_in(data))
    except (LookupError, ValueError, OverflowError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise CertificateFileError(path, f"no certificate ({shown(reason)})") from None


def of_truncated(stated: Mapping[str, Any], path: Path) -> Certificate:
    """The certificate of a truncated model, of the record that travels in its file. Raises
    CertificateFileError."""
    try:
        return _certificate(of_record(stated), dict(stated))
    except (LookupError, ValueError) as error:
        again = "write it again with 'rnnbounds truncate'"
        raise CertificateFileError(path, f"no certificate ({shown(error)})", again) from None


def _certificate(told: Document, document: dict[str, Any]) -> Certificate:
    """The certificate of a document of which every part has its type."""
    found = Certificate(
        model=told.model,
        cell=told.cell,
        n=told.shape.n,
        d=told.shape.d,
        dtype=told.dtype,
        digest=told.sha256,
        norm=told.norm,
        lam=told.lam,
        verdict=told.verdict,
        input_bound=told.input_bound,
        constants=told.constants,
        windows=tuple((one.eps, one.k) for one in told.truncation),
        tried=tuple((one.norm, one.lam, one.k) for one in told.norms_tried if one.skipped is None),
        weights=None if told.weights is None else _tuples(told.weights),
        rounding=told.rounding.state,
        witness=None if told.witness is None else _witness(told.witness),
        training=None if told.training is None else _training(told.training, told.constants),
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
        inputs=None if told.inputs is None else _inputs(told.inputs, told),
        measuring="" if told.next is None else told.next.measure,
        document=document,
    )
    if told.stable is not found.stable:
        raise ValueError("verdict and stable contradict each other")
    return found


def _witness(told: dict[str, Any]) -> Witness:
    """The witness, whose `bound` is called `input_bound` in JSON."""
    return msgspec.convert(told | {"bound": told.get("input_bound", 0.0)}, Witness)


def _inputs(box: InputBox, told: Document) -> InputSet:
    if not len(box.low) == len(box.high) == told.shape.d:
        raise ValueError("a box of other channels than the inputs")
    if any(a > b for a, b in zip(box.low, box.high, strict=True)):
        raise ValueError("a box with nothing in it")
    lowest, highest = (torch.tensor(end, dtype=torch.float64) for end in (box.low, box.high))
    return InputSet(told.input_bound, lowest, highest, box.what)


def _training(told: Training, constants: Mapping[str, float]) -> TrainingCertificate:
    """Rebuild the training certificate of a document; constants it lacks are infinite."""
    task = Task(
        told.steps, told.alpha, told.loss, told.readout_norm, told.target_asked, told.length
    )
    names = (*CELL, "G_0", "G_1", "beta")
    bounds = dict.fromkeys(_UNSTATED, math.inf) | {name: constants[name] for name in names}
    known = TrainingConstants(lam=told.lam, radii=told.weights, **bounds)
    windows = tuple((one.eps, one.k, one.largest_alpha) for one in told.windows)
    return TrainingCertificate(task, told.target_bound, known, windows, told.reason)


def _tuples(told: list[Any]) -> tuple[Any, ...]:
    return tuple(_tuples(each) if isinstance(each, list) else each for each in told)
