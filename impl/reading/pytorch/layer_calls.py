"""Calls of a recurrent layer: inputs, starts and ends, in the layout that the layer has."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

_CELLS = torch.nn.RNNCellBase
_LAYERS = torch.nn.RNNBase


@dataclass(frozen=True, eq=False)
class Call:
    """One call: inputs (N, T, d), `lengths` (N,) of those that are used, states before and after
    it, (N, S), of all layers and directions; None where the module shows none."""

    x: Tensor
    lengths: tuple[int, ...]
    start: Tensor | None
    end: Tensor | None

    @property
    def is_whole(self) -> bool:
        """True if none of the sequences is shorter than others."""
        return set(self.lengths) == {self.x.shape[1]}

    def follows(self, before: "Call | None") -> bool:
        """True if it starts where the call before ended, with as many sequences."""
        if before is None or self.start is None or before.end is None:
            return False
        return torch.equal(self.start, before.end)


def call_of(
    part: torch.nn.Module, args: tuple[Any, ...], named: Mapping[str, Any], output: Any
) -> Call | None:
    """The call of a layer with these arguments; None where its input is no sequence of vectors.

    A layer of torch's is read by its `batch_first`, a cell's input is a sequence of one; any other
    module takes (N, T, d), and its states are not known.
    """
    x = args[0] if args else named.get("input")
    hx = args[1] if len(args) > 1 else named.get("hx")
    if isinstance(part, _CELLS):
        return _cell_call(x, hx, output)
    own = isinstance(part, _LAYERS)
    lengths: tuple[int, ...] | None = None
    if isinstance(x, PackedSequence):
        x, counts = pad_packed_sequence(x, batch_first=True)
        lengths = tuple(counts.tolist())
    elif own and isinstance(x, Tensor):
        x = x[None] if x.ndim == 2 else x if part.batch_first else x.transpose(0, 1)
    if not isinstance(x, Tensor) or x.ndim != 3:
        return None
    lengths, x = lengths or (x.shape[1],) * len(x), x.detach().cpu().clone()
    if not own:
        return Call(x, lengths, None, None)
    end = _states(output[1], len(x))
    return Call(x, lengths, torch.zeros_like(end) if hx is None else _states(hx, len(x)), end)


def _cell_call(x: Any, hx: Any, output: Any) -> Call | None:
    if not isinstance(x, Tensor) or x.ndim not in (1, 2):
        return None
    x = x.detach().cpu().reshape(-1, 1, x.shape[-1]).clone()
    end = _states(output, len(x))
    return Call(x, (1,) * len(x), torch.zeros_like(end) if hx is None else _states(hx, len(x)), end)


def _states(state: Tensor | tuple[Tensor, ...], N: int) -> Tensor:
    """States of one tensor or of h and c, each (layers, N, n), (N, n) or without N: (N, S)."""
    parts = state if isinstance(state, tuple | list) else (state,)
    flat = [
        part.transpose(0, 1).reshape(N, -1) if part.ndim == 3 else part.reshape(N, -1)
        for part in parts
    ]
    return torch.cat(flat, 1).detach().cpu().clone()
