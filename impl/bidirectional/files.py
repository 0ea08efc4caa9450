"""Truncated models in both directions: made, written with their certificates, read, exported.

A file is safetensors: the weights under torch's names, and in the metadata the window, the cell,
the certificate and a digest of all of them. It is written whole or not at all.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.bidirectional.certify import certify_both
from rnnbounds.impl.bidirectional.feedforward import BidirectionalWindows
from rnnbounds.impl.bidirectional.record import BidirectionalCertificate
from rnnbounds.impl.bidirectional.windows import Around
from rnnbounds.impl.convert.export import LAYERS, check_export, serialised
from rnnbounds.impl.errors import InputError, RangeError, exactly
from rnnbounds.impl.format.bidirectional import (
    BIDIRECTIONAL,
    BidirectionalFile,
    BidirectionalRecord,
    bidirectional_record,
    by_cell,
    read_bidirectional,
    stated_both,
)
from rnnbounds.impl.format.fields import RecordError
from rnnbounds.impl.format.sealed import ANOTHER
from rnnbounds.impl.format.tensors import Part, contents
from rnnbounds.impl.format.truncated import is_about
from rnnbounds.impl.models.bidirectional import LoadedBidirectional
from rnnbounds.impl.reading.files import (
    ModelFileError,
    as_safetensors,
    check_target,
    parse_safetensors,
)

_AGAIN = "truncate the model again"


class BothNotCertifiedError(InputError):
    """A model in both directions without a certified window; `certificate` says why."""

    def __init__(self, certificate: BidirectionalCertificate) -> None:
        super().__init__(
            f"{certificate.model} is {certificate.verdict} ({certificate.reason}), so no window is "
            f"certified; shrink the recurrent weights of that cell, or the inputs"
        )
        self.certificate = certificate


class TruncatedBoth(NamedTuple):
    """A truncated model in both directions: its windows' module, and its certificate as data."""

    module: BidirectionalWindows
    certificate: dict[str, Any]

    @property
    def window(self) -> Around:
        """How many inputs before and after input t fix output t, beside it."""
        return self.module.window

    @property
    def eps(self) -> float:
        """The ε within which its outputs are those of the recurrent model."""
        return float(self.certificate["truncation"][0]["eps"])

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data."""
        return self.certificate

    def __str__(self) -> str:
        past, future = self.window
        within = f"within {exactly(self.eps)} of the recurrent model"
        return f"{self.module.name}: inputs t − {past}, …, t + {future}, {within}"


def truncate_both(model: LoadedBidirectional, eps: float, input_bound: float) -> TruncatedBoth:
    """The window form of a model within ε and its certificate: ‖y_t − y_t^window‖₂ ≤ ε for every t,
    every length and all inputs with ‖x_t‖₂ ≤ B, in real arithmetic.

    Raises BothNotCertifiedError if no window is certified, RangeError for bounds that overflow.
    Source: Miller & Hardt, Lemma 1, for each cell.
    """
    if isinstance(input_bound, InputSet) and input_bound.rows is not None:
        input_bound = input_bound.box
    certificate = certify_both(model, input_bound, eps)
    window = certificate.window(eps)
    if certificate.verdict != "certified" or window is None:
        raise BothNotCertifiedError(certificate)
    told = stated_both(certificate.to_json())
    try:
        bidirectional_record(told)
    except RecordError:
        B = certificate.input_bound
        raise RangeError("the input bound", B, "so small that no bound overflows") from None
    past, future = window
    module = BidirectionalWindows(model.weights, cell=model.cell, past=past, future=future)
    return TruncatedBoth(module, told)


def packed_both(
    module: BidirectionalWindows, certificate: Mapping[str, Any], target: Path
) -> bytes:
    """The bytes of the file of a truncated model; raises InputError for the certificate of another
    model, or a target that is the model's own file or of another kind."""
    text = vouched_both(module, certificate, target)
    check_target(target, Path(str(stated_both(certificate)["information"].get("model", ""))))
    past, future = module.window
    told = {
        "format": BIDIRECTIONAL.format,
        "past": str(past),
        "future": str(future),
        "cell": module.name,
        "certificate": text,
    }
    weights = _stored(module.weights)
    parts = contents(as_safetensors(weights, {}))[0]
    return as_safetensors(weights, told | {"sha256": BIDIRECTIONAL.seal(told, parts)})


