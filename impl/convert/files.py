"""The public calls about files of certificates and of truncated models."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rnnbounds.impl.certificate.record import Certificate, certificate_of, read_certificate
from rnnbounds.impl.convert.export import exported
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.convert.truncate import basis_of, packed, parsed, unrolled
from rnnbounds.impl.errors import FileError
from rnnbounds.impl.format.sealed import EXPORTS, LATEST
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.reading.files import read_file, write_file


def as_data(certificate: Certificate | Mapping[str, Any]) -> dict[str, Any]:
    """A certificate as JSON data."""
    return dict(certificate) if isinstance(certificate, Mapping) else certificate.to_dict()


@isolated()
def save_truncated(
    module: FeedForward,
    certificate: Certificate | Mapping[str, Any],
    path: str | os.PathLike[str],
) -> None:
    """Write a truncated model atomically: a reader sees the old file or the new one, never half.

    By the suffix of the path it is a .safetensors file, which `load_truncated` and `check` read, or
    an export for other runtimes, .pt2 or .onnx, that maps x (N, T, d) to h (N, T, n), or to (N, n)
    of the last output. Raises InputError if the certificate is not the module's, or the file cannot
    be written, has the suffix of another kind, or is the model's own, and RangeError for a window
    too long to be exported.

    >>> module, certificate = rnnbounds.truncate(model, eps=0.1, inputs=1.0)
    >>> rnnbounds.save_truncated(module, certificate, "short.safetensors")
    """
    place = Path(path)
    serialise = exported if place.suffix in EXPORTS else packed
    write_file(place, serialise(module, as_data(certificate), place))


@isolated()
def load_truncated(path: str | os.PathLike[str]) -> FeedForward:
    """Rebuild a truncated model; raises an InputError for a file that is not intact. The module's
    repr says so where its k is known of recorded inputs alone.

    >>> rnnbounds.load_truncated("short.safetensors")(x)  # x (N, T, d)
    """
    place = Path(path)
    model, file = parsed(read_file(place), place)
    return unrolled(model, file.k, file.output == LATEST, basis_of(file.record))


@isolated()
def load_certificate(path: str | os.PathLike[str]) -> Certificate:
    """The certificate in a file: in JSON as `certify` writes it, or with a truncated model.

    Every part is validated, nothing is proved: `rnnbounds check` does that. `to_dict` gives the
    data of the file unchanged. Raises an InputError for a file that holds no certificate, one that
    contradicts itself, and for a truncated model that is not intact.

    >>> rnnbounds.load_certificate("certificate.json").lam
    """
    place = Path(path)
    data = read_file(place, what="certificate")
    if data[8:9] != b"{":  # where safetensors has its header
        return read_certificate(data, place)
    file = parsed(data, place)[1]
    if basis := basis_of(file.record):
        raise FileError(
            place, f"certifies nothing: its k is {basis}", "name the file of a certified model"
        )
    return certificate_of(file.certificate)
