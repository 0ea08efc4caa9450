"""The table of contents of cells: all that `--cell` can name."""

from collections.abc import Mapping

from impl.activation import ACTIVATIONS
from impl.errors import UnknownNameError
from impl.gru import GRU_CHO_KIND, GRU_KIND
from impl.kind import Kind
from impl.lstm import LSTM_KIND
from impl.vanilla import vanilla

_KINDS = (
    vanilla("linear", ACTIVATIONS["identity"]),
    *(vanilla(f"rnn-{name}", rho) for name, rho in ACTIVATIONS.items() if name != "identity"),
    LSTM_KIND,
    GRU_KIND,
    GRU_CHO_KIND,
)

CELLS: Mapping[str, Kind] = {kind.name: kind for kind in _KINDS}
NORM_NAMES = tuple(dict.fromkeys(norm for kind in _KINDS for norm in kind.norms))


class UnknownCellError(UnknownNameError):
    """A cell that is not read."""

    def __init__(self, name: str) -> None:
        super().__init__("cell", name, CELLS)


def kind_of(name: str) -> Kind:
    """The kind of that name; raises UnknownCellError."""
    if name not in CELLS:
        raise UnknownCellError(name)
    return CELLS[name]
