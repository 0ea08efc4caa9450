"""Cells of torch's in a loop of a module's own: is the module that cell, iterated by itself?

A loop may do anything between two steps, h = 0.99 h + 0.01 cell(x, h) for one. So the module itself
is answered only where its forward pass of drawn inputs is what the cell gives from the zero state.
"""

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.cells.runs import Runner
from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.surroundings import untouched

_N, _T = 3, 7  # drawn sequences, inputs of each
_RELATIVE = 1e-3  # far above what rounds differently, in all but half precision


def require_iterated(module: torch.nn.Module, path: str, model: LoadedModel[Any]) -> None:
    """Raise InputError unless the forward pass of a module on drawn inputs, (N, T, d) or
    (T, N, d), gives the outputs of its cell at all times, or after the last input."""
    stored = next(iter(model.weights.values()))
    by = torch.Generator().manual_seed(0)
    x = torch.randn(_N, _T, model.d, generator=by, dtype=torch.float64).to(stored.dtype)
    runner = Runner.of(model)
    s, h = runner.zero(_N), []
    with torch.no_grad(), untouched(module):
        for t in range(_T):
            s = runner.step(s, x[None, :, t].double())
            h.append(s[0, :, -model.n :])
        wanted = torch.stack(h, dim=1)  # (N, T, n)
        if any(_alike(out, wanted) for out in _outputs(module, x)):
            return
    where = shown(path)
    raise InputError(
        f"{type(module).__name__} runs its cell ({where}) in a loop of its own, which drawn inputs "
        f"do not show to be that cell iterated by itself; say --layer {where} for the cell alone, "
        f"or measure the module with --as-is"
    )


def _outputs(module: torch.nn.Module, x: Tensor) -> Iterator[Tensor]:
    """The outputs of the module on x (N, T, d), sequences first, where it takes it at all."""
    for swapped in (False, True):
        with suppress(Exception, SystemExit), redirect_stdout(sys.stderr):
            found = module(x.transpose(0, 1) if swapped else x)
            found = found[0] if isinstance(found, tuple | list) else found
            if isinstance(found, Tensor):
                yield found.transpose(0, 1) if swapped and found.dim() == 3 else found


def _alike(found: Tensor, wanted: Tensor) -> bool:
    """True if outputs are those of the cell: of all times, or of the last."""
    asked = {wanted.shape: wanted, wanted[:, -1].shape: wanted[:, -1]}.get(found.shape)
    if asked is None:
        return False
    return torch.allclose(found.double(), asked, rtol=_RELATIVE, atol=_RELATIVE)
