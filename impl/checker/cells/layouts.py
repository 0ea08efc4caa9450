"""The tensors of each cell that a truncated file may hold: their names, shapes and sizes.

A shape is a product of factors and symbols: ((4, "n"), (1, "d")) is a matrix of 4n rows.
"""

import itertools
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS

RHO = {name.removeprefix("rnn-"): name for name in BALL_ACTIVATIONS} | {"identity": "linear"}
STACKED = "stacked-"
_NUMBERED = re.compile(r"(.+)_l(0|[1-9][0-9]{0,3})")
_TRANSITION = re.compile(r"transition_([1-9][0-9]{0,2})_weight")
_TERM = re.compile(r"(\d*)([a-z]\w*)")


class LayoutError(ValueError):
    """Tensors that are no cell's."""


@dataclass(frozen=True)
class Layout:
    """The shapes of a cell's tensors by role, those that tell most first, which of them may be
    missing, and how large a state and the output, its last numbers, are; after `suffix` in files.
    """

    shapes: Mapping[str, str]
    optional: Collection[str] = ()
    state: str = "n"
    output: str = "n"
    suffix: str = ""

    def sizes(self, shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, int, int]:
        """State, output and input; raises LayoutError unless these are its tensors."""
        required = self.shapes.keys() - set(self.optional)
        if not required <= shapes.keys() <= self.shapes.keys():
            raise LayoutError("other tensors than the cell's")
        known: dict[str, int] = {}
        for role, text in self.shapes.items():
            if role in shapes:
                _fit(text.split(), shapes[role], known)
        return _value(self.state, known), _value(self.output, known), known["d"]


def layout(cell: str, roles: Collection[str]) -> Layout:
    """That of the cell of that name, for the roles that there are; raises LayoutError."""
    if cell in BALL_ACTIVATIONS:
        return _torch(1)
    if cell in _TORCH:
        return _TORCH[cell]
    family, _, rho = cell.partition("-")
    if family == "leaky" and rho in RHO:
        return Layout({"W": "n n", "W_in": "n d", "leak": "n", "b": "n"}, ("b",))
    if family == "deep" and rho in RHO:
        return _deep(roles)
    raise LayoutError("no cell that is known here")


def activation(cell: str) -> str:
    """The name in BALL_ACTIVATIONS of that of a leaky or a deep cell."""
    return RHO[cell.partition("-")[2]]


def known(cell: str) -> bool:
    """True if a layout of cells of that name is known."""
    try:
        layout(cell.removeprefix(STACKED), ())
    except LayoutError:
        return False
    return True


def layers(tensors: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tensors of each layer of a stack by role, the lowest first; raises LayoutError."""
    found: dict[int, dict[str, Any]] = {}
    for name, part in tensors.items():
        if (match := _NUMBERED.fullmatch(name)) is None:
            raise LayoutError("a tensor of no layer")
        found.setdefault(int(match[2]), {})[match[1]] = part
    if sorted(found) != list(range(len(found))):
        raise LayoutError("a layer is missing")
    return [found[i] for i in range(len(found))]


def _fit(wanted: list[str], shape: tuple[int, ...], known: dict[str, int]) -> None:
    if len(wanted) != len(shape):
        raise LayoutError("a tensor of another shape")
    for text, size in sorted(zip(wanted, shape, strict=True), key=lambda pair: len(pair[0])):
        match = _TERM.fullmatch(text)
        factor, symbol = (int(match[1] or 1), match[2]) if match else (0, "")
        if size <= 0 or factor * known.setdefault(symbol, size // max(1, factor)) != size:
            raise LayoutError("a tensor of another shape")


def _value(text: str, known: Mapping[str, int]) -> int:
    terms = (_TERM.fullmatch(term) for term in text.split("+"))
    return sum(int(match[1] or 1) * known[match[2]] for match in terms if match)


def _torch(gates: int, state: str = "n") -> Layout:
    rows = "n" if gates == 1 else f"{gates}n"
    shapes = {"weight_hh": f"{rows} n", "weight_ih": f"{rows} d"}
    biases = ("bias_ih", "bias_hh")
    return Layout(shapes | dict.fromkeys(biases, rows), biases, state, suffix="_l0")


def _deep(roles: Collection[str]) -> Layout:
    matches = filter(None, map(_TRANSITION.fullmatch, roles))
    depth = max((int(match[1]) for match in matches), default=1)
    ends = ["n", *(f"m{layer}" for layer in range(1, depth)), "n"]
    steps = list(enumerate(itertools.pairwise(ends), start=1))
    shapes = {f"transition_{l}_weight": f"{top} {bottom}" for l, (bottom, top) in steps}
    biases = {f"transition_{l}_bias": top for l, (_, top) in steps}
    return Layout(shapes | {"input_weight": f"{ends[1]} d"} | biases, tuple(biases))


_TORCH = {
    "lstm": _torch(4, "2n"),
    "lstm-projected": Layout(
        {"weight_hh": "4n p", "weight_ih": "4n d", "weight_hr": "p n", "bias_ih": "4n",
         "bias_hh": "4n"},
        ("bias_ih", "bias_hh"), "n+p", "p", "_l0",
    ),
    "gru": _torch(3),
    "gru-cho": _torch(3),
}  # fmt: skip
