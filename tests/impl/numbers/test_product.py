import warnings
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.gradients.adjoint import gradient_gaps
from rnnbounds.impl.gradients.loss import loss
from rnnbounds.impl.gradients.windows.rollout import states, truncations
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.product import multiply_rows
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm, is_norm_below

EXTREMES = [1e300, -1e300, 1e-200, 5e-324, 1.0, 0.0, torch.inf, torch.nan]


def extreme(*shape: int) -> Tensor:
    """Entries whose products overflow, underflow, and are none."""
    entries = torch.tensor(EXTREMES, dtype=torch.float64)
    chosen = torch.randint(len(entries), shape, generator=torch.Generator().manual_seed(0))
    return entries[chosen]


def test_products_are_torchs() -> None:
    """Infinities, NaN and underflow as torch has them; one term an entry, as fused operations turn
    ∞ − ∞ to ∞."""
    A, C = extreme(40, 3, 1), extreme(40, 1, 3)
    found = A.new_empty(40, 3, 3)
    with np.errstate(all="ignore"):
        multiply_rows(A.numpy(), C.numpy(), found.numpy())
    torch.testing.assert_close(found, A @ C, equal_nan=True)


def read(name: str, size: float) -> None:
    """All readings of a cell with weights of that size."""
    W, U, b = (torch.full(shape, size, dtype=torch.float64) for shape in ((3, 3), (3, 1), (3,)))
    cell = RNN(W[None], U[None], b[None], activation(name))
    x = torch.ones(1, 6, 1, 2, dtype=torch.float64)
    states(cell, x)
    truncations(cell, x, 3)
    gradient_gaps(cell, x, 3, loss("squared", torch.ones(1, 1, 3, dtype=torch.float64)))


@pytest.mark.parametrize(
    "call",
    [
        lambda: is_norm_below(
            torch.full((1, 3, 3), 1e300, dtype=torch.float64), torch.ones(1).double()
        ),
        lambda: certified_norm(extreme(1, 1, 1) + extreme(1, 3, 3)),
        lambda: certified_norm(torch.tensor([[[1, 1e-200], [1e-200, 1e-200]]]).double()),
        lambda: activation("tanh").write_to(extreme(64), torch.empty(64, dtype=torch.float64)),
        *(
            lambda name=name, size=size: read(name, size)
            for name in ("tanh", "relu", "identity")
            for size in (1e200, 1e-200)
        ),
    ],
)
def test_hosts_settings_of_numpy(call: Callable[[], object]) -> None:
    """What overflows or underflows neither warns nor raises, whatever NumPy was told to do."""
    for told in ("warn", "raise"):
        with np.errstate(all=told), warnings.catch_warnings():
            warnings.simplefilter("error")
            call()
