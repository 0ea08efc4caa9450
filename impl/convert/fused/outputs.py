"""All outputs of a truncated model on a GPU, by fused steps, each on at least its last k inputs.

How the batch is cut is chosen by `impl.convert.fused.plan`, what runs is
`impl.convert.fused.launch`; the outputs come from a CUDA graph of it.
"""

import math
import os
import shutil
from collections.abc import Sequence
from functools import lru_cache, partial

import torch
from torch import Tensor

from rnnbounds.impl.cells.kind import Kind, Weights
from rnnbounds.impl.cells.stacks.stack import PREFIX, count_stack_layers, layer_weights
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.convert.fused.graphs import GRAPHS
from rnnbounds.impl.convert.fused.plan import (
    GATES,
    PRODUCTS,
    Card,
    Plan,
    Products,
    Size,
    plan_for,
)
from rnnbounds.impl.errors import InputError

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
LEAST_CAPABILITY, LEAST_TRITON = (8, 0), (3, 6)


def fused_plan(
    kind: Kind, weights: Weights, x: Tensor, k: int, latest: bool = False,
    products: Products = "ieee",
) -> Plan | None:  # fmt: skip
    """The plan for x (N, T, d); None where it, the cell, the dtype or the machine has none."""
    if products not in PRODUCTS:
        raise InputError(f"unknown products {products!r}; choose {' or '.join(PRODUCTS)}")
    if not (k and x.is_cuda and x.numel() and x.dtype in DTYPES) or torch.compiler.is_compiling():
        return None
    if kind.name.removeprefix(PREFIX) not in GATES or not is_available(x.device):
        return None
    return plan_for(size_of(kind, weights, x, k, latest), card_of(x.device), products)


@lru_cache
def card_of(device: torch.device) -> Card:
    """The sizes of a CUDA device that a plan asks for."""
    known = torch.cuda.get_device_properties(device)
    shared = getattr(known, "shared_memory_per_block_optin", known.shared_memory_per_block)
    return Card(known.multi_processor_count, shared)


def size_of(kind: Kind, weights: Weights, x: Tensor, k: int, latest: bool) -> Size:
    """The size of the task, of which a plan is made."""
    n = max(layer["weight_hh"].shape[1] for layer in _layers(kind, weights))
    T = min(k, x.shape[1]) if latest else x.shape[1]
    return Size(kind.name.removeprefix(PREFIX), n, x.shape[0], T, k, x.dtype, latest)


@lru_cache
def is_available(device: torch.device) -> bool:
    """True if Triton is installed, with products of float64, and compiles for that card."""
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
    kind: Kind, weights: Weights, x: Tensor, k: int, plan: Plan, latest: bool = False,
    captured: bool = True,
) -> Tensor:  # fmt: skip
    """h_t^j, j ≥ min(k, t), of inputs x (N, T, d): (N, T, n), or h_T^k (N, n).

    captured: whether a CUDA graph is made for the shape and replayed. Raises InputError if
    gradients are asked for, or if one sequence does not fit the device's memory.
    """
    if torch.is_grad_enabled() and any(part.requires_grad for part in (x, *weights.values())):
        raise InputError(
            "fused inference has no gradients; call the module for them, or infer under "
            "torch.no_grad()"
        )
    from rnnbounds.impl.convert.fused.launch import run_layers  # which imports Triton

    if latest:
        x = x[:, max(0, x.shape[1] - k) :]
    layers, cell = _layers(kind, weights), kind.name.removeprefix(PREFIX)
    compute = partial(run_layers, cell, layers, k=k, plan=plan, latest=latest)
    try:
        if not x.is_cuda:
            return compute(x)
        with torch.cuda.device(x.device):
            if not captured:
                return compute(x)
            parts = tuple((part.data_ptr(), part.shape, part.stride()) for part in weights.values())
            stream = torch.cuda.current_stream().cuda_stream
            key = (kind.name, *weights, *parts, x.shape, x.dtype, x.device, k, plan, latest, stream)
            return GRAPHS.run(key, compute, x, kept_bytes(layers, x, k, plan))
    except torch.OutOfMemoryError:
        GRAPHS.clear()
        if len(x) < 2:
            raise InputError(
                f"{x.shape[1]} inputs do not fit the memory of {x.device}; pass a shorter sequence"
            ) from None
    run = partial(fused_outputs, kind, weights, k=k, plan=plan, latest=latest, captured=captured)
    return torch.cat([run(x=half) for half in x.chunk(2)])


def _layers(kind: Kind, weights: Weights) -> list[dict[str, Tensor]]:
    """The weights of each layer by the names of its cell, the lowest first."""
    if not kind.name.startswith(PREFIX):
        return [dict(weights)]
    count = count_stack_layers(kind_of(kind.name.removeprefix(PREFIX)), weights)
    return [layer_weights(weights, l) for l in range(count)]


def kept_bytes(layers: Sequence[Weights], x: Tensor, k: int, plan: Plan) -> int:
    """About how many bytes a graph keeps: inputs, drives and outputs of all layers."""
    numbers = x.numel() + sum(
        x.shape[0] * x.shape[1] * (len(layer["weight_hh"]) + layer["weight_hh"].shape[1])
        for layer in layers
    )
    return math.ceil(numbers * x.element_size() * (1 + k / plan.C))
