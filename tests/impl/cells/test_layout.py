import pytest
import torch

from rnnbounds.impl.cells.kind import Layout, Sizes
from rnnbounds.impl.errors import ShapeError

CELL = Layout({"R": "p n", "W": "4n p", "U": "4n d", "b": "4n", "gain": "2"}, ("b",), "n+p", "p")


def weights(**shapes: tuple[int, ...]) -> dict[str, torch.Tensor]:
    """Zeros of those shapes, where they differ from a good cell."""
    good = {"R": (2, 3), "W": (12, 2), "U": (12, 5), "b": (12,), "gain": (2,)}
    return {name: torch.zeros(shape) for name, shape in (good | shapes).items()}


@pytest.mark.parametrize(
    ("name", "shape", "needed"),
    [
        ("R", (2, 3, 1), r"\(p, n\) with p ≥ 1 and n ≥ 1"),
        ("R", (0, 3), r"\(p, n\) with p ≥ 1 and n ≥ 1"),
        ("W", (12, 3), r"\(12, 2\)"),
        ("U", (12, 0), r"\(12, d\) with d ≥ 1"),
        ("U", (11, 5), r"\(12, d\) with d ≥ 1"),
        ("b", (3,), r"\(12,\)"),
        ("gain", (3,), r"\(2,\)"),
    ],
)
def test_misfits(name, shape, needed):
    """What does not fit is named, with the numbers that are already known."""
    found = weights(**{name: shape})
    with pytest.raises(ShapeError, match=f"{name} has shape .* but {needed} is needed"):
        CELL.sizes(found)
    assert CELL.count_fitting(found) == list(CELL.shapes).index(name)


def test_a_symbol_from_a_multiple():
    """A symbol that is only seen four times over must be a fourth."""
    layout = Layout({"b": "4n", "U": "n d"})
    assert layout.sizes({"b": torch.zeros(8), "U": torch.zeros(2, 1)}) == Sizes(2, 1, 2)
    with pytest.raises(ShapeError, match=r"\(4n,\) with n ≥ 1"):
        layout.sizes({"b": torch.zeros(7), "U": torch.zeros(2, 1)})