def vouched_both(module: BidirectionalWindows, certificate: Mapping[str, Any], path: Path) -> str:
    """The text of the record of a truncated model; raises InputError for a certificate of another
    model or window, and for a module with a readout."""
    try:
        told = stated_both(certificate)
        meant = bidirectional_record(told)
        text = json.dumps(told, allow_nan=False, sort_keys=True)
    except (LookupError, TypeError, AttributeError, ValueError):
        again = "pass the certificate that 'truncate' returned with it"
        what = "this is no certificate of a truncated model in both directions"
        raise InputError(f"{what}; {again}") from None
    if module.window not in {(one.past, one.future) for one in meant.truncation}:
        raise ModelFileError(path, "has a window that is not in its certificate", _AGAIN)
    parts = contents(as_safetensors(_stored(module.weights), {}))[0]
    if module.name != meant.cell or not _about(meant, parts):
        raise ModelFileError(path, ANOTHER, _AGAIN)
    if module.readout is not None:
        raise InputError("a truncated model is saved without its readout; save that one by itself")
    return text


def parsed_both(data: bytes, path: Path) -> tuple[BidirectionalWindows, BidirectionalFile]:
    """The module in a file, whose weights are those that its record is about; raises an InputError
    for a file that is not intact."""
    tensors, _ = parse_safetensors(data, path)
    file = read_bidirectional(path, lambda path, reason: ModelFileError(path, reason, _AGAIN), data)
    cell = file.record.cells[0].cell
    module = BidirectionalWindows(tensors, cell=cell, past=file.past, future=file.future)
    if not _about(file.record, file.parts):
        raise ModelFileError(path, ANOTHER, _AGAIN)
    return module, file


def exported_both(
    module: BidirectionalWindows, certificate: Mapping[str, Any], path: Path
) -> bytes:
    """Serialise the module for a file of that name; raises ExportError, RangeError for a window of
    more than LAYERS inputs, and as `vouched_both`."""
    check_export(path)
    steps = sum(module.window) + 1
    if steps > LAYERS:
        raise RangeError("the window", steps, f"at most {LAYERS} inputs to export")
    text = vouched_both(module, certificate, path)
    return serialised(_Fixed(module), module.d, steps, text, path)


class _Fixed(torch.nn.Module):
    """The module with its weights as buffers, which exports keep."""

    def __init__(self, module: BidirectionalWindows) -> None:
        super().__init__()
        past, future = module.window
        self.windows = BidirectionalWindows(
            module.weights, cell=module.cell, past=past, future=future
        ).requires_grad_(False)
        for name, part in module.weights.items():
            self.register_buffer(name, part.detach())

    def forward(self, x: Tensor) -> Tensor:
        """x (N, T, d) -> y (N, T, n)."""
        weights = dict(self.named_buffers())
        return cast(Tensor, torch.func.functional_call(self.windows, weights, (x,)))


def _about(meant: BidirectionalRecord, parts: Mapping[str, Part]) -> bool:
    """True if the record's cells are those of these weights."""
    try:
        cells = by_cell(parts)
    except LookupError:
        return False
    return len(cells) == len(meant.cells) and all(
        is_about(cell, roles, cell.shape.n, cell.shape.d)
        for roles, cell in zip(cells, meant.cells, strict=True)
    )


def _stored(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Tensors as files store them."""
    return {name: part.detach().cpu().contiguous() for name, part in weights.items()}
