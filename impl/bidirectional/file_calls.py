"""The public calls about files of truncated models, in one direction or in both."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rnnbounds.impl.bidirectional.document import certificate_of
from rnnbounds.impl.bidirectional.feedforward import BidirectionalWindows
from rnnbounds.impl.bidirectional.files import exported_both, packed_both, parsed_both
from rnnbounds.impl.bidirectional.record import BidirectionalCertificate
from rnnbounds.impl.certificate.document import of_truncated, read_certificate
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.convert.export import exported
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.convert.truncate import packed, parsed
from rnnbounds.impl.format.bidirectional import BIDIRECTIONAL, document_of
from rnnbounds.impl.format.tensors import format_in
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.reading.files import read_file, write_file

AnyCertificate = Certificate | BidirectionalCertificate
AnyModule = FeedForward | BidirectionalWindows


def as_data(certificate: AnyCertificate | Mapping[str, Any]) -> dict[str, Any]:
    """A certificate as JSON data."""
    return dict(certificate) if isinstance(certificate, Mapping) else certificate.to_json()


def packed_any(module: AnyModule, certificate: Mapping[str, Any], path: Path) -> bytes:
    """The bytes of the file of a truncated model; raises as `save_truncated`."""
    if isinstance(module, FeedForward):
        return packed(module, dict(certificate), path)
    return packed_both(module, certificate, path)


def exported_any(module: AnyModule, certificate: Mapping[str, Any], path: Path) -> bytes:
    """The bytes of an exported model; raises as `export_truncated`."""
    if isinstance(module, FeedForward):
        return exported(module, dict(certificate), path)
    return exported_both(module, certificate, path)


@isolated()
def save_truncated(
    module: AnyModule,
    certificate: AnyCertificate | Mapping[str, Any],
    path: str | os.PathLike[str],
) -> None:
    """Write a truncated model atomically: a reader sees the old file or the new one, never half.

    Raises InputError if the certificate is not the module's, or the file cannot be written,
    has the suffix of another kind, or is the model's own.

    >>> module, certificate = rnnbounds.truncate(model, 0.1, 1.0)
    >>> rnnbounds.save_truncated(module, certificate, "short.safetensors")
    """
    write_file(Path(path), packed_any(module, as_data(certificate), Path(path)))


@isolated()
def load_truncated(path: str | os.PathLike[str]) -> AnyModule:
    """Rebuild a truncated model; raises an InputError for a file that is not intact.

    >>> rnnbounds.load_truncated("short.safetensors")(x)  # x (N, T, d)
    """
    place = Path(path)
    data = read_file(place)
    return (parsed_both if _in_both(data) else parsed)(data, place)[0]


@isolated()
def load_certificate(path: str | os.PathLike[str]) -> AnyCertificate:
    """The certificate in a file: in JSON as `certify` writes it, or with a truncated model.

    Every part is validated, nothing is proved: `rnnbounds check` does that. `to_json` gives the
    data of the file unchanged. Raises an InputError for a file that holds no certificate, one that
    contradicts itself, and for a truncated model that is not intact.

    >>> rnnbounds.load_certificate("certificate.json").lam
    """
    place = Path(path)
    data = read_file(place, what="certificate")
    if data[8:9] != b"{":  # where safetensors has its header
        told = document_of(data)
        return read_certificate(data, place) if told is None else certificate_of(told, place)
    if _in_both(data):
        return certificate_of(parsed_both(data, place)[1].certificate, place)
    return of_truncated(parsed(data, place)[1].certificate, place)


@isolated()
def export_truncated(
    module: AnyModule,
    certificate: AnyCertificate | Mapping[str, Any],
    path: str | os.PathLike[str],
) -> None:
    """Write a truncated model as .pt2 or ONNX, whole or not at all, with its certificate.

    Its input is x (N, T, d) and its output h (N, T, n), or (N, n) of the last one. Raises
    ExportError, RangeError for windows too long to be written out, InputError where it cannot be
    written or the certificate is not the module's.

    >>> rnnbounds.export_truncated(module, certificate, "short.onnx")
    """
    write_file(Path(path), exported_any(module, as_data(certificate), Path(path)))


def _in_both(data: bytes) -> bool:
    """True for the file of a truncated model in both directions, of any version."""
    return format_in(data).startswith(BIDIRECTIONAL.family)
