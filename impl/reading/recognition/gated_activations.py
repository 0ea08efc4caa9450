"""The cell that computes a recurrent layer of ONNX, by the activations that it names.

ONNX lists f, g, h of an LSTM (gates, candidate, output), f, g of a GRU and f of an RNN, in any
case, with lists of α and β that are consumed in that order by the activations that have such
numbers. Peepholes P are those of the gates i, o, f; where all are zero there are none.
Source: the operators RNN, LSTM and GRU of ONNX, version 22.
"""

from collections.abc import Iterator, Mapping, Sequence

from torch import Tensor

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.cells.gated.activations import HARD_SIGMOID, check_activation, numbered
from rnnbounds.impl.cells.gated.variants import PLUS
from rnnbounds.impl.errors import InputError, UnknownActivationError, UnknownNameError, shown

Numbers = tuple[float, ...]
_STORED = "hand over a model with activations that a cell here has"
_ONNX: Mapping[str, tuple[str, int, Numbers | None]] = {  # our name, numbers, their defaults
    "sigmoid": ("sigmoid", 0, ()),
    "tanh": ("tanh", 0, ()),
    "relu": ("relu", 0, ()),
    "softplus": ("softplus", 0, ()),
    "softsign": ("softsign", 0, ()),
    "elu": ("elu", 1, (1.0,)),
    "leakyrelu": ("leaky-relu", 1, (0.01,)),
    "hardsigmoid": (HARD_SIGMOID, 2, (0.2, 0.5)),
    "affine": ("affine", 2, None),
    "scaledtanh": ("scaled-tanh", 2, None),
}
_USUAL = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}


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
    peepholes: Tensor | None = None,
    linear_before_reset: bool = False,
) -> tuple[str, dict[str, Tensor]]:
    """The cell that an ONNX node of one direction computes, and its peepholes (n,) by role.

    op: RNN, LSTM or GRU. activations, alphas, betas: the node's attributes, () where it has none.
    peepholes: P (3 n,). Raises UnreadActivationError.

    >>> cell_for("GRU", ("HardSigmoid", "Relu"), alphas=(0.25,))
    ('gru-cho+hard-sigmoid-0.25-0.5+relu', {})
    """
    names = activations or _USUAL[op]
    if len(names) != len(_USUAL[op]):
        raise UnreadActivationError(f"has {len(names)} activations, not {len(_USUAL[op])}")
    found = _with_numbers(names, alphas, betas)
    if op == "RNN":
        return vanilla_cell(*found), {}
    if op == "GRU":
        return varied("gru" if linear_before_reset else "gru-cho", *found), {}
    if peepholes is None or not bool(peepholes.any()):
        return varied("lstm", *found), {}
    i, o, f = peepholes.chunk(3)
    return varied("lstm-peephole", *found), {"weight_ci": i, "weight_cf": f, "weight_co": o}


def numbers_taken(activations: Sequence[str]) -> tuple[int, int]:
    """How many α and how many β ONNX's activations consume; unknown ones none."""
    counts = [_ONNX.get(name.lower(), ("", 0, ()))[1] for name in activations]
    return sum(count > 0 for count in counts), sum(count > 1 for count in counts)


def vanilla_cell(rho: str) -> str:
    """The vanilla cell of that activation; raises UnreadActivationError."""
    if rho not in ACTIVATIONS:
        raise UnreadActivationError(f"has the activation {shown(rho)}, which no vanilla cell has")
    return "linear" if rho == "identity" else f"rnn-{rho}"


def varied(base: str, gates: str, *others: str) -> str:
    """The cell with these activations: the plain one where they are σ and tanh. Raises
    UnreadActivationError for gates that are neither σ nor hard sigmoids."""
    if gates == "sigmoid" and set(others) == {"tanh"}:
        return base
    try:
        check_activation(gates, gate=True)
    except UnknownNameError:
        what = f"has gates with {shown(gates)}, which may leave the numbers between 0 and 1"
        raise UnreadActivationError(what) from None
    return PLUS.join((base, gates, *others))


def _with_numbers(
    names: Sequence[str], alphas: Sequence[float], betas: Sequence[float]
) -> list[str]:
    """Our names of ONNX's activations, each with the α and β that it consumes."""
    left: tuple[Iterator[float], ...] = (iter(alphas), iter(betas))
    found = []
    for name in names:
        if name.lower() not in _ONNX:
            raise UnreadActivationError(f"has the activation {shown(name)}")
        ours, count, defaults = _ONNX[name.lower()]
        told = [next(numbers, None) for numbers in left[:count]]
        numbers = [
            usual if a is None else float(a)
            for a, usual in zip(told, defaults or (None,) * count, strict=True)
        ]
        if None in numbers:
            raise UnreadActivationError(f"has {shown(name)} without its α and β", "state both")
        found.append(_ours(name, ours, [a for a in numbers if a is not None]))
    if any(next(numbers, None) is not None for numbers in left):
        raise UnreadActivationError("has more α or β than its activations take", "export it again")
    return found


def _ours(name: str, ours: str, numbers: Sequence[float]) -> str:
    """Our name with these numbers; α = 1 alone for those that have no number here."""
    if ours == "elu":
        if numbers != [1.0]:
            raise UnreadActivationError(f"has {shown(name)} with an α that is not 1")
        return ours
    if ours == "affine" and numbers == [1.0, 0.0]:
        return "identity"
    whole = numbered(ours, *numbers) if numbers else ours
    try:
        check_activation(whole)
    except UnknownActivationError:
        raise UnreadActivationError(f"has {shown(name)} with numbers that are not finite") from None
    return whole
