import math

import pytest
import torch
from stack_draws import net

from rnnbounds.impl.cells.stacks.cascade import cascade_norm
from rnnbounds.impl.cells.stacks.layer_analysis import compare_in_box
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.norms.norm_data import StateNorm
from rnnbounds.impl.reading.adapters import load_model


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


@pytest.mark.parametrize("name", ["lstm", "gru", "lstm-projected"])
def test_boxed_layer(name):
    """Inputs bounded one by one: sound on random pairs, and tighter than their Euclidean ball."""
    model = load_model(net(name, 1, dtype=torch.float64))
    cell, d = model.cell, model.d
    reach = torch.linspace(0.05, 0.5, d, dtype=torch.float64)
    ball = kind_of(model.name).analyse(model, float(reach.norm()) * (1 + 2**-40)).comparison
    found, steep = compare_in_box(cell, ball, reach)
    assert torch.equal(steep[..., : found.box.shape[1]], found.matrices)
    assert (found.box <= ball.box).all()
    v = ball.perron()
    assert float(found.factor(v)) < float(ball.factor(v))
    generator = torch.Generator().manual_seed(2)
    N = found.box.shape[1]
    draws = 2 * torch.rand(4, 1, N, 100, generator=generator, dtype=torch.float64) - 1
    s, other = (found.box[:, :, None] * part for part in draws[:2])
    x, far = (reach[None, :, None] * part[:, :d] for part in draws[2:])
    moved = cell.step(s, x)
    assert (moved.abs() <= found.box[:, :, None] + 1e-14).all()
    bound = (found.matrices @ (s - other).abs()[:, None]).amax(1)
    assert ((moved - cell.step(other, x)).abs() <= bound + 1e-14).all()
    assert ((moved - cell.step(s, far)).abs() <= found.inputs @ (x - far).abs() + 1e-14).all()
    still = cell.step(torch.zeros_like(s), x).abs()
    assert (still <= found.drive[:, :, None] + 1e-14).all()
