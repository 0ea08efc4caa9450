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
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.errors import RangeError
from rnnbounds.impl.memory.blackbox.causal_measurement import CausalMeasurement, RunInfo
from rnnbounds.impl.memory.blackbox.checks import PROBED, check_model
from rnnbounds.impl.memory.blackbox.gaps import NORM, gap_named
from rnnbounds.impl.memory.blackbox.model import CausalModel
from rnnbounds.impl.memory.blackbox.plan import WindowPlan
from rnnbounds.impl.memory.blackbox.saved_rows import SavedRows
from rnnbounds.impl.memory.blackbox.window_runs import WindowRuns
from rnnbounds.impl.memory.exact import Decided
from rnnbounds.impl.memory.measure import LENGTH, held_part
from rnnbounds.impl.memory.repeats import reason_unstated
from rnnbounds.impl.memory.runs import blocks
from rnnbounds.impl.memory.statement import CUT, FOUND, PRESUPPOSED, Statement, least_window, stated
from rnnbounds.impl.memory.window_count import WindowCount
from rnnbounds.impl.models.surroundings import isolated, untouched
from rnnbounds.impl.reading.data.recordings import Data, Windows
from rnnbounds.impl.reading.data.sequences import DataSource, read_data
from rnnbounds.impl.reading.opened import Module, Runnable, Scripted

BATCH, NUMBERS = 64, 2**26  # windows that are run at once by default, with so many outputs


@isolated()
def measure_causal(
    opened: Runnable,
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
    if window is None and read.one:
        window = min(read.T, LENGTH, max(2, read.T // 8))
    held = read.windows(window)
    M, T, unstated = len(held), held.T, reason_unstated(read, held)
    if share is not None and unstated is not None:
        raise unstated
    presupposed = PRESUPPOSED + (CUT if held.sequences < M else "") + FOUND
    plan = WindowPlan.of(M, T, epsilons, confidence, share, unstated is None, presupposed)
    model = CausalModel.of(opened, device)
    digest, takes = model.digest, model.taking(tokens, held.rows.dtype)
    with untouched(opened.module) if isinstance(opened, Module | Scripted) else nullcontext():
        probe = takes(held_part(held, slice(0, min(M, PROBED))))
        checked = check_model(model, probe)
        if batch is None:
            batch = max(1, min(BATCH, NUMBERS // (T * checked.outputs)))
        options = [gap, epsilons, confidence, share, batch, str(probe.dtype), str(model.device)]
        key = _key([digest or model.title, T, torch.__version__, *options], held)
        saved = SavedRows.open(None if resume is None else Path(resume), key, batch)
        runs = WindowRuns(model, held, takes, asked, saved, WindowCount(plan.total, progress))
        found = runs.gaps("curve", slice(0, plan.seen), plan.ks[:-1])
        seen = torch.cat([found[:, :-1], found.new_zeros(plan.seen, 1)], 1)  # 0 at k = T
        statement = _statement(runs, plan, seen) if unstated is None else None
    run = RunInfo(
        str(probe.dtype).removeprefix("torch."), checked.outputs, str(model.device), saved.batch,
        checked.causal, digest,
    )  # fmt: skip
    return CausalMeasurement(
        model.title, run, read.source, M, T, asked, plan.ks, seen,
        float(found[:, -1].amax()), epsilons, statement,
        None if unstated is None else str(unstated), plan.spare,
    )  # fmt: skip


def _statement(runs: WindowRuns, plan: WindowPlan, seen: Tensor) -> Statement:
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
    if not read.one or read.rows.dtype.kind not in "iu":
        return read, False
    sequences = read.rows if read.d > 1 else read.rows.T
    x = np.ascontiguousarray(sequences)[:, :, None]
    return replace(read_data(x[0] if len(x) == 1 else x), source=read.source), True


def _key(options: list[Any], held: Windows) -> str:
    """SHA-256 of the model, as its digest or its name, the options and all windows."""
    sha = hashlib.sha256(json.dumps(options, default=float).encode())
    for rows in blocks(len(held), held.T * held.d):
        sha.update(held_part(held, rows).numpy().tobytes())
    return sha.hexdigest()
