"""The kernels of fused inference on a batch, layer by layer.

The drives u = U x + b_ih of a layer are one product; then its chunks advance together. All layers
of a stack start a chunk at the same input, each from the zero state: of a layer below, the outputs
of the `early` inputs before a chunk are kept for the one above. So each output is a run of the
whole cell from the zero state.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.nn.functional import linear
from triton.backends.nvidia.compiler import CUDAOptions

from rnnbounds.impl.cells.kind import Weights
from rnnbounds.impl.convert.fused.kernels import advance, run_chunks
from rnnbounds.impl.convert.fused.sizes import GATES, ROWS, entries, padded, warps

_TRITON = {torch.float16: tl.float16, torch.float32: tl.float32}
# No contraction of the cells' products and sums, and no flush of subnormal numbers in libdevice.
_OPTIONS: dict[str, bool] = {"enable_fp_fusion": False} | (
    {"enable_reflect_ftz": False} if hasattr(CUDAOptions, "enable_reflect_ftz") else {}
)
_BLOCK = 64  # units a program of `advance` has


@dataclass(frozen=True)
class Places:
    """Strides of a tensor by sequence, chunk and step, and the step that lies at its start."""

    sequence: int
    chunk: int
    step: int
    shift: int

    @classmethod
    def by_time(cls, y: Tensor, C: int, early: int) -> "Places":
        """Of y (N, T, ·), in which chunks share their outputs."""
        return cls(y.stride(0), C * y.stride(1), y.stride(1), early)

    @classmethod
    def by_chunk(cls, y: Tensor) -> "Places":
        """Of y (N, M, L, ·), in which each chunk has its own."""
        return cls(y.stride(0), y.stride(1), y.stride(2), 0)

    @property
    def numbers(self) -> tuple[int, int, int, int]:
        """All four, as the kernels take them."""
        return self.sequence, self.chunk, self.step, self.shift


@dataclass(frozen=True)
class Cut:
    """N sequences of T in M chunks of C outputs, which start so many inputs early."""

    N: int
    T: int
    M: int
    C: int
    early: int

    @classmethod
    def of(cls, N: int, T: int, k: int, C: int) -> "Cut":
        """A single chunk has no inputs before it."""
        M = -(-T // C)
        return cls(N, T, M, C, k if M > 1 else 0)

    @property
    def steps(self) -> int:
        """L = C + early."""
        return self.C + self.early


@contextmanager
def exact_products() -> Iterator[None]:
    """No product of float32 in TensorFloat-32 within, by torch's newer setting where it has one:
    the older one cannot be read once that was used."""
    matmul: Any = torch.backends.cuda.matmul
    newer = hasattr(matmul, "fp32_precision")
    name, exact = ("fp32_precision", "ieee") if newer else ("allow_tf32", False)
    before = getattr(matmul, name)
    setattr(matmul, name, exact)
    try:
        yield
    finally:
        setattr(matmul, name, before)


@exact_products()
def run_layers(
    cell: str,
    layers: Sequence[Weights],
    x: Tensor,
    *,
    k: int,
    C: int,
    resident: bool,
    latest: bool,
) -> Tensor:
    """The outputs (N, T, n) of the last layer on x (N, T, d), or the last of them (N, n)."""
    N, T, _ = x.shape
    cut = Cut.of(N, T, k, C)
    below = x
    for index, weights in enumerate(layers):
        drives, n = _drive(weights, below), weights["weight_hh"].shape[1]
        read = Places.by_chunk(drives) if index else Places.by_time(drives, cut.C, cut.early)
        if index < len(layers) - 1:
            out = drives.new_empty(cut.N, cut.M, cut.steps, n)
            write, stored = Places.by_chunk(out), 0
        else:
            out = drives.new_empty(cut.N, 1 if latest else cut.T, n)
            stored = cut.T - 1 if latest else cut.early
            write = Places.by_time(out, cut.C, stored)
        run = _resident if resident else _by_steps
        run(cell, weights, drives, out, cut, read, write, stored)
        below = out
    return below[:, 0] if latest else below


def _drive(weights: Weights, x: Tensor) -> Tensor:
    """U x + b_ih, each row contiguous."""
    return linear(x, weights["weight_ih"], weights.get("bias_ih")).contiguous()


def _recurrent(weights: Weights) -> tuple[Tensor, Tensor]:
    """W and b_hh, zeros if there is none."""
    W = weights["weight_hh"].contiguous()
    b = weights.get("bias_hh")
    return W, W.new_zeros(len(W)) if b is None else b.contiguous()


def _resident(
    cell: str, weights: Weights, drives: Tensor, out: Tensor, cut: Cut, read: Places,
    write: Places, stored: int,
) -> None:  # fmt: skip
    """All steps in one kernel."""
    (W, b), count, n = _recurrent(weights), cut.N * cut.M, out.shape[-1]
    run_chunks[(triton.cdiv(count, ROWS),)](
        drives, W, b, out, count, cut.T, cut.M, cut.C, cut.early, stored, n,
        *read.numbers, *write.numbers,
        CELL=cell, P=padded(n), ROWS=ROWS, NARROW=_TRITON[out.dtype],
        num_warps=warps(entries(cell, n)), **_OPTIONS,
    )  # fmt: skip


def _by_steps(
    cell: str, weights: Weights, drives: Tensor, out: Tensor, cut: Cut, read: Places,
    write: Places, stored: int,
) -> None:  # fmt: skip
    """Each step a product of cuBLAS's and a kernel."""
    (W, b), count, n = _recurrent(weights), cut.N * cut.M, out.shape[-1]
    h, product = W.new_zeros(count, n), W.new_empty(count, len(W))
    c = W.new_zeros(count, n, dtype=torch.float32) if cell == "lstm" else h
    grid = triton.cdiv(count, ROWS), triton.cdiv(n, _BLOCK)
    for j in range(cut.steps):
        torch.mm(h, W.mT, out=product)
        advance[grid](
            drives, product, b, h, c, out, count, cut.T, cut.M, cut.C, cut.early, stored, n, j,
            *read.numbers, *write.numbers,
            CELL=cell, GATES=GATES[cell], P=_BLOCK, ROWS=ROWS, NARROW=_TRITON[out.dtype],
            **_OPTIONS,
        )  # fmt: skip
