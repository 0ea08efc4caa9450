"""Runs of a model over windows, in full and truncated, in batches whose results are kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.impl.errors import ShapeError, shown
from rnnbounds.impl.memory.blackbox.gaps import OutputGap
from rnnbounds.impl.memory.blackbox.model import CausalModel, is_memory
from rnnbounds.impl.memory.blackbox.saved_rows import SavedRows
from rnnbounds.impl.memory.measure import held_part
from rnnbounds.impl.memory.window_count import WindowCount
from rnnbounds.impl.reading.data.recordings import Windows


@dataclass(frozen=True)
class WindowRuns:
    """held: the windows as recorded; takes: the map from them to what the model takes."""

    model: CausalModel
    held: Windows
    takes: Callable[[Tensor], Tensor]
    gap: OutputGap
    saved: SavedRows
    report: WindowCount

    def gaps(self, name: str, rows: slice, ks: Sequence[int]) -> Tensor:
        """The gap at each k, then ‖y_T‖₂, of these windows: (M, len(ks) + 1)."""
        known = len(self.saved.table(name, len(ks) + 1, rows.stop - rows.start))
        if known:
            self.report.after(slice(0, known), None)
        for part in self.saved.batches(rows.start + known, rows.stop):
            try:
                found = self._of(self.takes(held_part(self.held, part)), ks)
            except (MemoryError, RuntimeError) as cause:
                if not is_memory(cause):
                    raise
                self.saved.halve()
                continue
            self.saved.add(name, found)
            self.report.after(part, None)
        return self.saved.table(name, len(ks) + 1, rows.stop - rows.start)

    def _of(self, x: Tensor, ks: Sequence[int]) -> Tensor:
        """The rows of one batch."""
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
