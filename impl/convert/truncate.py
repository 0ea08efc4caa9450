"""Truncated models as files: the feed-forward form, its window and its certificate together.

A file is safetensors: the weights under torch's names, and in the metadata the window k, the cell,
the certificate and a digest of all of them. It is written whole or not at all.
"""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.errors import (
    FileError,
    InputError,
    RangeError,
    exactly,
    factor,
    refused,
    renamed,
)
from rnnbounds.impl.format.fields import RecordError, converted
from rnnbounds.impl.format.record import Record
from rnnbounds.impl.format.sealed import (
    ALL,
    ANOTHER,
    LATEST,
    TRUNCATED,
    TruncatedFile,
    is_about,
    read_truncated,
)
from rnnbounds.impl.format.tensors import contents
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.reading.adapters import Source, load_model
from rnnbounds.impl.reading.files import as_safetensors, check_target, parse_safetensors

MAX_WINDOW = 1_000_000  # layers beyond this are nobody's feed-forward model
_AGAIN = "truncate the model again"


class NotCertifiedError(InputError):
    """A model without a certified window; `certificate` says what was tried."""

    def __init__(self, certificate: Certificate) -> None:
        told = f"best factor {factor(certificate.lam)} in the {certificate.norm} norm"
        super().__init__(
            f"{certificate.model} is {certificate.verdict} ({certificate.reason or told}), so no "
            f"window is certified; {kind_of(certificate.cell).remedy}"
        )
        self.certificate = certificate


class Truncated(NamedTuple):
    """A truncated model: its feed-forward form, and its certificate as JSON data."""

    module: FeedForward
    certificate: dict[str, Any]

    @property
    def k(self) -> int:
        """How many inputs an output depends on."""
        return self.module.k

    @property
    def eps(self) -> float:
        """The ε within which its outputs are those of the recurrent model."""
        return float(self.certificate["truncation"][0]["eps"])

    def to_dict(self) -> dict[str, Any]:
        """The record as plain JSON data."""
        return self.certificate

    def __str__(self) -> str:
        within = f"within {exactly(self.eps)} of the recurrent model"
        return f"{self.module.cell}: k = {self.k} input{'s' * (self.k != 1)}, {within}"


@refused(epsilons="eps", epsilon="eps")
@renamed("0.4", input_bound="inputs")
@isolated()
def truncate(
    model: Source | LoadedModel[Any],
    *,
    inputs: float | InputSet,
    eps: float | str,
    cell: str | None = None,
    ignore: Collection[str] = (),
    layer: str | None = None,
    latest: bool = False,
) -> Truncated:
    """The feed-forward equivalent of a model within ε, and the certificate of `certify`.

    ‖h_T − H_T^k‖₂ ≤ ε for every T and all inputs with ‖x_t‖₂ ≤ B, in real arithmetic; the module
    has the model's own dtype; with `latest` it gives the last output alone. Of the rows of a
    table the inputs are those of their box, since a file keeps none. Raises NotCertifiedError if no
    norm certifies the model, RangeError if k is above MAX_WINDOW, and what `certify` raises.
    Source: Miller & Hardt, Lemma 1.

    >>> module, certificate = rnnbounds.truncate(torch.nn.RNN(1, 4), inputs=1.0, eps=0.1)
    """
    loaded = load_model(model, cell, ignore=ignore, layer=layer)
    if isinstance(inputs, InputSet) and inputs.rows is not None:
        inputs = inputs.box
    certificate = certify(loaded, inputs=inputs, eps=[eps])
    ((_, k),) = certificate.windows
    if certificate.verdict != "certified" or k is None:
        raise NotCertifiedError(certificate)
    if k > MAX_WINDOW:
        raise RangeError("the window k", k, f"at most {MAX_WINDOW}, as for a larger ε")
    try:
        told = provable(certificate.to_dict())
    except RecordError:
        B = certificate.input_bound
        raise RangeError("the input bound", B, "so small that no bound overflows") from None
    return Truncated(unrolled(loaded, k, latest), told)


def unrolled(model: LoadedModel[Any], k: int, latest: bool = False) -> FeedForward:
    """The feed-forward form of a model with the window k, in the model's own dtype."""
    return FeedForward(model.weights, cell=model.name, k=k, latest=latest)


def packed(module: FeedForward, certificate: dict[str, Any], target: Path) -> bytes:
    """The bytes of the file of a truncated model; raises as `save_truncated`."""
    text = vouched(module, certificate, target)
    check_target(target, Path(str(certificate["model"])))
    told = {
        "format": TRUNCATED.format,
        "k": str(module.k),
        "cell": module.cell,
        "output": LATEST if module.latest else ALL,
        "certificate": text,
    }
    weights = _stored(dict(module.named_parameters(recurse=False)))
    parts = contents(as_safetensors(weights, {}))[0]
    return as_safetensors(weights, told | {"sha256": TRUNCATED.seal(told, parts)})


def provable(certificate: dict[str, Any]) -> dict[str, Any]:
    """A certificate with no other constants than those that `impl.checker` proves; raises
    RecordError for what is none, and where a bound that has to be finite overflows."""
    names = converted(certificate, Record).proved_constants
    return certificate | {"constants": {name: certificate["constants"][name] for name in names}}


def vouched(module: FeedForward, certificate: dict[str, Any], path: Path) -> str:
    """The text of the certificate of a truncated model; raises InputError for that of another model
    or window, and for a module with a readout."""
    again = "pass the certificate that 'truncate' returned with it"
    try:
        told = provable(certificate)
        meant = converted(told, Record)
        text = json.dumps(told, allow_nan=False, sort_keys=True)
    except (KeyError, TypeError, ValueError):
        raise InputError(f"this is no certificate of a truncated model; {again}") from None
    windows = {one.k for one in meant.truncation}
    if module.k not in windows or module.k > MAX_WINDOW or meant.verdict != "certified":
        raise FileError(path, "has a window k that is not in its certificate", _AGAIN)
    parts = contents(as_safetensors(_stored(module.weights), {}))[0]
    if module.cell != meant.cell or not is_about(meant, parts, module.sizes.n, module.sizes.d):
        raise FileError(path, ANOTHER, _AGAIN)
    if module.readout is not None:
        raise InputError("a truncated model is saved without its readout; save that one by itself")
    return text


def parsed(data: bytes, path: Path) -> tuple[FeedForward, TruncatedFile]:
    """The model in a file, whose weights are those that its record is about; raises an InputError
    for a file that is not intact."""
    tensors, _ = parse_safetensors(data, path)
    file = read_truncated(path, lambda path, reason: FileError(path, reason, _AGAIN), data)
    loaded = load_model(tensors, file.record.cell)
    suffix = kind_of(loaded.name).suffix
    if file.parts.keys() != {role + suffix for role in loaded.weights}:
        raise FileError(path, f"does not hold exactly the tensors of {loaded.name}", _AGAIN)
    roles = {role: file.parts[role + suffix] for role in loaded.weights}
    about = is_about(file.record, roles, loaded.n, loaded.d) and loaded.name == file.record.cell
    if not about or file.k > MAX_WINDOW:
        raise FileError(path, ANOTHER, _AGAIN)
    return unrolled(loaded, file.k, file.output == LATEST), file


def _stored(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Tensors as files store them."""
    return {name: part.detach().cpu().contiguous() for name, part in weights.items()}
