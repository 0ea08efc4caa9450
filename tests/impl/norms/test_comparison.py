"""Norms from comparisons: of a batch as of each system alone."""

from dataclasses import replace

import torch

from impl.norms.comparison import Comparison

PARTS = ("matrices", "box", "drive", "inputs")


def comparison(systems: int) -> Comparison:
    """Some that contract, some that do not, one without a box."""
    draw = torch.Generator().manual_seed(systems)

    def part(*shape: int) -> torch.Tensor:
        return torch.rand(systems, *shape, dtype=torch.float64, generator=draw)

    matrices = part(2, 4, 4) * torch.linspace(0.1, 0.6, systems).double()[:, None, None, None]
    box = part(4)
    box[0, 2] = torch.inf
    return Comparison(matrices, box, part(4), part(4, 3), 2, lambda: part(2, 2))


def test_a_batch_is_each_system_alone() -> None:
    """The same numbers, and the same start for what is left."""
    whole = comparison(5)
    v = whole.perron()
    together = whole.unitwise("perron", v)
    assert {norm.lam < 1 for norm in together} == {True, False}
    for i, norm in enumerate(together):
        one = replace(whole, **{name: getattr(whole, name)[i : i + 1] for name in PARTS})
        assert one.unitwise("perron", v[i : i + 1]) == (norm,)
        alone = one.again(norm)
        assert alone == norm
        assert norm.remaining is not None
        assert alone.remaining is not None
        pair = norm.remaining.layers[0], alone.remaining.layers[0]
        assert torch.equal(pair[0].start, pair[1].start)
        assert torch.equal(pair[0].matrices, pair[1].matrices)
