"""Measurements of any causal model as it is run, and a statement on others drawn like the data.

A gap compares the output after the last of T inputs with the output after its last k inputs alone,
as a window of their own: nothing stands before them. All is about the run as it was computed, in
its dtype and on its device; nothing is said of real arithmetic, and nothing is read of weights.

One run decides whether outputs repeat; whether an output depends on later inputs, or on other
windows of its batch, is tried on changed inputs of the data's own values: what is found is shown,
what is not found is not disproved. Runs of equal shape may differ by rounding (an FFT, sums in
another order): a change counts from √u of the largest output on, u the dtype's unit roundoff.
Source: Clopper & Pearson for the statement.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.parameter import is_lazy

from rnnbounds.impl.cells.runs import grid
from rnnbounds.impl.errors import InputError, NotFiniteError, RangeError, ShapeError, shown
from rnnbounds.impl.memory.exact import Decided
from rnnbounds.impl.memory.gaps import NORM, OutputGap, gap_named
from rnnbounds.impl.memory.measure import (
    CURVE,
    CurveRow,
    Observed,
    WindowCount,
    held_part,
)
from rnnbounds.impl.memory.repeats import reason_unstated
from rnnbounds.impl.memory.statement import (
    SHARE,
    Statement,
    least_window,
    presupposed,
    require_enough,
    stated,
)
from rnnbounds.impl.models.surroundings import isolated, spread_work, untouched
from rnnbounds.impl.numbers.json_values import as_json
from rnnbounds.impl.reading.data.recordings import Data
from rnnbounds.impl.reading.data.sequences import DataSource, read_data
from rnnbounds.impl.reading.opened import Opened

SCHEMA = "rnnbounds/causal-measurement/1"
BATCH, NUMBERS = 64, 2**26  # windows that are run at once by default, with so many outputs
PROBED, SPLITS = 4, 16  # windows, and times after which inputs are changed
_RETURNS = "let it return outputs (N, T, p) or (N, p)"


@dataclass(frozen=True, eq=False, repr=False)
class CausalMeasurement(Observed):
    """The measured memory of any causal model; see `to_dict` for the record that is written.

    run: how it was run: the dtype of inputs (int64 for tokens), the number of outputs, the device,
    windows at once, and whether causality was tried. gaps: between the output after a whole window
    and after its last k inputs alone, in outputs as they were computed. largest: the largest
    ‖y_T‖₂ among them. The statement is about windows that are run as here.

    >>> seen = rnnbounds.measure(torch.nn.Linear(8, 8), torch.randn(200, 20, 8), eps=0.1)
    >>> seen.window(0.1), seen.curve[0]["worst"]
    """

    model: str
    run: Mapping[str, Any]
    gap: OutputGap
    largest: float

    @property
    def curve(self) -> list[CurveRow]:
        """The forgetting curve: for each k the mean and quantiles of the gap, and the worst."""
        means = self.gaps.mean(0).tolist()
        pairs = zip(super().curve, means, strict=True)
        return [{"k": row["k"], "mean": mean, **row} for row, mean in pairs]

    def line(self) -> str:
        """From which k on every window was within ε."""
        where = f"{len(self.gaps)} windows of {self.length} inputs, read as {self.axes}"
        told = self.told(self.gap.within)
        return f"{self.model}: {self.gap.formula}, seen on {where}: {told}"

    def to_dict(self) -> dict[str, Any]:
        """The record as plain JSON data."""
        record: dict[str, Any] = as_json({
            "schema": SCHEMA,
            "kind": "on your data, as computed",
            "model": self.model,
            "run": dict(self.run),
            "data": {"source": self.data, "windows": self.windows, "length": self.length},
            "gap": {"name": self.gap.name, "formula": self.gap.formula},
            "largest_output": self.largest,
            "forgetting": {"windows": len(self.gaps), "curve": self.curve},
            "memory": [{"eps": eps, "k": self.window(eps)} for eps in self.eps],
            "statement": self.statement,
            "unstated": self.unstated,
        })  # fmt: skip
        return record


@isolated()
def measure_causal(
    opened: Opened,
    data: DataSource | Data,
    *,
    window: int | None = None,
    eps: float | Sequence[float] | None = None,
    confidence: float = 0.99,
    share: float | None = None,
    gap: str = NORM,
    batch: int | None = None,
    device: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> CausalMeasurement:
    """Measure a causal model on data, as it is run; arguments as in `rnnbounds.measure`."""
    asked = gap_named(gap)
    epsilons = asked.epsilons(eps)
    if batch is not None and (type(batch) is not int or batch < 1):
        raise RangeError("the batch", repr(batch), "a whole number of windows, at least 1")
    read, tokens = _inputs(data)
    held = read.windows(window)
    M, T, unstated = len(held), held.T, reason_unstated(read, held)
    if share is not None and unstated is not None:
        raise unstated
    alpha, needed = require_enough(M, len(epsilons), confidence, share)
    model = _CausalModel.of(opened, device, batch)
    module = model.call if isinstance(model.call, torch.nn.Module) else None
    spread_work(() if module is None else module.parameters())
    stored = held.rows.dtype.newbyteorder("=")
    dtype = model.dtype or torch.from_numpy(np.empty(0, stored)).dtype

    def taken(rows: slice) -> Tensor:
        x = held_part(held, rows)
        return (x[:, :, 0].long() if tokens else x.to(dtype)).to(model.device)

    with nullcontext() if module is None else untouched(module):
        probe = taken(slice(0, min(M, PROBED)))
        causal, outputs = _checked(model, probe)
        size = batch or max(1, min(BATCH, NUMBERS // (T * outputs)))
        seen, held_out = min(M, CURVE), 0 if unstated else min(M - M // 2, 2 * needed)
        report = WindowCount(seen + held_out, progress)

        def gaps(first: int, count: int, ks: Sequence[int]) -> Tensor:
            """The gap at each k, then ‖y_T‖₂, of these windows: (count, len(ks) + 1)."""
            starts = range(first, first + count, size)
            parts = [slice(start, min(start + size, first + count)) for start in starts]
            return torch.cat([report.after(part, model.gaps(taken(part), ks, asked))
                              for part in parts])  # fmt: skip

        ks = grid(T)[1:]
        found = gaps(0, seen, ks[:-1])
        curve = torch.cat([found[:, :-1], found.new_zeros(seen, 1)], 1)  # 0 at k = T
        statement = None
        if unstated is None:
            chosen = [least_window(ks, curve[: M // 2], epsilon) for epsilon in epsilons]
            tried = sorted({k for k in chosen if k is not None})
            rest, lines = gaps(M // 2, held_out, tried), []
            for epsilon, k in zip(epsilons, chosen, strict=True):
                inside = None if k is None else rest[:, tried.index(k)] <= epsilon
                told = None if inside is None else Decided(inside, torch.zeros_like(inside))
                lines.append(stated(epsilon, k, told, alpha))
            statement = Statement(
                confidence, min(M // 2, seen), held_out, T, tuple(lines),
                SHARE if share is None else share, needed, presupposed(held),
            )  # fmt: skip
    run = {
        "inputs": str(probe.dtype).removeprefix("torch."), "outputs": outputs,
        "device": str(model.device), "batch": size, "causality": "tried" if causal else "not tried",
    }  # fmt: skip
    return CausalMeasurement(
        read.source, read.N, read.T, M, T, ks, curve, epsilons, statement,
        None if unstated is None else str(unstated), model.title, run, asked,
        float(found[:, -1].amax()),
    )  # fmt: skip


def _inputs(source: DataSource | Data) -> tuple[Data, bool]:
    """Sequences as `read_data` has them, and True if they are tokens: integers (T,) or (N, T),
    which become sequences (N, T, 1)."""
    read = read_data(source)
    if not read.one or read.rows.dtype.kind not in "iu":
        return read, False
    sequences = read.rows if read.d > 1 else read.rows.T
    x = np.ascontiguousarray(sequences)[:, :, None]
    return replace(read_data(x[0] if len(x) == 1 else x), source=read.source), True


@dataclass(frozen=True, eq=False)
class _CausalModel:
    """A function of windows (N, T, d), or of tokens (N, T), run on one device, at most so many
    windows at once, if that is asked for.

    dtype: what inputs that are not tokens are converted to, the dtype of its first floating
    parameter; None where it has none: they keep theirs.
    """

    call: Callable[..., object]
    title: str
    device: torch.device
    dtype: torch.dtype | None
    most: int | None

    @classmethod
    def of(cls, opened: Opened, device: str | None, most: int | None) -> "_CausalModel":
        """The model of an opened source; a module is moved to the device, if one is named."""
        model = opened.runs
        if model is None:
            raise InputError(f"{opened.where} holds weights; pass a module or a function")
        if not isinstance(model, torch.nn.Module):
            return cls(model, opened.title, _device(device or "cpu"), None, most)
        parts = list(model.parameters())
        if any(part.is_meta or is_lazy(part) for part in parts):
            what = f"{opened.title} has parameters without values"
            raise InputError(f"{shown(what)}; load them, and run lazy modules once")
        if device is not None:
            model.to(_device(device))
            parts = list(model.parameters())
        dtype = next((part.dtype for part in parts if part.is_floating_point()), None)
        own = parts[0].device if parts else _device(device or "cpu")
        return cls(model, opened.title, own, dtype, most)

    def outputs(self, x: Tensor) -> Tensor:
        """The outputs on windows x: (N, T, p), or (N, p) after the last input; as computed."""
        return torch.cat([self._outputs(part) for part in torch.split(x, self.most or len(x))])

    def _outputs(self, x: Tensor) -> Tensor:
        """Those of windows that are run at once.

        Raises InputError for every error of the model, ShapeError for an output of another length.
        """
        try:
            with torch.no_grad():
                y = _tensor(self.call(x.clone()))
        except (Exception, SystemExit) as cause:
            text = " ".join(f"{type(cause).__name__}: {cause}".split())[:160]
            where = f"windows of shape {tuple(x.shape)}, {x.dtype}"
            remedy = "let it take them (N, T, d), or tokens (N, T), of every length T"
            if isinstance(cause, MemoryError | torch.OutOfMemoryError):
                remedy = "run fewer windows at once (batch), or take shorter ones"
            raise InputError(f"{shown(self.title)} raises {text} on {where}; {remedy}") from None
        if y is None:
            raise InputError(f"{shown(self.title)} returns no tensor; {_RETURNS}")
        N, T = x.shape[:2]
        whole = y.ndim == 3 and y.shape[:2] == (N, T)
        if not (whole or (y.ndim == 2 and len(y) == N)) or not y.shape[-1] or y.is_complex():
            needed = f"({N}, {T}, p) or ({N}, p)"
            raise ShapeError(f"the output of {shown(self.title)}", needed, y, _RETURNS)
        return y.detach()

    def gaps(self, x: Tensor, ks: Sequence[int], gap: OutputGap) -> Tensor:
        """The gap of windows x at each k, then ‖y_T‖₂: (N, len(ks) + 1)."""
        full, columns = _last(self.outputs(x)), []
        for k in ks:
            short = _last(self.outputs(x[:, x.shape[1] - k :]))
            if short.shape != full.shape:
                what = f"the last output of {shown(self.title)} after {k} inputs"
                needed = f"that after {x.shape[1]}, {tuple(full.shape)},"
                raise ShapeError(what, needed, short, f"{_RETURNS}, p the same for every T")
            columns.append(gap.of(full, short))
        return torch.stack([*columns, torch.linalg.vector_norm(full, dim=1)], 1)


def _checked(model: _CausalModel, x: Tensor) -> tuple[bool, int]:
    """(tried, size): True if causality was tried on windows x (N, T, …), False if the model gives
    one output a window; and how many numbers an output has. Raises InputError."""
    x = x.repeat(2, *[1] * (x.ndim - 1)) if len(x) == 1 else x
    y, again = (model.outputs(x) for _ in range(2))
    _last(y)  # raises NotFiniteError
    if not torch.equal(y, again):
        raise InputError(
            f"{model.title} has two outputs for the same inputs; call .eval() first, and let it "
            f"keep no state between calls"
        )
    other = x.roll(1, 0).flip(1)
    if gap := _mixing(model, x, other):
        raise InputError(
            f"{model.title}: the output on a window changes by {gap:.3g} with the other windows of "
            f"its batch; call .eval() first, take inputs (N, T, …), or run one window at a time "
            f"(--batch 1)"
        )
    if model.most == 1:
        last = _last(model.outputs(torch.cat([other[:, :-1], x[:, -1:]], 1)))
        if not _changed(_last(y), last).any() and _mixing(replace(model, most=None), x, other):
            raise InputError(
                f"{model.title}: the last output depends on the last input alone, but on other "
                f"windows run with it, as if its first axis were time; let it take inputs (N, T, …)"
            )
    T, first = x.shape[1], (x.shape[1], 0, 0.0)  # the first output that later inputs changed
    splits = {1 + i * (T - 1) // SPLITS for i in range(SPLITS)} if y.ndim == 3 else set()
    for s in sorted(splits - {T}):
        found = _changed(y[:, :s], model.outputs(torch.cat([x[:, :s], other[:, s:]], 1))[:, :s])
        by_time = found.amax((0, 2))
        if by_time.any():
            t = int(by_time.nonzero()[0])
            first = min(first, (t, s, float(by_time[t])))
    if first[1]:
        raise InputError(
            f"{model.title} is not causal: y_{first[0] + 1} changed by {first[2]:.3g} when the "
            f"inputs after time {first[1]} did; mask what is to come, or pass one direction"
        )
    return y.ndim == 3, y.shape[-1]


def _mixing(model: _CausalModel, x: Tensor, other: Tensor) -> float:
    """The most by which the output on a window of x changes with the windows beside it."""
    first, last = torch.cat([x[:1], other[1:]]), torch.cat([other[:-1], x[-1:]])
    y = model.outputs(x)
    ends = _changed(y[0], model.outputs(first)[0]), _changed(y[-1], model.outputs(last)[-1])
    return max(float(gap.max()) for gap in ends)


def _changed(y: Tensor, other: Tensor) -> Tensor:
    """|y − y'| where it is no rounding, else 0; infinity for NaN."""
    unit = torch.finfo(y.dtype).eps ** 0.5 if y.is_floating_point() else 0.0
    y, other = y.double(), other.double()
    apart = (y - other).abs().nan_to_num(torch.inf, torch.inf)
    return torch.where(apart > unit * y.abs().amax(), apart, 0.0)


