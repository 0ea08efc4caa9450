"""Measurements of any causal model on recorded inputs, and a statement on others drawn like them.

A gap compares the output after the last of T inputs with the output after its last k inputs alone,
as a window of their own: nothing stands before them. All is about the run as it was computed, in
its dtype and on its device; nothing is said of real arithmetic, and nothing is read of weights.
Source: Clopper & Pearson for the statement.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.errors import RangeError, ShapeError, shown
from rnnbounds.impl.memory.causal.checks import PROBED, check_model
from rnnbounds.impl.memory.causal.gaps import NORM, Gap, gap_named
from rnnbounds.impl.memory.causal.model import CausalModel, is_memory
from rnnbounds.impl.memory.causal.plan import Plan
from rnnbounds.impl.memory.causal.record import CausalMeasurement, RunInfo
from rnnbounds.impl.memory.causal.saved_rows import SavedRows
from rnnbounds.impl.memory.exact import Decided
from rnnbounds.impl.memory.statement import Statement, least_window, stated, why_unstated
from rnnbounds.impl.memory.window_count import WindowCount, cut, rows_of
from rnnbounds.impl.models.surroundings import isolated, untouched
from rnnbounds.impl.reading.data.sequences import Data, DataSource, read_data
from rnnbounds.impl.reading.opened import Function, Module

BATCH, NUMBERS = 64, 2**26  # windows that are run at once by default, with so many outputs


@isolated()
def measure_causal(
    opened: Module | Function,
    data: DataSource | Data,
    *,
    window: int | None = None,
    eps: float | Sequence[float] | None = None,
    confidence: float = 0.99,
    share: float | None = None,
    gap: str = NORM,
    batch: int | None = None,
    device: str | None = None,
    resume: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> CausalMeasurement:
    """Measure a causal model on data, as it is run; arguments as in `rnnbounds.measure`."""
    asked = gap_named(gap)
    epsilons = asked.epsilons(eps)
    if batch is not None and (type(batch) is not int or batch < 1):
        raise RangeError("the batch", repr(batch), "a whole number of windows, at least 1")
    read, tokens = read_inputs(data)
    held = cut(read, window)
    unstated = why_unstated(read, held)
    if share is not None and unstated is not None:
        raise unstated
    plan = Plan.of(held, epsilons, confidence, share, unstated is None)
    model = CausalModel.of(opened, device)
    digest = model.digest
    with untouched(opened.module) if isinstance(opened, Module) else nullcontext():
        probe = model.inputs(rows_of(held, slice(0, min(plan.windows, PROBED))), tokens)
        checked = check_model(model, probe)
        if batch is None:
            batch = max(1, min(BATCH, NUMBERS // (plan.ks[-1] * checked.outputs)))
        options = [gap, epsilons, confidence, share, batch, str(model.device), torch.__version__]
        key = _key(digest or model.title, held, [*options, tokens])
        saved = SavedRows.open(None if resume is None else Path(resume), key, batch)
        runs = _Runs(model, held, tokens, asked, saved, WindowCount(plan.total, progress))
        found = runs.gaps("curve", slice(0, plan.seen), plan.ks[:-1])
        seen = torch.cat([found[:, :-1], found.new_zeros(plan.seen, 1)], 1)  # 0 at k = T
        statement = _statement(runs, plan, seen) if unstated is None else None
    run = RunInfo(
        str(probe.dtype).removeprefix("torch."), checked.outputs, str(model.device), saved.batch,
        checked.causal, digest,
    )  # fmt: skip
    return CausalMeasurement(
        model.title, run, read.source, plan.windows, plan.ks[-1], asked, plan.ks, seen,
        float(found[:, -1].amax()), epsilons, statement,
        None if unstated is None else str(unstated), plan.spare,
    )  # fmt: skip


def _statement(runs: "_Runs", plan: Plan, seen: Tensor) -> Statement:
    """Choose k for each ε on the first half of the windows, and try it on those held out."""
    choosing = seen[: plan.half]
    chosen = [least_window(plan.ks, choosing, epsilon, plan.spare) for epsilon in plan.epsilons]
    asked = sorted({k for k in chosen if k is not None})
    rest = runs.gaps("held_out", plan.rest, asked) if asked else runs.report.after(plan.rest, seen)
    known = seen[plan.half : plan.half + plan.held_out]
    lines = []
    for epsilon, k in zip(plan.epsilons, chosen, strict=True):
        decided = None
        if k is not None:
            gaps = torch.cat([known[:, plan.ks.index(k)], rest[:, asked.index(k)]])
            decided = Decided(gaps <= epsilon, torch.zeros_like(gaps, dtype=torch.bool))
        lines.append(stated(epsilon, k, decided, plan.alpha))
    return Statement(
        plan.confidence, len(choosing), plan.held_out, plan.ks[-1], tuple(lines), plan.aim,
        plan.needed, plan.presupposed,
    )  # fmt: skip


def read_inputs(source: DataSource | Data) -> tuple[Data, bool]:
    """Sequences as `read_data` has them, and True if they are tokens: integers (T,) or (N, T),
    which become sequences (N, T, 1)."""
    read = read_data(source)
    if isinstance(source, Data) or not read.one or read.x.dtype.kind not in "iu":
        return read, False
    rows = read.x[0].T if read.d == 1 else read.x[0]
    x = np.ascontiguousarray(rows)[:, :, None]
    return replace(read, x=x, one=len(x) == 1), True


def _key(model: str, held: np.ndarray[Any, Any], options: list[Any]) -> str:
    """SHA-256 of the digest of a model, or of a function's name, the windows and the options."""
    known = [model, str(held.dtype), held.shape, options]
    sha = hashlib.sha256(json.dumps(known, default=float).encode())
    for sequence in held:
        sha.update(np.ascontiguousarray(sequence).data)
    return sha.hexdigest()


@dataclass(frozen=True)
class _Runs:
    """Runs of a model over numbered windows, in batches, of which the results are saved."""

    model: CausalModel
    held: np.ndarray[Any, Any]
    tokens: bool
    gap: Gap
    saved: SavedRows
    report: WindowCount

    def gaps(self, name: str, rows: slice, ks: Sequence[int]) -> Tensor:
        """The gap at each k, then ‖y_T‖₂, of these windows: (M, len(ks) + 1)."""
        known = len(self.saved.table(name, len(ks) + 1, rows.stop - rows.start))
        if known:
            self.report.after(slice(0, known), None)
        for part in self.saved.batches(rows.start + known, rows.stop):
            try:
                x = self.model.inputs(rows_of(self.held, part), self.tokens)
                found = self._of(x, ks)
            except (MemoryError, RuntimeError) as cause:
                if not is_memory(cause):
                    raise
                self.saved.halve()
                continue
            self.saved.add(name, found)
            self.report.after(part, None)
        return self.saved.table(name, len(ks) + 1, rows.stop - rows.start)

    def _of(self, x: Tensor, ks: Sequence[int]) -> Tensor:
        full = self.model.last(x)
        columns = []
        for k in ks:
            short = self.model.last(x[:, x.shape[1] - k :])
            if short.shape != full.shape:
                what = f"the last output of {shown(self.model.title)} after {k} inputs"
                remedy = "let it return outputs (N, T, p) or (N, p), p the same for every T"
                raise ShapeError(what, f"that after {x.shape[1]}, {tuple(full.shape)},", short,
                                 remedy)  # fmt: skip
            columns.append(self.gap.of(full, short))
        return torch.stack([*columns, torch.linalg.vector_norm(full, dim=1)], 1)
