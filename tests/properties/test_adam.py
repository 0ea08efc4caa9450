"""The searches' Adam against torch's, its twin."""

import torch

from rnnbounds.properties.adam import Adam

Tensor = torch.Tensor


def free() -> dict[str, Tensor]:
    """Tensors of several shapes, one of which no loss asks for."""
    rng = torch.Generator().manual_seed(5)
    shapes = {"A": (2, 3), "b": (4,), "c": (), "unused": (3,)}
    return {
        name: torch.randn(shape, generator=rng, dtype=torch.float64).requires_grad_()
        for name, shape in shapes.items()
    }


def loss(of: dict[str, Tensor]) -> Tensor:
    """A loss with a kink, and slopes of many sizes."""
    return (
        (of["A"].sin().sum() * of["c"]).abs() + 1e6 * of["b"].square().sum() + of["A"].exp().sum()
    )


def test_steps_are_those_of_torch() -> None:
    """To the last bit."""
    ours, theirs = free(), free()
    adam, twin = Adam(ours.values()), torch.optim.Adam(theirs.values())
    for i in range(20):
        rate = 0.05 / (i + 1)
        adam.step(loss(ours), rate)
        twin.zero_grad()
        loss(theirs).backward()  # type: ignore[no-untyped-call]
        for group in twin.param_groups:
            group["lr"] = rate
        twin.step()
        assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_what_is_no_slope_moves_nothing() -> None:
    """NaN is taken for a slope of 0."""
    A = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    Adam([A]).step((A * torch.tensor([torch.nan, 1.0])).sum(), 0.05)
    assert A[0] == 0
    assert A[1] < 0
