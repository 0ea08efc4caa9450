"""Truncated models for other runtimes: torch.export's .pt2 and ONNX, batch and length dynamic.

What is exported is the feed-forward form without a state, its k layers one after another: layer j
feeds S_t^j = φ(S_{t−1}^{j−1}, x_t) from states that are shifted by one, zero before the first. So
S_t^j is what min(j, t) inputs make of the zero state, at any length. The last output alone takes k
steps of one row, over the last k inputs behind k that are not there: their states are held at zero.
The certificate travels with it. Sources: Miller & Hardt, section 3; the ONNX and torch.export
documentation.
"""

import importlib.util
import io
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.convert.truncate import vouched
from rnnbounds.impl.errors import InputError, RangeError, shown
from rnnbounds.impl.format.sealed import EXPORTS

LAYERS = 1000  # of which each is traced
# The name that a certificate has in the file, or what stands in its place.
CERTIFICATE, ON_DATA = "certificate.json", "not-certified.json"
_NEEDED = ("onnx", "onnxscript")


def check_export(path: Path) -> None:
    """Raise InputError for a suffix that is not known, or of which a library is missing."""
    if path.suffix not in EXPORTS:
        known = " or ".join(EXPORTS)
        raise InputError(f"{shown(path)}: exports end in {known}; name it so")
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if path.suffix == ".onnx" and missing:
        raise InputError(
            f"{shown(path)}: needs {' and '.join(missing)}; pip install 'rnnbounds[onnx]'"
        )


def exported(module: FeedForward, certificate: dict[str, Any], path: Path) -> bytes:
    """Serialise the module for a file of that name; raises as `save_truncated`."""
    check_export(path)
    if module.k > LAYERS:
        raise RangeError("the window k", module.k, f"at most {LAYERS} to export, as for a larger ε")
    record = {ON_DATA if module.basis else CERTIFICATE: vouched(module, certificate, path)}
    program = traced_program(Stateless(module), module.sizes.d, module.k)
    return _onnx(program, record) if path.suffix == ".onnx" else _pt2(program, record)


def traced_program(module: torch.nn.Module, d: int, steps: int) -> torch.export.ExportedProgram:
    """The graph of a module of fixed weights that maps x (N, T, d) -> (N, T, ·) in so many steps,
    whose batch and length are dynamic."""
    x = torch.zeros(3, max(2, steps) + 5, d, dtype=next(module.buffers()).dtype)
    N, T = torch.export.Dim("batch", min=1), torch.export.Dim("length", min=1)
    with torch.no_grad():
        return torch.export.export(module.eval(), (x,), dynamic_shapes=({0: N, 1: T},))


class Stateless(torch.nn.Module):
    """Export form of a feed-forward module: equal outputs by operations of fixed shapes."""

    def __init__(self, module: FeedForward) -> None:
        super().__init__()
        self.kind, self.k, self.latest = kind_of(module.cell), module.k, module.latest
        self.sizes = module.sizes
        for name, part in module.weights.items():
            self.register_buffer(name, part.detach())
        self.names = tuple(module.weights)

    def forward(self, x: Tensor) -> Tensor:
        """x (N, T, d) -> h."""
        weights = {name: getattr(self, name) for name in self.names}
        return self._last(weights, x) if self.latest else self._all(weights, x)

    def _all(self, weights: dict[str, Tensor], x: Tensor) -> Tensor:
        drive = self.kind.drive(weights, x)
        zero = x.new_zeros(1, 1, self.sizes.state).expand(x.shape[0], 1, -1)
        s = (x[:, :, :1] * 0).expand(-1, -1, self.sizes.state)
        for _ in range(self.k):
            before = torch.cat([zero, s], dim=1)[:, : x.shape[1]]
            s = self.kind.step(weights, drive, before)
        return s[..., -self.sizes.n :]

    def _last(self, weights: dict[str, Tensor], x: Tensor) -> Tensor:
        behind = x.new_zeros(1, self.k, 1)
        there = torch.cat([behind, x.new_ones(1, x.shape[1], 1)], dim=1)[:, -self.k :]
        x = torch.cat([behind.expand(x.shape[0], -1, x.shape[2]), x], dim=1)[:, -self.k :]
        drive = self.kind.drive(weights, x)
        s = x.new_zeros(1, 1, self.sizes.state).expand(x.shape[0], 1, -1)
        for t in range(self.k):
            s = there[:, t : t + 1] * self.kind.step(weights, drive[:, t : t + 1], s)
        return s[:, 0, -self.sizes.n :]


@contextmanager
def _silent() -> Iterator[None]:
    """Without what the exporter tells of its progress and of libraries that it does not need."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def _pt2(traced: torch.export.ExportedProgram, record: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    torch.export.save(traced, buffer, extra_files=record)
    return buffer.getvalue()


def _onnx(traced: torch.export.ExportedProgram, record: dict[str, str]) -> bytes:
    with _silent():
        program = torch.onnx.export(
            traced, (), input_names=["x"], output_names=["h"], dynamo=True, verbose=False
        )
    if program is None:
        raise InputError("torch.onnx exports nothing of this model; export it to .pt2")
    model = program.model_proto
    for name, text in record.items():
        entry = model.metadata_props.add()
        entry.key, entry.value = name, text
    return bytes(model.SerializeToString())
