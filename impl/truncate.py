"""Truncated models as files: the feed-forward form, its window and its certificate together.

A file is safetensors: the weights under torch's names, and in the metadata the window k, the cell,
the certificate and a digest of all of them. It is written whole or not at all.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from safetensors.torch import save
from torch import Tensor

from impl.adapters import Source, load_model
from impl.cells import kind_of
from impl.certificate import SCHEMA, Certificate, certify
from impl.errors import InputError, RangeError
from impl.feedforward import FeedForward
from impl.files import ModelFileError, check_target, parse_safetensors, read_file, write_file
from impl.model import LoadedModel, digest

FORMAT = "rnnbounds/truncated/1"
MAX_WINDOW = 1_000_000  # layers beyond this are nobody's feed-forward model


class NotCertifiedError(InputError):
    """A model without a certified window; `certificate` says what was tried."""

    def __init__(self, certificate: Certificate) -> None:
        told = f"best factor {certificate.lam:.6g} in the {certificate.norm} norm"
        super().__init__(
            f"{certificate.model} is {certificate.verdict} ({certificate.reason or told}), so no "
            f"window is certified; {kind_of(certificate.cell).remedy}"
        )
        self.certificate = certificate


def truncate(
    model: Source | LoadedModel[Any],
    epsilon: float,
    input_bound: float,
    *,
    cell: str | None = None,
) -> tuple[FeedForward, dict[str, Any]]:
    """The feed-forward equivalent of a model within ε, and its certificate as JSON data.

    ‖h_T − H_T^k‖₂ ≤ ε for every T and all inputs with ‖x_t‖₂ ≤ B, in real arithmetic; the module
    has the model's own dtype. Raises NotCertifiedError if no norm certifies the model, RangeError
    if k is above MAX_WINDOW, and what `certify` raises. Source: Miller & Hardt, Lemma 1.
    """
    loaded = load_model(model, cell)
    certificate = certify(loaded, input_bound, (epsilon,))
    k = certificate.window(epsilon)
    if certificate.verdict != "certified" or k is None:
        raise NotCertifiedError(certificate)
    if k > MAX_WINDOW:
        raise RangeError("the window k", k, f"at most {MAX_WINDOW}; take a larger ε")
    return unrolled(loaded, k), certificate.to_json()


def unrolled(model: LoadedModel[Any], k: int) -> FeedForward:
    """The feed-forward form of a model with the window k, in the model's own dtype."""
    return FeedForward(model.weights, cell=model.name, k=k)


def save_truncated(
    module: FeedForward, certificate: dict[str, Any], path: str | os.PathLike[str]
) -> None:
    """Write a truncated model atomically: a reader sees the old file or the new one, never half.

    Raises InputError if the certificate is not the module's, or the file cannot be written,
    has the suffix of another kind, or is the model's own.
    """
    weights = {name: part.detach().cpu().contiguous() for name, part in _weights(module).items()}
    told = {
        "format": FORMAT,
        "k": str(module.k),
        "cell": module.cell,
        "certificate": json.dumps(certificate, allow_nan=False, sort_keys=True),
    }
    target = Path(path)
    check_target(target, Path(str(_check(target, told, weights).get("model", ""))))
    if module.readout is not None:
        raise InputError("a truncated model is saved without its readout; save that one by itself")
    write_file(target, save(weights, told | {"sha256": _seal(told, weights)}))


def load_truncated(path: str | os.PathLike[str]) -> FeedForward:
    """Rebuild a truncated model; raises an InputError for a file that is not intact."""
    return _load(Path(path))[0]


def load_certificate(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The certificate that travels with a truncated model; raises as `load_truncated`."""
    return _load(Path(path))[1]


def _load(path: Path) -> tuple[FeedForward, dict[str, Any]]:
    tensors, told = parse_safetensors(read_file(path), path)
    loaded = load_model(tensors, told.get("cell"))  # looks at dtypes, shapes and values
    suffix = kind_of(loaded.name).suffix
    weights = {role + suffix: part for role, part in loaded.weights.items()}
    certificate = _check(path, told, weights)
    if told.get("sha256") != _seal(told, weights):
        raise ModelFileError(path, "was changed after it was written", "truncate the model again")
    return unrolled(loaded, int(told["k"])), certificate


def _check(path: Path, told: dict[str, str], weights: dict[str, Tensor]) -> dict[str, Any]:
    """The certificate, if format, window, cell and weights are those that it speaks of."""
    again = "truncate the model again"
    if told.get("format") != FORMAT:
        raise ModelFileError(path, f"is not of the format {FORMAT}", again)
    text = told.get("k", "")
    if not (text.isascii() and text.isdigit() and len(text) < 8 and int(text) <= MAX_WINDOW):
        raise ModelFileError(path, f"has the window k = {text[:20]!r}", again)
    try:
        certificate = json.loads(told.get("certificate", ""))
        windows = [entry["k"] for entry in certificate["truncation"]]
        speaks = (certificate["schema"], certificate["verdict"], certificate["cell"])
        meant = certificate["sha256"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ModelFileError(path, "holds no readable certificate", again) from None
    if speaks != (SCHEMA, "certified", told.get("cell", "")) or int(text) not in windows:
        raise ModelFileError(path, "holds a certificate of something else", again)
    suffix = kind_of(told["cell"]).suffix
    roles = {name.removesuffix(suffix): part for name, part in weights.items()}
    if meant != digest(told["cell"], roles):
        raise ModelFileError(path, "holds the certificate of other weights", again)
    return dict(certificate)


def _weights(module: FeedForward) -> dict[str, Tensor]:
    return dict(module.named_parameters(recurse=False))


def _seal(told: dict[str, str], weights: dict[str, Tensor]) -> str:
    """SHA-256 of the metadata and the weights."""
    kept = {name: told.get(name, "") for name in ("format", "k", "cell", "certificate")}
    return digest(hashlib.sha256(json.dumps(kept).encode()).hexdigest(), weights)
