import math
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, activation
from rnnbounds.impl.gradients.constants import Constants
from rnnbounds.impl.gradients.weight_sets import Region
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

HAIR = 1 + 1e-12


@dataclass(frozen=True)
class Omega:
    """Three radii, one a system."""

    W: Tensor
    U: Tensor
    b: Tensor


def cell(name: str, seed: int = 0, scale: float = 1.0) -> RNN:
    """Four random systems."""
    draw = torch.Generator().manual_seed(seed)
    W, U, b = (
        torch.randn(4, *shape, dtype=torch.float64, generator=draw)
        for shape in ((3, 3), (3, 2), (3,))
    )
    return RNN(W, U, scale * b, activation(name))


def holds(region: Region, member: RNN) -> bool:
    """True if a region's bounds are above the numbers of one cell."""
    rho = member.activation(member.b)
    sizes = {
        "W_norm": torch.linalg.matrix_norm(member.W, 2),
        "W_rows": member.W.norm(dim=2).amax(1),
        "U_norm": torch.linalg.matrix_norm(member.U, 2),
        "b_norm": member.b.norm(dim=1),
        "offset": rho.norm(dim=1),
    }
    inside = all((size <= getattr(region, name) * HAIR).all() for name, size in sizes.items())
    return inside and bool((rho.abs() <= region.units * HAIR).all())


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0])
def test_join_holds_the_segment(name: str, scale: float) -> None:
    """The bounds hold along the whole segment between two weights, that on ρ(b) too."""
    first, second = cell(name, 0, scale), cell(name, 1, scale)
    region = Region.join(Region.of(first), Region.of(second))
    for share in torch.linspace(0, 1, 21, dtype=torch.float64).tolist():
        parts = (torch.lerp(getattr(first, p), getattr(second, p), share) for p in ("W", "U", "b"))
        assert holds(region, RNN(*parts, first.activation))
    assert (region.n, region.single) == (3, False)


def test_corners_are_not_enough() -> None:
    """Between (10, 0) and (0, 10) tanh is longer than at both ends, and the bound knows it."""
    zero = torch.zeros(1, 2, 2, dtype=torch.float64)
    ends = [
        Region.of(RNN(zero, zero, torch.tensor([b], dtype=torch.float64), activation("tanh")))
        for b in ([10.0, 0.0], [0.0, 10.0])
    ]
    assert max(end.offset.item() for end in ends) < 1.0 + 1e-12
    assert Region.join(*ends).offset.item() > math.sqrt(2) * math.tanh(5.0)


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("trained", ["W", "U", "b", "WUb"])
def test_omega_holds_its_members(name: str, trained: str) -> None:
    """The bounds hold at random points of Ω and on its boundary; fixed blocks stay fixed."""
    own = cell(name)
    radii = Omega(*(torch.full((4,), radius, dtype=torch.float64) for radius in (0.7, 2.0, 3.0)))
    region = Region.of_omega(radii, own, trained)
    for seed in range(1, 20):
        other = cell(name, seed)
        W = radii.W[:, None, None] * other.W / certified_norm(other.W)[:, None, None]
        U = radii.U[:, None, None] * other.U / norm_up(other.U.flatten(1))[:, None, None]
        b = radii.b[:, None] * other.b / norm_up(other.b)[:, None]
        moved = {"W": W, "U": U, "b": b}
        parts = {p: moved[p] if p in trained else getattr(own, p) for p in moved}
        assert holds(region, RNN(**parts, activation=own.activation))
    assert not region.single


def test_one_cell() -> None:
    """A region of one cell gives the cell's own constants; joined with itself it stays it."""
    own, B_x = cell("tanh"), torch.ones(4, dtype=torch.float64)
    region = Region.of(own)
    assert Region.join(region) is region
    for found in (region, Region.join(region, region)):
        c, plain = Constants(own, B_x, region=found), Constants(own, B_x)
        for name in ("lam", "S_0", "B_h", "W_rows", "L_w", "beta_ww"):
            assert torch.equal(c[name], plain[name])
        assert torch.isfinite(c["lam_v"]).all() == found.single


def test_broken_regions_fail_closed() -> None:
    """NaN in one of the weights, or in a radius, reaches the bounds as infinity."""
    own, broken = cell("tanh"), cell("tanh")
    for part in (broken.W, broken.U, broken.b):
        part[:, 0] = math.nan
    B_x = torch.ones(4, dtype=torch.float64)
    radii = Omega(*torch.full((3, 4), math.nan, dtype=torch.float64))
    for region in (
        Region.join(Region.of(own), Region.of(broken)),
        Region.of_omega(radii, own, "WUb"),
    ):
        c = Constants(own, B_x, region=region)
        assert all((c[name] == math.inf).all() for name in ("lam", "L_x", "W_rows", "S_0"))
        assert all((bound == math.inf).all() for bound in (region.b_norm, region.W_norm))
