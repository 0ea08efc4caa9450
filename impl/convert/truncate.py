"""Truncated models as files: the feed-forward form, its window and its certificate together.

A file is safetensors: the weights under torch's names, with them the readout C where ε is about
values C h, and in the metadata the window k, the cell, the certificate and a digest of all of them.
It is written whole or not at all.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputSet, bound_of
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import absolute, certify
from rnnbounds.impl.certificate.inputs import input_data
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.convert.on_data import known_on_data
from rnnbounds.impl.errors import (
    FileError,
    InputError,
    RangeError,
    UnknownNameError,
    exactly,
    factor,
    refused,
    renamed,
)
from rnnbounds.impl.format.fields import RecordError, converted
from rnnbounds.impl.format.on_data import AnyRecord, record_type
from rnnbounds.impl.format.record import Record
from rnnbounds.impl.format.sealed import (
    ALL,
    ANOTHER,
    LATEST,
    READOUT,
    TRUNCATED,
    TruncatedFile,
    is_about,
    is_readout,
    read_truncated,
)
from rnnbounds.impl.format.tensors import contents
from rnnbounds.impl.models.loaded import LoadedModel, Readout
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.numbers.json_values import as_json
from rnnbounds.impl.reading.adapters import Source, load_model
from rnnbounds.impl.reading.data.recordings import Data
from rnnbounds.impl.reading.data.sequences import DataSource, read_data
from rnnbounds.impl.reading.files import as_safetensors, check_target, parse_safetensors

ALL_INPUTS = "all"
BASES = {ALL_INPUTS: ("inputs",), "near": ("data", "near"), "seen": ("data",)}
"""Each basis of a k, and what it needs to be told."""
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
    """A truncated model: its feed-forward form, and its certificate as JSON data, or the record of
    what its k was known from."""

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
        read = self.certificate.get("readout")
        values = "" if read is None else f", of values y = {read['tensor']} h"
        basis = f", {self.module.basis}" if self.module.basis else ""
        within = f"within {exactly(self.eps)} of the recurrent model{values}{basis}"
        return f"{self.module.cell}: k = {self.k} input{'s' * (self.k != 1)}, {within}"


@refused(epsilons="eps", epsilon="eps")
@renamed("0.4", input_bound="inputs")
@isolated()
def truncate(
    model: Source | LoadedModel[Any],
    *,
    eps: float | str,
    inputs: float | InputSet | None = None,
    basis: str = ALL_INPUTS,
    data: DataSource | Data | None = None,
    near: float | None = None,
    window: int | None = None,
    cell: str | None = None,
    ignore: Collection[str] = (),
    layer: str | None = None,
    readout: str | None = None,
    latest: bool = False,
) -> Truncated:
    """The feed-forward equivalent of a model within ε, and the certificate of `certify`.

    ‖h_T − H_T^k‖₂ ≤ ε for every T and all inputs with ‖x_t‖₂ ≤ B, in real arithmetic; the module
    has the model's own dtype; with `latest` it gives the last output alone. With a `readout` C it
    is ‖C h_T − C H_T^k‖₂ ≤ ε; the module gives h, which the head reads as before. Of the rows of a
    table the inputs are those of their box, since a file keeps none.

    With the `basis` "near" k is the one that `measure(model, data, near=near, window=window)`
    proves for inputs near the windows of the `data`; with "seen" the one that it sees on them, and
    nothing is proved. Then there is a record of that in place of a certificate, and the module and
    its file say so.

    Raises NotCertifiedError if no norm certifies the model, RangeError if k is above MAX_WINDOW, an
    InputError where the data show no k, and what `certify` and `measure` raise. Source: Miller &
    Hardt, Lemma 1.

    >>> module, certificate = rnnbounds.truncate(torch.nn.RNN(1, 4), inputs=1.0, eps=0.1)
    """
    loaded = load_model(model, cell, ignore=ignore, layer=layer, readout=readout)
    _require_basis(basis, {"inputs": inputs, "data": data, "near": near, "window": window})
    if data is not None:
        read = read_data(data)
        ((number, _),) = absolute(eps, loaded, lambda: input_data(read))
        record = known_on_data(loaded, read, number, near, window)
        return Truncated(unrolled(loaded, record.k, latest, record.basis), as_json(record))
    if isinstance(inputs, InputSet) and inputs.rows is not None:
        inputs = inputs.box
    certificate = certify(loaded, inputs=bound_of(inputs), eps=[eps])
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


def _require_basis(basis: str, given: Mapping[str, object]) -> None:
    """Raise an InputError for a basis that is unknown, without what it needs, or with more."""
    if basis not in BASES:
        raise UnknownNameError("basis", basis, list(BASES))
    for name, value in given.items():
        needed = name in BASES[basis]
        if needed and value is None and name != "inputs":  # `certify` says which inputs there are
            raise InputError(f"the basis {basis!r} needs {name}; give it too")
        if not needed and value is not None and not (name == "window" and basis != ALL_INPUTS):
            raise InputError(
                f"the basis {basis!r} does not read {name}; leave it out, or choose another basis"
            )


def unrolled(model: LoadedModel[Any], k: int, latest: bool = False, basis: str = "") -> FeedForward:
    """The feed-forward form of a model with the window k, in the model's own dtype."""
    C = None if model.readout is None else model.readout.weight
    return FeedForward(model.weights, cell=model.name, k=k, readout=C, latest=latest, basis=basis)


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
    weights = _stored(dict(module.named_parameters()))
    if module.readout is not None:
        weights |= _stored({READOUT: module.readout})
    parts = contents(as_safetensors(weights, {}))[0]
    return as_safetensors(weights, told | {"sha256": TRUNCATED.seal(told, parts)})


