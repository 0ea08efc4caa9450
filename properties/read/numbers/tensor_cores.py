"""Matrix products of float32 as tensor cores compute them in 3×TF32, bit by bit.

Numbers are A + α + r with A and α of 11 bits, here cut; of a product b = B + β + … are computed
α B, A β and A B, exactly, and added to what there is in blocks: in a block each summand is cut at
the last of the 24 bits of the largest, and so is the sum. That is the least that was seen of the
hardware, of which some keeps a few bits more. Numbers are far from under- and overflow. Source:
Fasi, Higham, Mikaitis & Pranesh, Numerical behavior of NVIDIA tensor cores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from rnnbounds.properties.systems.drawing.draws import Array

TF32_BITS, BITS, BLOCK = 11, 24, 4
_PRODUCTS = (torch.Tensor.matmul, torch.Tensor.__matmul__, torch.matmul)
Rounding = Callable[[Array, int], Array]


def cut(a: Array, bits: int) -> Array:
    """Float64 numbers cut to so many bits, toward zero."""
    mask = np.int64(-1) << np.int64(53 - bits)
    return (np.ascontiguousarray(a).view(np.int64) & mask).view(np.float64)


def split(a: Array, rounding: Rounding = cut) -> tuple[Array, Array]:
    """A and α of float32 numbers in float64."""
    big = rounding(a, TF32_BITS)
    return big, rounding(a - big, TF32_BITS)


def add_block(total: Array, terms: Array) -> Array:
    """A sum (…) and the block of products (…, M) that is added to it, cut as they are aligned."""
    summands = np.concatenate([total[..., None], terms], axis=-1)
    exponent = np.frexp(np.abs(summands).max(axis=-1))[1] - BITS
    aligned = np.trunc(np.ldexp(summands, -exponent[..., None])).sum(axis=-1)  # exact
    return cut(np.ldexp(aligned, exponent), BITS)


def split_product(
    a: Array,
    W: Array,
    start: Array | float = 0.0,
    block: int = BLOCK,
    rounding: Rounding = cut,
    order: Sequence[int] | None = None,
) -> Array:
    """start + a Wᵀ for a (…, M, n) and W (…, m, n), numbers of float32 in float64: the products
    α B of all n, then A β, then A B, or the 3 n of them in that order."""
    (big, small), (W_big, W_small) = split(a, rounding), split(W, rounding)
    factors = ((small, W_big), (big, W_small), (big, W_big))
    terms = np.concatenate([x[..., :, None, :] * y[..., None, :, :] for x, y in factors], axis=-1)
    terms = terms if order is None else terms[..., list(order)]
    total = np.broadcast_to(start, terms.shape[:-1])
    for first in range(0, terms.shape[-1], block):
        total = add_block(total, terms[..., first : first + block])
    return total


class TensorCores(TorchFunctionMode):
    """Within, torch's products of float32 matrices are `split_product`; a bias is added after."""

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """The product, or whatever else torch was asked for."""
        is_product = func is functional.linear or func in _PRODUCTS
        if not is_product or args[0].dtype is not torch.float32:
            return func(*args, **(kwargs or {}))
        if func is functional.linear:
            x, W, *bias = args
            product = _product(x, W)
            return product if not bias or bias[0] is None else product + bias[0]
        return _product(args[0], args[1].mT)


def _product(a: torch.Tensor, W: torch.Tensor) -> torch.Tensor:
    rows, columns = (part.detach().double().numpy() for part in (a, W))
    return torch.from_numpy(split_product(rows, columns)).to(a)
