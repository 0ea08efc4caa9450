"""The cell that computes a recurrent layer of ONNX, by the activations that it names.

ONNX lists f, g, h of an LSTM (gates, candidate, output), f, g of a GRU and f of an RNN, in any
case, with lists of α and β that are consumed in that order by the activations that have such
numbers. An LSTM and a GRU are read with σ and tanh.
Source: the operators RNN, LSTM and GRU of ONNX, version 22.
"""

from collections.abc import Sequence

from rnnbounds.impl.errors import InputError, shown

_STORED = "write it as a cell of your own, as docs/how-to/cell.md shows"
_ONNX = ("sigmoid", "tanh", "relu", "softplus", "elu")  # whose names are ours; α of elu is 1
_USUAL = {"LSTM": ("sigmoid", "tanh", "tanh"), "GRU": ("sigmoid", "tanh"), "RNN": ("tanh",)}


class UnreadActivationError(InputError):
    """An activation that no cell here has; `what` and `remedy` without the name of the layer."""

    def __init__(self, what: str, remedy: str = _STORED) -> None:
        super().__init__(f"a recurrent layer {what}; {remedy}")
        self.what, self.remedy = what, remedy


def cell_for(
    op: str,
    activations: Sequence[str] = (),
    alphas: Sequence[float] = (),
    betas: Sequence[float] = (),
    linear_before_reset: bool = False,
) -> str:
    """The cell that an ONNX node of one direction computes.

    op: RNN, LSTM or GRU. activations, alphas, betas: the node's attributes, () where it has none.
    Raises UnreadActivationError.

    >>> cell_for("GRU", ("Sigmoid", "Tanh"))
    'gru-cho'
    """
    names = tuple(name.lower() for name in activations) or _USUAL[op]
    told = ", ".join(activations)
    if op == "RNN":
        if len(names) != 1 or names[0] not in _ONNX:
            raise UnreadActivationError(f"has the activation {shown(told)}")
        if betas or (alphas and (names[0] != "elu" or tuple(alphas) != (1.0,))):
            raise UnreadActivationError(f"has {shown(told)} with an α or a β that no cell has")
        return f"rnn-{names[0]}"
    if names != _USUAL[op] or alphas or betas:
        raise UnreadActivationError(f"has the activations {shown(told)}, not σ and tanh")
    return "lstm" if op == "LSTM" else "gru" if linear_before_reset else "gru-cho"