def provable(certificate: dict[str, Any]) -> dict[str, Any]:
    """A certificate with no other constants than those that `impl.checker` proves, any other record
    as it is; raises RecordError for what is none, and where a bound that has to be finite
    overflows."""
    record: AnyRecord = converted(certificate, record_type(certificate))
    if not isinstance(record, Record):
        return certificate
    names = record.proved_constants
    return certificate | {"constants": {name: certificate["constants"][name] for name in names}}


def vouched(module: FeedForward, certificate: dict[str, Any], path: Path) -> str:
    """The text of the certificate of a truncated model; raises InputError for that of another
    model, readout or window."""
    again = "pass the certificate that 'truncate' returned with it"
    try:
        told = provable(certificate)
        meant: AnyRecord = converted(told, record_type(told))
        text = json.dumps(told, allow_nan=False, sort_keys=True)
    except (KeyError, TypeError, ValueError):
        raise InputError(f"this is no certificate of a truncated model; {again}") from None
    windows = {one.k for one in meant.truncation}
    undecided = isinstance(meant, Record) and meant.verdict != "certified"
    if module.k not in windows or module.k > MAX_WINDOW or undecided:
        raise FileError(path, "has a window k that is not in its certificate", _AGAIN)
    if module.basis != basis_of(meant):
        raise FileError(path, ANOTHER, _AGAIN)
    read = {} if module.readout is None else {READOUT: module.readout}
    parts = contents(as_safetensors(_stored(module.weights | read), {}))[0]
    same = is_readout(meant, parts.pop(READOUT, None)) and module.cell == meant.cell
    if not same or not is_about(meant, parts, module.sizes.n, module.sizes.d):
        raise FileError(path, ANOTHER, _AGAIN)
    return text


def basis_of(record: AnyRecord) -> str:
    """The basis of k in words, of a record that is no certificate; "" of one that is."""
    return "" if isinstance(record, Record) else record.basis


def parsed(data: bytes, path: Path) -> tuple[LoadedModel[Any], TruncatedFile]:
    """The recurrent model in a file, whose weights are those that its record is about; raises an
    InputError for a file that is not intact."""
    tensors, _ = parse_safetensors(data, path)
    file = read_truncated(path, lambda path, reason: FileError(path, reason, _AGAIN), data)
    C = tensors.pop(READOUT, None)
    loaded = load_model(tensors, file.record.cell)
    suffix = kind_of(loaded.name).suffix
    if file.parts.keys() != {role + suffix for role in loaded.weights}:
        raise FileError(path, f"does not hold exactly the tensors of {loaded.name}", _AGAIN)
    roles = {role: file.parts[role + suffix] for role in loaded.weights}
    about = is_about(file.record, roles, loaded.n, loaded.d) and loaded.name == file.record.cell
    if not about or file.k > MAX_WINDOW:
        raise FileError(path, ANOTHER, _AGAIN)
    if C is not None and file.record.readout is not None:
        loaded = replace(loaded, readout=Readout(file.record.readout.tensor, C))
    return loaded, file


def _stored(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Tensors as files store them."""
    return {name: part.detach().cpu().contiguous() for name, part in weights.items()}
