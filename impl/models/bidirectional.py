"""A recurrent model that reads its inputs in both directions, as it was read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from torch import Tensor

from rnnbounds.impl.format.bidirectional import ENDS, full_name, joint_digest
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.readout import Readout

DIRECTIONS = ("forward", "reverse")


class Directions(NamedTuple):
    """One layer: the cell that runs from the first input on, and the one from the last back."""

    forward: LoadedModel[Any]
    reverse: LoadedModel[Any]

    @property
    def n(self) -> int:
        """The size of the layer's output (h→, h←)."""
        return self.forward.n + self.reverse.n


@dataclass(frozen=True, eq=False)
class LoadedBidirectional:
    """Layers of cells in both directions, the lowest first, as stored:

        f_t = φ→(f_{t−1}, x_t),  r_t = φ←(r_{t+1}, x_t),  y_t = (h→_t, h←_t),

    from zero states before the first and after the last input; y of a layer is the input x of the
    next. source, ignored and unread as in `LoadedModel`; the readout is one linear map of y of the
    last.
    """

    layers: tuple[Directions, ...]
    source: str
    ignored: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    readout: Readout | None = None

    @property
    def n(self) -> int:
        """The size of the output y."""
        return self.layers[-1].n

    @property
    def d(self) -> int:
        """The size of the input."""
        return self.layers[0].forward.d

    @property
    def cell(self) -> str:
        """The cell of all layers and directions, such as lstm."""
        return self.layers[0].forward.name

    @property
    def name(self) -> str:
        """The cell with its directions and layers: "bidirectional lstm, 2 layers"."""
        return full_name(self.cell, len(self.layers))

    @property
    def dtype(self) -> str:
        """The dtype of all weights."""
        return self.layers[0].forward.dtype

    @property
    def weights(self) -> dict[str, Tensor]:
        """All weights by torch's names, as weight_hh_l1_reverse."""
        return dict(self._each("weights"))

    @property
    def tensors(self) -> dict[str, str]:
        """The full names in the source, by torch's names."""
        return dict(self._each("tensors"))

    @property
    def digest(self) -> str:
        """SHA-256 of the digests of all cells, the lowest layer first, forward before reverse."""
        return joint_digest(cell.digest for layer in self.layers for cell in layer)

    def _each(self, field: str) -> list[tuple[str, Any]]:
        held: list[tuple[str, Mapping[str, Any]]] = [
            (f"_l{l}{end}", getattr(cell, field))
            for l, layer in enumerate(self.layers)
            for cell, end in zip(layer, ENDS, strict=True)
        ]
        return [(role + end, value) for end, one in held for role, value in one.items()]
