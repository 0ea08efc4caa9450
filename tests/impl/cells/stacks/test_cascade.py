import math

import pytest

from rnnbounds.impl.cells.stacks.stack_analysis import cascade_norm
from rnnbounds.impl.norms.norm_data import StateNorm


def layer(lam: float, drive: float = 1.0, **more: float) -> StateNorm:
    """A norm of one layer."""
    return StateNorm("infinity", lam, drive, 1.0, 1.0, **more)


def holds(norms, couplings, found) -> bool:
    """Λ_l t_l = λ_l t_l + μ_l Λ_{l−1} t_{l−1} ≤ Λ t_l, and all drives inside."""
    t, factor = found.weights, 0.0
    for l, norm in enumerate(norms):
        factor = norm.lam + (couplings[l] * factor * t[l - 1] / t[l] if l else 0.0)
        if not max(factor / found.lam, norm.drive / (found.drive * t[l])) <= 1 + 1e-12:
            return False
    return min(t) > 0


@pytest.mark.parametrize("lams", [(0.5,), (0.5, 0.9), (0.9, 0.5), (0.99, 0.99, 0.99), (0.0, 0.5)])
@pytest.mark.parametrize("coupling", [0.0, 1e-6, 1.0, 1e12])
def test_conditions(lams, coupling):
    """The weights obey the inequality of the cascade, with a factor below 1."""
    norms, couplings = [layer(lam) for lam in lams], [coupling] * len(lams)
    found = cascade_norm(norms, couplings)
    assert max(lams) <= found.lam < 1
    assert holds(norms, couplings, found)
    assert found.radius < math.inf


@pytest.mark.parametrize("lam", [1.0, 1.5, math.inf])
def test_no_cascade_of_what_does_not_contract(lam):
    """One layer that does not contract, or an unknown coupling, and nothing is certified."""
    assert not cascade_norm([layer(0.5), layer(lam)], [0.0, 1.0]).lam < 1
    assert not cascade_norm([layer(lam), layer(0.5)], [0.0, 1.0]).lam < 1
    assert not cascade_norm([layer(0.5), layer(0.5)], [0.0, math.inf]).lam < 1
    assert not cascade_norm([layer(0.5), layer(0.5)], [0.0, math.nan]).lam < 1
