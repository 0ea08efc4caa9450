"""Layouts: the named weights that make up a cell, and how their shapes depend on each other.

A shape is written in symbols: "4n d" is a matrix of four blocks of n rows and of d columns, "n+p" a
sum. What a symbol stands for is read off the first weight that shows it.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache

from torch import Tensor

from rnnbounds.impl.errors import ShapeError

_REMEDY = "take the weights of one cell, each of its own shape"
_TERM_PATTERN = re.compile(r"(\d*)([a-z]\w*)?")


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
        symbols = self.symbols(weights)
        return Sizes(
            _evaluate_sum(self.output, symbols), symbols["d"], _evaluate_sum(self.state, symbols)
        )

    def symbols(self, weights: Mapping[str, Tensor]) -> dict[str, int]:
        """The size that each symbol stands for, at least 1; raises ShapeError."""
        symbols: dict[str, int] = {}
        for name, shape in self.shapes.items():
            if name in weights and not _match_shape(shape, tuple(weights[name].shape), symbols):
                weight = weights[name]
                remedy = "expand it to that shape" if weight.ndim == 0 else _REMEDY
                raise ShapeError(name, _describe_shape(shape, symbols), weight, remedy)
        return symbols

    def shapes_for(self, symbols: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
        """The shape of each weight, given what every symbol stands for."""
        return {
            name: tuple(_evaluate_sum(text, symbols) for text in shape.split())
            for name, shape in self.shapes.items()
        }

    def count_fitting(self, weights: Mapping[str, Tensor]) -> int:
        """Number of the weights, in order, whose shapes fit, up to the first that does not."""
        symbols: dict[str, int] = {}
        for count, name in enumerate(self.shapes):
            if name in weights and not _match_shape(
                self.shapes[name], tuple(weights[name].shape), symbols
            ):
                return count
        return len(self.shapes)


def _match_shape(shape: str, actual: tuple[int, ...], symbols: dict[str, int]) -> bool:
    """True if `actual` has the symbolic shape; sizes of new symbols are then added."""
    terms, symbols_found = shape.split(), dict(symbols)
    if len(terms) != len(actual):
        return False
    pairs = sorted(zip(terms, actual, strict=True), key=lambda pair: len(pair[0]))
    for text, size in pairs:  # "n" before "4n"
        (count, symbol), *further_terms = _parse_terms(text)
        if symbol and symbol not in symbols_found and not further_terms:
            if size <= 0 or size % count:
                return False
            symbols_found[symbol] = size // count
        if _evaluate_sum(text, symbols_found) != size:
            return False
    symbols |= symbols_found
    return True


def _evaluate_sum(text: str, symbols: Mapping[str, int]) -> int:
    """A sum of multiples of known symbols."""
    return sum([count * (symbols[symbol] if symbol else 1) for count, symbol in _parse_terms(text)])


@cache
def _parse_terms(text: str) -> tuple[tuple[int, str | None], ...]:
    """The factor and the symbol of each term of a sum: of 4n, n or 2."""
    matches = map(_TERM_PATTERN.match, text.split("+"))
    return tuple((int(match[1] or 1), match[2]) for match in matches if match)


def _describe_shape(shape: str, symbol_sizes: Mapping[str, int]) -> str:
    """A shape with numbers for what is known, and the symbols that are still free."""
    texts, free = [], []
    for text in shape.split():
        symbols = [symbol for _, symbol in _parse_terms(text) if symbol]
        unknown = [symbol for symbol in symbols if symbol not in symbol_sizes]
        texts.append(text if unknown else str(_evaluate_sum(text, symbol_sizes)))
        free += [symbol for symbol in unknown if symbol not in free]
    shape_text = f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"
    return shape_text + (
        f" with {' and '.join(f'{symbol} ≥ 1' for symbol in free)}" if free else ""
    )
