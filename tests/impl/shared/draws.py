"""Numbers, matrices and vanilla networks that tests of all folders draw."""

import torch
from torch import Tensor


def doubles(values: object) -> Tensor:
    """Float64 numbers."""
    return torch.tensor(values, dtype=torch.float64)


def normal(*shape: int, seed: int = 0) -> Tensor:
    """Gaussian numbers of that seed, in float64."""
    by = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=by, dtype=torch.float64)
