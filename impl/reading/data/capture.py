"""Inputs that reach a recurrent layer inside a module, recorded while the module runs.

Scalers, lags, embeddings and covariates stand before the layer in many models, and weights do not
say what they make of the data. Hooks record what the layer is called with, and where it ends.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import torch

from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.models.surroundings import isolated, untouched
from rnnbounds.impl.reading.data.captured import Array, Captured
from rnnbounds.impl.reading.data.recordings import LARGEST
from rnnbounds.impl.reading.pytorch.layer_calls import Call, call_of
from rnnbounds.impl.reading.pytorch.modules import recurrent_parts


class CaptureError(InputError):
    """A layer that is not there, or of which no sequences can be recorded."""

    def __init__(self, layer: str, what: str, remedy: str) -> None:
        super().__init__(f"{shown(layer)}: {what}; {remedy}")


@isolated()
def capture(
    model: torch.nn.Module,
    batches: Iterable[Any],
    layer: str,
    *,
    run: Callable[[Any], object] | None = None,
) -> Captured:
    """Record the inputs, starts and lengths that a layer sees while a module runs the batches.

    A batch is a tensor, a tuple or list of positional arguments, or a dict of named ones; or `run`
    is called with it, and runs the module. Inputs are recorded as the layer gets them, by torch's
    `batch_first`; a `PackedSequence` gives sequences of its lengths. Calls within one batch that
    start where the call before ended are joined to one sequence, as those of an LSTMCell in a loop;
    all others begin sequences of their own. The module is run without gradients, in its own mode,
    and left as it was.

    Raises CaptureError for a path that leads to no layer; for a layer that is not called, or with
    what is no sequence of vectors of one width; for a cell in a loop that never starts from its own
    last state; and for more than 2 GiB of inputs. An error of the module itself is not caught.

    >>> seen = rnnbounds.capture(model, loader, "encoder.rnn")
    >>> rnnbounds.measure(model, seen.data(), layer="encoder.rnn")
    """
    part = _part(model, layer)
    recorder = _Recorder(layer)
    with torch.no_grad(), untouched(model):
        hook = part.register_forward_hook(recorder.record, with_kwargs=True)
        try:
            for batch in batches:
                recorder.begin()
                _run(model, batch) if run is None else run(batch)
        finally:
            hook.remove()
    batch_first = part.batch_first if isinstance(part, torch.nn.RNNBase) else None
    return recorder.captured(batch_first, _dilations(model, layer), model.training)


def _part(model: object, layer: str) -> torch.nn.Module:
    if not isinstance(model, torch.nn.Module):
        raise CaptureError(layer, f"{type(model).__name__} is no module", "pass a torch.nn.Module")
    try:
        return model if layer == "." else model.get_submodule(layer)
    except AttributeError:
        known = ", ".join(path or "." for path, _ in recurrent_parts(model)) or "none is torch's"
        raise CaptureError(layer, "is no layer of the module", f"choose among: {known}") from None


def _run(model: torch.nn.Module, batch: Any) -> None:
    if isinstance(batch, Mapping):
        model(**batch)
    elif isinstance(batch, tuple | list):
        model(*batch)
    else:
        model(batch)


def _dilations(model: torch.nn.Module, layer: str) -> dict[str, object]:
    """Attributes `dilation` and `dilations` of the layer and the modules around it, by path."""
    parts = [] if layer == "." else layer.split(".")
    found: dict[str, object] = {}
    for depth in range(len(parts), -1, -1):
        path = ".".join(parts[:depth])
        part = model.get_submodule(path)
        for name in ("dilation", "dilations"):
            if (value := getattr(part, name, None)) is not None:
                found[f"{path}.{name}".lstrip(".")] = value
    return found


class _Recorder:
    """Sequences so far, of which those of this batch may go on."""

    def __init__(self, layer: str) -> None:
        self.layer, self.batches, self.carried_over, self.bytes = layer, 0, 0, 0
        self.done: list[Array] = []
        self.starts: list[Array] = []
        self.open: list[Call] = []
        self.last: Call | None = None
        self.calls = self.first_calls = 0

    def begin(self) -> None:
        """Begin a batch, whose calls go on with no sequence of another."""
        self.close()
        self.batches += 1

    def record(
        self, part: torch.nn.Module, args: tuple[Any, ...], named: dict[str, Any], output: Any
    ) -> None:
        """Record a call; a forward hook."""
        call = call_of(part, args, named, output)
        if call is None:
            what = f"{type(part).__name__} is called with what is no sequence of vectors (N, T, d)"
            raise CaptureError(self.layer, what, "choose the recurrent layer itself")
        self.bytes += call.x.numel() * call.x.element_size()
        if self.bytes > LARGEST:
            raise CaptureError(self.layer, f"sees more than {LARGEST} bytes", "pass fewer batches")
        new = not (self.open and self.open[-1].is_whole and call.follows(self.open[-1]))
        if new:
            moved = call.start is not None and bool(call.start.any())
            self.carried_over += not self.open and moved and call.follows(self.last)
            self.close()
        cell = isinstance(part, torch.nn.RNNCellBase)
        self.calls, self.first_calls = self.calls + cell, self.first_calls + (cell and new)
        self.open.append(call)
        self.last = call

    def close(self) -> None:
        """End the sequences that are open."""
        if not self.open:
            return
        first = self.open[0]
        x = torch.cat([call.x for call in self.open], 1).cpu()
        before = x.shape[1] - self.open[-1].x.shape[1]
        for row, length in zip(x, self.open[-1].lengths, strict=True):
            sequence = row[: before + length]
            narrow = sequence.dtype in (torch.bfloat16, torch.float16)
            self.done.append((sequence.float() if narrow else sequence).numpy().copy())
        start = torch.zeros(len(x), 0) if first.start is None else first.start
        self.starts.append(start.cpu().double().numpy())
        self.open = []

    def captured(
        self, batch_first: bool | None, dilations: dict[str, object], training: bool
    ) -> Captured:
        """Everything that was recorded; raises CaptureError where it makes no sequences."""
        self.close()
        if not self.done:
            what = f"is not called in {self.batches} batches"
            raise CaptureError(self.layer, what, "run batches that reach it, or pass run")
        if self.batches < self.calls == self.first_calls:
            what = "is a cell that never starts where it ended: its state is changed between calls"
            raise CaptureError(self.layer, what, "measure the module as it is")
        if len({one.shape[1] for one in self.done}) > 1:
            raise CaptureError(self.layer, "sees vectors of several widths", "choose another layer")
        return Captured(
            self.layer, tuple(self.done), np.concatenate(self.starts), batch_first, dilations,
            self.batches, self.carried_over, training,
        )  # fmt: skip
