"""LSTM and GRU cells with activations that their name says: `lstm+hard-sigmoid+tanh+relu`.

After the cell come the activations of its gates, its candidate and, of an LSTM, its output; any
that `impl.cells.gated.activations` knows. Their weights are those of the cell before the first +.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from rnnbounds.impl.cells.gated.activations import check_activation
from rnnbounds.impl.cells.gated.gate import Gated, gated_kind
from rnnbounds.impl.cells.gated.gru_variant import MGU_KINDS, GRUVariant
from rnnbounds.impl.cells.gated.lstm_variant import PEEPHOLE_LAYOUT, LSTMVariant
from rnnbounds.impl.cells.kind import Kind, torch_layout
from rnnbounds.impl.cells.layout import Layout
from rnnbounds.impl.errors import InputError

PLUS = "+"
Make = Callable[..., Gated]
_BASES: Mapping[str, tuple[Make, Layout, int]] = {  # and how many activations each has
    "lstm": (LSTMVariant, torch_layout(4, "2n"), 3),
    "lstm-peephole": (LSTMVariant, PEEPHOLE_LAYOUT, 3),
    "gru": (GRUVariant, torch_layout(3), 2),
    "gru-cho": (partial(GRUVariant, before=True), torch_layout(3), 2),
}
VARIED = tuple(_BASES)
_LSTM_NORMS = ("spectral", "infinity", "comparison", "perron")


class VariantError(InputError):
    """The name of a cell with activations that is none."""

    def __init__(self, name: str, what: str) -> None:
        super().__init__(
            f"the cell {name!r} {what}; name the activations of gates, candidate and, of an LSTM, "
            "output, as in lstm+hard-sigmoid+tanh+tanh or gru+sigmoid+relu"
        )


@cache
def variant_kind(name: str) -> Kind:
    """The kind of that name with its activations. Raises VariantError for another cell or count,
    UnknownNameError for an activation that no such cell has.

    >>> variant_kind("gru+hard-sigmoid+relu").layout(())
    """
    base, *activations = name.split(PLUS)
    if base not in _BASES:
        raise VariantError(name, f"has no activations to name, as {', '.join(VARIED)} have")
    make, layout, count = _BASES[base]
    if len(activations) != count:
        raise VariantError(name, f"has {len(activations)} activations, not {count}")
    check_activation(activations[0], gate=True)
    for rho in activations[1:]:
        check_activation(rho)
    options: dict[str, Any] = {"norms": _LSTM_NORMS} if count == 3 else {}
    build = partial(make, activations=tuple(activations))
    return gated_kind(name, build, layout, default=False, **options)


PEEPHOLE_KIND = gated_kind("lstm-peephole", LSTMVariant, PEEPHOLE_LAYOUT, norms=_LSTM_NORMS)
VARIANT_KINDS = (PEEPHOLE_KIND, *MGU_KINDS)
