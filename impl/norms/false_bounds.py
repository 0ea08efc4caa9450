"""Approximate spectral norms that are no upper bounds, as common shortcuts compute them: the suite
has to refute each."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.impl.numbers.spectra.spectral_norm import (
    Array,
    _factorises,
    _gram,
    _proves_bounds,
    _tall_array,
)

_BISECTIONS = 64


def svd_norm(W: Tensor) -> Tensor:
    """The largest singular value as LAPACK returns it, with an error on either side: (B,)."""
    norm: Tensor = torch.linalg.svdvals(W.detach())[:, 0]
    return norm


def power_norm(W: Tensor, steps: int = 5) -> Tensor:
    """Power iteration on WᵀW from the vector of ones, as spectral normalisation does it: (B,)."""
    W = W.detach()
    v = torch.ones_like(W[:, :1].mT)
    for _ in range(steps):
        v = torch.nn.functional.normalize(W.mT @ (W @ v), dim=1)
    norm: Tensor = torch.linalg.vector_norm(W @ v, dim=(1, 2))
    return norm


@np.errstate(all="ignore")
def unshifted_gate_norm(W: Tensor) -> Tensor:
    """The least s for which Cholesky of fl(s²I − WᵀW) completes, without the shift c: (B,)."""
    gram = _gram(_tall_array(W))
    return _least_passing(W, lambda s: _factorises(-gram, s * s, 0 * s))


@np.errstate(all="ignore")
def unscaled_gate_norm(W: Tensor) -> Tensor:
    """The least s that passes the gate without scaling, so that underflow is ignored: (B,)."""
    V = _tall_array(W)
    gram = _gram(V)
    return _least_passing(W, lambda s: _proves_bounds(gram, s * s, V.shape[1]))


def _least_passing(W: Tensor, passes: Callable[[Array], Array]) -> Tensor:
    """Bisection on (0, 2‖W‖_F] for the least s that passes."""
    high = 2 * norm_up(W.detach().flatten(1)).cpu().numpy()
    low = np.zeros_like(high)
    for _ in range(_BISECTIONS):
        middle = low + (high - low) / 2
        passed = passes(middle)
        low, high = np.where(passed, low, middle), np.where(passed, middle, high)
    return torch.from_numpy(high).to(W.device)