def _last(y: Tensor) -> Tensor:
    """The last of outputs (N, T, p) or (N, p), in float64 on the CPU; raises NotFiniteError."""
    end = (y[:, -1] if y.ndim == 3 else y).cpu().double()
    if not bool(torch.isfinite(end).all()):
        row = int((~torch.isfinite(end)).any(1).nonzero()[0])
        remedy = "repair the model, or scale the inputs as in training"
        raise NotFiniteError(f"the output on window {row} of a batch", remedy)
    return end


def _tensor(found: Any) -> Tensor | None:
    """The tensor of outputs: itself, `.logits` or `.last_hidden_state`, or a tuple's first."""
    for name in ("logits", "last_hidden_state"):
        part = found.get(name) if isinstance(found, Mapping) else getattr(found, name, None)
        if isinstance(part, Tensor):
            return part
    if isinstance(found, tuple | list) and found:
        found = found[0]
    if isinstance(found, np.ndarray):
        return torch.from_numpy(found)
    return found if isinstance(found, Tensor) else None


def _device(name: str) -> torch.device:
    """The device of that name; raises InputError unless numbers can be there."""
    try:
        torch.zeros(1, device=torch.device(name)).cpu()
        return torch.device(name)
    except (RuntimeError, AssertionError, TypeError, NotImplementedError):
        what = f"no device {shown(name)!r} is available"
        raise InputError(f"{what}; choose cpu, or cuda where there is one") from None
