"""Certificates in both directions from their documents, which they then state word for word."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rnnbounds.impl.bidirectional.record import BidirectionalCertificate
from rnnbounds.impl.bidirectional.windows import Around
from rnnbounds.impl.certificate.document import of_document, of_truncated
from rnnbounds.impl.errors import shown
from rnnbounds.impl.format.bidirectional import (
    SCHEMA,
    BidirectionalDocument,
    StatedWindow,
    bidirectional_record,
)
from rnnbounds.impl.format.fields import converted
from rnnbounds.impl.format.truncated import CertificateFileError
from rnnbounds.impl.models.bidirectional import DIRECTIONS


def certificate_of(told: Mapping[str, Any], path: Path) -> BidirectionalCertificate:
    """The certificate of a parsed document or of the record of a truncated model.

    Raises CertificateFileError for what is none, or contradicts itself.
    """
    try:
        if told.get("schema") == SCHEMA:
            bidirectional_record(dict(told))
            stated = dict(told["information"], **told)
            stated["rounding"] = {"state": told["information"].get("rounding")}
        else:
            stated = dict(told)
        return _certificate(converted(stated, BidirectionalDocument), told, path)
    except (LookupError, ValueError, TypeError, RecursionError) as error:
        raise CertificateFileError(path, f"no certificate ({shown(error)})") from None


def _certificate(
    stated: BidirectionalDocument, told: Mapping[str, Any], path: Path
) -> BidirectionalCertificate:
    def cell(part: Mapping[str, Any]) -> Any:
        return of_truncated(part, path) if told.get("schema") == SCHEMA else of_document(part)

    first, *above = (tuple(cell(both[end]) for end in DIRECTIONS) for both in stated.layers)
    certificate = BidirectionalCertificate(
        model=stated.model,
        cell=stated.cell,
        n=stated.shape.n,
        digest=stated.sha256,
        layers=(first, *above),
        windows=tuple((one.eps, _window(one)) for one in stated.truncation),
        gain=stated.gain,
        rounding=stated.rounding.get("state"),
        unrounded=stated.rounding.get("reason"),
        ignored=stated.ignored,
        unread=stated.unread,
        readout=stated.readout,
        document=dict(told),
    )
    if stated.verdict != certificate.verdict:
        raise ValueError("the verdict contradicts the cells'")
    return certificate


def _window(one: StatedWindow) -> Around | None:
    return None if one.past is None or one.future is None else Around(one.past, one.future)
