"""Products of plain float64 tensors by NumPy's library, which here is silent on what overflows."""

import numpy as np
from torch import Tensor


def multiply(left: Tensor, right: Tensor, out: Tensor) -> None:
    """left · right, in batch, into ``out``: with infinity, NaN and 0 as IEEE 754 has them, whatever
    a host asks NumPy to warn of or to raise."""
    with np.errstate(all="ignore"):
        np.matmul(left.numpy(), right.numpy(), out=out.numpy())
