"""Random cells of the package's own kinds, as stored weights."""

import torch
from torch import Tensor

from rnnbounds.impl.cells.table import kind_of

SAMPLES = ("leaky-tanh", "leaky-relu", "deep-tanh", "deep-softplus")


def weights(name: str, n: int = 4, d: int = 2, *, seed: int = 0, systems: int = 0, scale=0.2):
    """Weights of that sample in float64, with a leading axis if `systems` says so."""
    by = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        lead = (systems,) if systems else ()
        return torch.randn(*lead, *shape, generator=by, dtype=torch.float64)

    if name.startswith("leaky"):
        leak = 0.1 + 0.9 * torch.sigmoid(normal(n))
        return {"W": scale * normal(n, n), "W_in": normal(n, d), "leak": leak, "b": normal(n)}
    return {
        "transition_1_weight": 2 * scale * normal(n + 1, n), "input_weight": normal(n + 1, d),
        "transition_2_weight": 2 * scale * normal(n, n + 1), "transition_2_bias": normal(n),
    }  # fmt: skip


def cells(name: str, systems: int, **options):
    """So many cells of that sample."""
    return kind_of(name).build(weights(name, systems=systems, **options))


def inputs(N: int, T: int, d: int, bound: float, seed: int = 1) -> Tensor:
    """Sequences at the bound, half of them constant: (N, T, d)."""
    by = torch.Generator().manual_seed(seed)
    x = torch.randn(N, T, d, generator=by, dtype=torch.float64)
    x[: N // 2] = x[: N // 2, :1]
    return bound * (1 - 1e-12) * x / x.norm(dim=2, keepdim=True)
