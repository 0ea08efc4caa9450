"""All outputs of a truncated model on a GPU, by fused steps, each on at least its last k inputs.

A sequence of T is cut into chunks of k outputs, which take 2k steps together, or it is one chunk if
it is shorter than that. What runs is `impl.convert.fused.launch`, in one of two forms:

resident: one kernel of 16 chunks a program, which keeps the matrices of g gates, n padded to a
power of two P, as long as g P² is at most 16,384.

steps: two kernels a step, one of them cuBLAS's product.
"""

import os
import shutil
from contextlib import nullcontext
from functools import lru_cache, partial
from typing import Literal

import torch
from torch import Tensor

from rnnbounds.impl.cells.kind import Kind, Weights
from rnnbounds.impl.cells.stacks.stack import PREFIX, count_stack_layers, layer_weights
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.convert.fused.sizes import GATES, MOST_ENTRIES, entries
from rnnbounds.impl.errors import InputError

Form = Literal["resident", "steps"]
DTYPES = (torch.float32, torch.float16)
LEAST_CAPABILITY, LEAST_TRITON = (8, 0), (3, 6)


def fused_form(kind: Kind, weights: Weights, x: Tensor, k: int) -> Form | None:
    """How x (N, T, d) is run; None where it, the cell, the dtype or the machine has no form."""
    if not (k and x.is_cuda and x.numel() and x.dtype in DTYPES) or torch.compiler.is_compiling():
        return None
    cell = kind.name.removeprefix(PREFIX)
    if cell not in GATES or not is_available(x.device):
        return None
    n = max(layer["weight_hh"].shape[1] for layer in _layers(kind, weights))
    return "resident" if entries(cell, n) <= MOST_ENTRIES else "steps"


@lru_cache
def is_available(device: torch.device) -> bool:
    """True if Triton is installed, of late, and compiles for that card."""
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or torch.cuda.get_device_capability(device) < LEAST_CAPABILITY:
        return False
    try:
        import triton
    except ImportError:
        return False
    numbers = (int(part) for part in triton.__version__.split(".")[:2])
    return torch.version.hip is None and tuple(numbers) >= LEAST_TRITON


def fused_outputs(
    kind: Kind, weights: Weights, x: Tensor, k: int, form: Form, latest: bool = False,
    C: int | None = None,
) -> Tensor:  # fmt: skip
    """h_t^j, j ≥ min(k, t), of inputs x (N, T, d): (N, T, n), or h_T^k (N, n).

    C: how many outputs a chunk has. Raises InputError if gradients are asked for, or if one
    sequence does not fit the device's memory.
    """
    if torch.is_grad_enabled() and any(part.requires_grad for part in (x, *weights.values())):
        raise InputError(
            "fused inference has no gradients; call the module for them, or infer under "
            "torch.no_grad()"
        )
    from rnnbounds.impl.convert.fused.launch import run_layers  # which imports Triton

    T = x.shape[1]
    if latest:
        x = x[:, max(0, T - k) :]
    if latest or C is None:
        C = x.shape[1] if latest or 2 * k > T else k
    cell = kind.name.removeprefix(PREFIX)
    try:
        with torch.cuda.device(x.device) if x.is_cuda else nullcontext():
            return run_layers(
                cell, _layers(kind, weights), x, k=k, C=C, resident=form == "resident",
                latest=latest,
            )  # fmt: skip
    except torch.OutOfMemoryError:
        if len(x) < 2:
            raise InputError(
                f"{x.shape[1]} inputs do not fit the memory of {x.device}; pass a shorter sequence"
            ) from None
    run = partial(fused_outputs, kind, weights, k=k, form=form, latest=latest, C=C)
    return torch.cat([run(x=half) for half in x.chunk(2)])


def _layers(kind: Kind, weights: Weights) -> list[dict[str, Tensor]]:
    """The weights of each layer by the names of its cell, the lowest first."""
    if not kind.name.startswith(PREFIX):
        return [dict(weights)]
    count = count_stack_layers(kind_of(kind.name.removeprefix(PREFIX)), weights)
    return [layer_weights(weights, l) for l in range(count)]
