"""A model in both directions on windows: output t from the inputs t − k₁, …, t + k₂ alone.

In each window every layer runs forward from the zero state at its left end and back from the zero
state at its right end; of the last layer only the outputs at t are computed. All windows of a
sequence go through the cells at once, as rows. Source: Miller & Hardt, section 3.
"""

from collections.abc import Mapping
from typing import cast

import torch
from torch import Tensor

from rnnbounds.impl.bidirectional.windows import Around
from rnnbounds.impl.cells.kind import Kind, Weights
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.errors import InputError, RangeError, ShapeError, shown
from rnnbounds.impl.format.bidirectional import by_cell, full_name

_NUMBERS = 2**24  # of inputs and outputs of windows that `infer` holds at a time
Run = list[Tensor]  # what all windows have at each of their positions, (N, T, ·) each


class BidirectionalWindows(torch.nn.Module):
    """All outputs y_t of an input sequence, each from its window [t − past, t + future] alone.

    y_t = (h→_t, h←_t) of the last layer, run in the window from zero states at both of its ends;
    where the sequence ends within it, at the sequence's end. `weights` by torch's names of both
    directions (`weight_ih_l0`, …, `weight_ih_l0_reverse`, …), `cell` that of all layers, such as
    lstm. The module maps x (N, T, d) -> (N, T, n), n that of both directions together, or (N, T, p)
    through the readout, a `torch.nn.Linear(n, p)`. Its parameters carry torch's names, so that the
    state dict loads into torch's own module. Output t is known as soon as input t + future is.
    Work: about T(past + future + 1) steps of each cell, in past + future + 1 sequential ones.
    Raises InputError for missing or further weights, ShapeError, RangeError (past or future < 0),
    UnknownNameError. Source: Miller & Hardt, section 3.

    >>> module, certificate = rnnbounds.truncate(torch.nn.GRU(1, 8, bidirectional=True), 0.1, 1.0)
    >>> module(x), module.window  # x (N, T, d)
    """

    def __init__(
        self,
        weights: Mapping[str, Tensor],
        *,
        cell: str,
        past: int,
        future: int,
        readout: torch.nn.Linear | None = None,
    ) -> None:
        super().__init__()
        for name, size in (("past", past), ("future", future)):
            if size < 0:
                raise RangeError(name, size, "at least 0")
        self.cell, self.window, self.readout = cell, Around(past, future), readout
        self._kind()
        for name, part in weights.items():
            self.register_parameter(name, torch.nn.Parameter(part.detach().clone()))
        self.n, self.d = self._sizes()
        if readout is not None and readout.in_features != self.n:
            raise ShapeError("the readout's weight", f"(p, {self.n})", readout.weight)

    @property
    def weights(self) -> dict[str, Tensor]:
        """The parameters by torch's names."""
        return dict(self._parameters.items())  # type: ignore[arg-type]

    @property
    def name(self) -> str:
        """The cell with its directions and layers."""
        return full_name(self.cell, len(self.layers))

    @property
    def layers(self) -> list[tuple[Weights, Weights]]:
        """The weights of each layer's cells by role, (forward, reverse), the lowest first."""
        try:
            cells = by_cell(self.weights)
        except LookupError:
            what = "these are no weights of layers in both directions by torch's names"
            raise InputError(f"{what}; pass the state dict of a bidirectional module") from None
        return list(zip(cells[::2], cells[1::2], strict=True))

    def forward(self, x: Tensor) -> Tensor:
        """The outputs of all windows: (N, T, d) -> (N, T, n or p)."""
        self._check(x)
        return self._outputs(x, 0, x.shape[1])

    @torch.no_grad()
    def infer(self, x: Tensor) -> Tensor:
        """The outputs of all windows without gradients, a block at a time, so that memory does not
        grow with T (past + future + 1): (N, T, d) -> (N, T, n or p)."""
        self._check(x)
        N, T, past = x.shape[0], x.shape[1], self.window.past
        each = max(1, N * sum(self.window, 1) * (self.d + len(self.layers) * self.n))
        size = max(1, _NUMBERS // each)
        blocks = []
        for t in range(0, T, size):
            start, stop = max(0, t - past), min(T, t + size + self.window.future)
            count = min(size, T - t)
            blocks.append(self._outputs(x[:, start:stop], t - start, count))
        return torch.cat(blocks, dim=1) if blocks else self._outputs(x, 0, T)

    def extra_repr(self) -> str:
        """The sizes, the window and the cell, for `print(module)`."""
        past, future = self.window
        return f"{self.d}, {self.n}, past={past}, future={future}, cell={self.name!r}"

    def _outputs(self, x: Tensor, start: int, count: int) -> Tensor:
        """The outputs of so many positions of x, from `start` on."""
        past, future = self.window
        there = torch.ones_like(x[:1, :, :1])
        each = [torch.nn.functional.pad(part, (0, 0, past, future)) for part in (x, there)]
        xs, masks = (
            [part[:, start + j : start + j + count] for j in range(past + future + 1)]
            for part in each
        )
        layers, kind = self.layers, self._kind()
        for forward, reverse in layers[:-1]:
            a = _run(kind, forward, xs, masks)
            b = _run(kind, reverse, xs[::-1], masks[::-1])[::-1]
            xs = [torch.cat(pair, dim=-1) for pair in zip(a, b, strict=True)]
        forward, reverse = layers[-1]
        a = _run(kind, forward, xs[: past + 1], masks[: past + 1])
        b = _run(kind, reverse, xs[past:][::-1], masks[past:][::-1])
        y = torch.cat([a[-1], b[-1]], dim=-1)
        return y if self.readout is None else cast(Tensor, self.readout(y))

    def _kind(self) -> Kind:
        return kind_of(self.cell)

    def _sizes(self) -> tuple[int, int]:
        """The sizes of the output and of the input; raises InputError and ShapeError."""
        kind, d, width = self._kind(), 0, 0
        for l, both in enumerate(self.layers):
            n = 0
            for cell in both:
                layout = kind.layout(cell)
                if missing := [role for role in layout.required if role not in cell]:
                    what = f"layer {l + 1} has no {missing[0]}"
                    raise InputError(f"{what}; hand over the whole state dict")
                if further := sorted(cell.keys() - layout.shapes.keys()):
                    what = f"a {kind.name} has no weight {shown(further[0])}"
                    raise InputError(f"{what}; leave it out")
                sizes = layout.sizes(cell)
                d = d or sizes.d
                if sizes.d != (width or d):
                    needed = f"(…, {width or d})"
                    raise ShapeError(f"weight_ih of layer {l + 1}", needed, cell["weight_ih"])
                n += sizes.n
            width = n
        return width, d

    def _check(self, x: Tensor) -> None:
        if x.ndim != 3 or x.shape[2] != self.d:
            raise ShapeError("x", f"(N, T, {self.d})", x)


def _run(kind: Kind, weights: Weights, xs: Run, masks: Run) -> Run:
    """The outputs of a cell along the windows, from the zero state where the sequence begins."""
    sizes, found = kind.layout(weights).sizes(weights), []
    driven = kind.drive(weights, torch.stack(xs))
    s = driven.new_zeros(1, 1, sizes.state).expand(*xs[0].shape[:2], -1)
    for j, mask in enumerate(masks):
        s = kind.step(weights, driven[j], s) * mask
        found.append(s[..., -sizes.n :])
    return found
