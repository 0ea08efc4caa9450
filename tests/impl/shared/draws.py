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


def state(n: int = 3, d: int = 2, dtype: torch.dtype = torch.float32, suffix: str = "_l0"):
    """A torch state dict of random weights."""
    generator = torch.Generator().manual_seed(0)
    shapes = {"weight_ih": (n, d), "weight_hh": (n, n), "bias_ih": (n,), "bias_hh": (n,)}
    return {
        role + suffix: torch.randn(shape, generator=generator).to(dtype)
        for role, shape in shapes.items()
    }


def small(make, *sizes: int, scale: float = 0.25, seed: int = 0, **options) -> torch.nn.Module:
    """torch's module as it is drawn by that seed, with all weights times the scale."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = make(*sizes, **options)
    with torch.no_grad():
        for part in made.parameters():
            part.mul_(scale)
    return made
