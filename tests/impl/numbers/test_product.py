"""Products and tanh by NumPy: torch's values, whatever the host told NumPy to do."""

import warnings
from collections.abc import Callable

import numpy as np
import pytest
import torch
from flint import arb, ctx
from torch import Tensor
from torch.autograd import forward_ad

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.gradients.adjoint import gradient_gaps
from rnnbounds.impl.gradients.loss import loss
from rnnbounds.impl.gradients.windows.rollout import states, truncations
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers import product as module
from rnnbounds.impl.numbers.outward import UNIT
from rnnbounds.impl.numbers.product import is_plain, multiply_rows, tanh, vectorised
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


EDGES = (0.1875, 0.25, 0.375, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24)  # of NumPy's table


def hard() -> torch.Tensor:
    """Where one polynomial gives way to the next, many points of each, all scales, and the ends."""
    draw = np.random.default_rng(0)
    near = [edge * (1 + i * 2.0**-52) for edge in EDGES for i in range(-9, 10)]
    inside = [draw.uniform(a, b, 150) for a, b in zip((0, *EDGES), (*EDGES, 45), strict=True)]
    scales = 2.0 ** draw.uniform(-1074, 1024, 600)
    ends = [0.0, 5e-324, 2.0**-1022, 710.0, 1.7e308, np.inf]
    points = np.concatenate([near, *inside, scales, ends])
    return torch.from_numpy(np.concatenate([points, -points]))


@pytest.mark.parametrize("fast", [True, False])
def test_both_libraries_within_three_quarters_of_the_model(
    fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NumPy's tanh and torch's are off by at most 3u |tanh z| and what underflows, by balls."""
    if fast and not vectorised():
        pytest.skip("NumPy has no vector code for tanh here")
    monkeypatch.setattr(module, "vectorised", lambda: fast)
    z = hard()
    found = torch.empty_like(z)
    tanh(z.numpy(), found.numpy())
    with ctx.workprec(200):
        for point, value in zip(z.tolist(), found.tolist(), strict=True):
            true = arb(point).tanh()
            assert abs(arb(value) - true) <= abs(true) * 3 * UNIT + 2.0**-1074, point
    assert torch.signbit(found).equal(torch.signbit(z))
    assert torch.equal(found.isnan(), z.isnan())


def test_in_place_and_where_numbers_lie_apart() -> None:
    """What is written may be what is read, whatever its strides; one entry does not depend on
    where it stands."""
    z = torch.linspace(-3, 3, 60, dtype=torch.float64).reshape(5, 12)
    found, same = torch.empty_like(z), z.clone()
    tanh(z.numpy(), found.numpy())
    tanh(same.numpy(), same.numpy())
    apart = torch.empty(12, 5, dtype=torch.float64).mT
    tanh(z.numpy(), apart.numpy())
    alone = torch.empty_like(z[:1, :1])
    tanh(z[3:4, 7:8].numpy(), alone.numpy())
    assert torch.equal(found, same)
    assert torch.equal(found, apart)
    if vectorised():
        assert torch.equal(found[3:4, 7:8], alone)
    torch.testing.assert_close(found, torch.tanh(z), rtol=4 * UNIT, atol=0)


def test_plain() -> None:
    """What asks for derivatives, backward or forward, is of another dtype or negated by a bit alone
    is not lent to NumPy."""
    z = torch.ones(2, dtype=torch.float64)
    assert is_plain(z, z[None])
    assert not is_plain(z, z.clone().requires_grad_())
    assert not is_plain(z.float())
    assert not is_plain(torch.complex(z, z).conj().imag)
    with forward_ad.dual_level():
        assert not is_plain(forward_ad.make_dual(z, z))
