"""Which named weights make up a cell, and how their shapes hang together.

A shape is written in symbols: "4n d" is a matrix of four blocks of n rows and of d columns, "n+p" a
sum. What a symbol stands for is read off the first weight that shows it.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache

from torch import Tensor

from rnnbounds.impl.errors import ShapeError

_ANOTHER = "take the weights of one cell, each of its own shape"
_TERM = re.compile(r"(\d*)([a-z]\w*)?")


@dataclass(frozen=True)
class Sizes:
    """The sizes of a cell: its output h (n), its input (d) and its state."""

    n: int
    d: int
    state: int


@dataclass(frozen=True)
class Layout:
    """The weights of a cell by name.

    shapes: of each weight, those first that tell most; optional: the names of those that a model
    may lack. state and output: how many numbers a state has, and the output h, which are the last
    of them.
    """

    shapes: Mapping[str, str]
    optional: Collection[str] = ()
    state: str = "n"
    output: str = "n"

    @property
    def required(self) -> tuple[str, ...]:
        """The names that no model lacks."""
        return tuple(name for name in self.shapes if name not in self.optional)

    def sizes(self, weights: Mapping[str, Tensor]) -> Sizes:
        """The sizes that all weights agree on, each at least 1; raises ShapeError."""
        known: dict[str, int] = {}
        for name, shape in self.shapes.items():
            if name in weights and not _fit(shape, tuple(weights[name].shape), known):
                weight = weights[name]
                remedy = "expand it to that shape" if weight.ndim == 0 else _ANOTHER
                raise ShapeError(name, _told(shape, known), weight, remedy)
        return Sizes(_value(self.output, known), known["d"], _value(self.state, known))

    def shaped(self, known: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
        """The shape of each weight, given what every symbol stands for."""
        return {
            name: tuple(_value(text, known) for text in shape.split())
            for name, shape in self.shapes.items()
        }

    def fitting(self, weights: Mapping[str, Tensor]) -> int:
        """How many of the weights, in order, fit until one does not."""
        known: dict[str, int] = {}
        for count, name in enumerate(self.shapes):
            if name in weights and not _fit(self.shapes[name], tuple(weights[name].shape), known):
                return count
        return len(self.shapes)


def _fit(shape: str, actual: tuple[int, ...], known: dict[str, int]) -> bool:
    """True if `actual` has the symbolic shape; sizes of new symbols are then added to `known`."""
    wanted, found = shape.split(), dict(known)
    if len(wanted) != len(actual):
        return False
    solved = sorted(zip(wanted, actual, strict=True), key=lambda pair: len(pair[0]))
    for text, size in solved:  # "n" before "4n"
        (count, symbol), *more = _terms(text)
        if symbol and symbol not in found and not more:
            if size <= 0 or size % count:
                return False
            found[symbol] = size // count
        if _value(text, found) != size:
            return False
    known |= found
    return True


def _value(text: str, known: Mapping[str, int]) -> int:
    """A sum of multiples of known symbols."""
    return sum([count * (known[symbol] if symbol else 1) for count, symbol in _terms(text)])


@cache
def _terms(text: str) -> tuple[tuple[int, str | None], ...]:
    """The factor and the symbol of each term of a sum: of 4n, n or 2."""
    matches = map(_TERM.match, text.split("+"))
    return tuple((int(match[1] or 1), match[2]) for match in matches if match)


def _told(shape: str, known: Mapping[str, int]) -> str:
    """A shape with numbers for what is known, and the symbols that are still free."""
    parts, free = [], []
    for text in shape.split():
        symbols = [symbol for _, symbol in _terms(text) if symbol]
        unknown = [symbol for symbol in symbols if symbol not in known]
        parts.append(text if unknown else str(_value(text, known)))
        free += [symbol for symbol in unknown if symbol not in free]
    listed = f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    return listed + (f" with {' and '.join(f'{symbol} ≥ 1' for symbol in free)}" if free else "")
