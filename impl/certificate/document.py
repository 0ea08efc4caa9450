"""Certificates from their documents, which a loaded certificate states word for word (`to_json`),
so that nothing that a field cannot hold is lost."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.errors import shown
from rnnbounds.impl.format.document import Document, document_in, of_record
from rnnbounds.impl.format.fields import bounded_readout
from rnnbounds.impl.format.sealed import no_certificate, no_truncated


def read_certificate(data: bytes, path: Path) -> Certificate:
    """The certificate in the bytes of a JSON file; raises FileError for what is none,
    contradicts itself, states a key twice, or holds NaN or infinity."""
    try:
        return _certificate(*document_in(data))
    except (LookupError, ValueError, OverflowError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise no_certificate(path, f"no certificate ({shown(reason)})") from None


def of_truncated(stated: Mapping[str, Any], path: Path) -> Certificate:
    """The certificate of a truncated model, of the record that travels in its file. Raises
    FileError."""
    try:
        return _certificate(of_record(stated), dict(stated))
    except (LookupError, ValueError) as error:
        raise no_truncated(path, f"no certificate ({shown(error)})") from None


def _certificate(stated: Document, document: dict[str, Any]) -> Certificate:
    """The certificate of a document of which every part has its type."""
    certificate = Certificate(
        model=stated.model,
        cell=stated.cell,
        n=stated.shape.n,
        d=stated.shape.d,
        dtype=stated.dtype,
        digest=stated.sha256,
        norm=stated.norm,
        lam=stated.lam,
        verdict=stated.verdict,
        input_bound=stated.input_bound,
        constants=stated.constants,
        windows=tuple((entry.eps, entry.k) for entry in stated.truncation),
        tried=tuple(
            (entry.norm, entry.lam, entry.k)
            for entry in stated.norms_tried
            if entry.skipped is None
        ),
        weights=None if stated.weights is None else _tuples(stated.weights),
        rounding=stated.rounding.state,
        witness=stated.witness,
        skipped=tuple((entry.what, entry.reason) for entry in stated.skipped),
        rounds_to_one=stated.rounds_to_one,
        unrounded=stated.rounding.reason,
        states=stated.states,
        tensors=stated.tensors,
        ignored=stated.ignored,
        unread=stated.unread,
        readout=_readout(stated.readout),
        proof={
            "box": stated.box,
            "layers": stated.layers,
            "other_norms": stated.other_norms,
            "unit_gains": stated.unit_gains,
        },
        inputs=_inputs(stated),
        infinite={one.norm: one.reason for one in stated.norms_tried if one.reason is not None},
        measuring="" if stated.next is None else stated.next.measure,
        document=document,
    )
    if stated.stable is not certificate.stable:
        raise ValueError("verdict and stable contradict each other")
    return certificate


def _readout(stated: dict[str, Any] | None) -> dict[str, Any] | None:
    """The readout, of one linear layer; raises RecordError for any other."""
    if stated is not None:
        bounded_readout(stated)
    return stated


def _inputs(stated: Document) -> InputSet | None:
    """The box of a document; of a table's rows, which no document holds, the one around them."""
    if (box := stated.inputs) is None:
        return None
    box.require(stated.shape.d, stated.input_bound)
    low, high = (torch.tensor(end, dtype=torch.float64) for end in (box.low, box.high))
    return InputSet(stated.input_bound, low, high, box.what)


def _tuples(values: list[Any]) -> tuple[Any, ...]:
    return tuple(_tuples(value) if isinstance(value, list) else value for value in values)
