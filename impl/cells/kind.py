"""Cell type record: the only interface of a cell type to the rest of the package.

A cell is one file that ends in its ``KINDS``.

Layouts: the named weights that make up a cell, and how their shapes depend on each other.

A shape is written in symbols: "4n d" is a matrix of four blocks of n rows and of d columns, "n+p" a
sum. What a symbol stands for is read off the first weight that shows it.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn.functional import linear

from rnnbounds.impl.arithmetic.inputs.sets import InputBound
from rnnbounds.impl.cells.rounding import LayerInputs, Rounding
from rnnbounds.impl.errors import NotFiniteError, ShapeError
from rnnbounds.impl.format.record import Witness
from rnnbounds.impl.models.loaded import Cell, LoadedModel
from rnnbounds.impl.norms.differences import certified_point
from rnnbounds.impl.norms.metric import METRIC_SDP
from rnnbounds.impl.norms.norm_data import StateNorm
from rnnbounds.impl.numbers.outward import norm_up, rows_up

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


class Analysis(Protocol):
    """All that can be certified about one model under inputs ‖x_t‖₂ ≤ B."""

    @property
    def rounds_to_one(self) -> Mapping[str, int]:
        """Number of gates that may round to 1, by the name of the model's dtype; such units never
        forget."""
        return {}

    @property
    def refused(self) -> str | None:
        """Why the box that the cell states is not proved, None if it is or there is none."""
        return None

    @property
    def unbounded(self) -> str | None:
        """Which number of the state has no bound, and why; None if all have one, or none needs
        one."""
        return None

    def reason_infinite(self, norm: str) -> str:
        """Why no factor λ in that norm is known, infinity being stated in its place."""
        if self.unbounded is not None:
            return self.unbounded
        if norm in _SEARCHED:
            return "the search found no such norm in which a step has a proved factor"
        return "products of the weights exceed what float64 holds"

    @property
    def region(self) -> str:
        """The set of states that the verdict is about, in words."""

    @property
    def reason_for_no_search(self) -> str | None:
        """Reason why no witness is sought, None if one is."""

    def norm(self, name: str) -> StateNorm:
        """The norm of that name, one of its kind's, with its constants for the model."""

    def states(self, norm: StateNorm) -> float:
        """B_h ≥ ‖h_t‖₂ for every t."""

    def constants(self, norm: StateNorm) -> dict[str, float]:
        """All constants by name, infinite where nothing is known."""

    def proof(self, norm: StateNorm) -> dict[str, Any]:
        """Return the data that `impl.checker` needs beyond the norm's constants to prove them
        again: the states' box, or the layers of a stack; {} for a vanilla cell."""
        return {}

    def unit_gains(self) -> Tensor:
        """g with |s_i − s′_i| ≤ g_i δ at all times for two runs from one state whose inputs are
        within δ of one another in ‖·‖₂, (state,); infinite where none is found."""

    def rounding(self, norm: StateNorm, fed: LayerInputs | None = None) -> Rounding:
        """A bound on ‖fl(h_t) − h_t‖₂ in the model's own dtype, or why none is known; of a layer,
        with what it is fed by the run below."""

    def refute(self) -> Witness | None:
        """A certified witness that the model is no contraction; None says nothing."""


class CellAnalysis(Analysis, Protocol):
    """All that can be certified about one cell, by how far its states and inputs move a state."""

    @property
    def slopes(self) -> Tensor:
        """A_r ≥ 0 with |φ(s, x) − φ(s′, x′)| ≤ max_r A_r (|s − s′|, |x − x′|) row by row:
        (R, state, state + d)."""

    @property
    def box(self) -> Tensor | None:
        """|s_i| ≤ box_i for all states, as a certificate states it, (state,); None if it needs
        none."""

    def inputs(self) -> Tensor:
        """At least |φ(s, x) − φ(s, x′)|_i for |x_j − x′_j| = 1 and no other: (state, d)."""
        return self.slopes[..., self.slopes.shape[1] :].amax(0)

    def unit_gains(self, fed: Tensor | None = None) -> Tensor:
        """g with |s_i − s′_i| ≤ g_i δ at all times, (state,), for inputs within δ in ‖·‖₂, or each
        within fed_j δ where `fed` (d,) is known; infinite where none is found."""
        N = self.slopes.shape[1]
        moved = norm_up(self.inputs())
        if fed is not None:
            moved = rows_up(self.slopes[..., N:], fed.expand(len(self.slopes), -1))
        return certified_point(self.slopes[..., :N], moved)


Weights = Mapping[str, Tensor]
SUFFIX = "_l0"  # of torch's names
_SEARCHED = ("quadratic", METRIC_SDP)
BIASES = ("bias_ih", "bias_hh")


def identity_drive(weights: Weights, x: Tensor) -> Tensor:
    """The drive of a cell that prepares nothing: its inputs as they are."""
    return x


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of cell.

    name: that of `--cell`. layout: the named weights of a cell and their shapes, given the names
    that a model has (which tell how many layers there are; most cells do not ask). norms: those in
    which it may contract, in order of trying. build: the float64 cells of weights (B, …), one batch
    axis before each shape. step: one step in rows, in any dtype, of the weights, of what `drive`
    makes of the inputs (…, M, d), and of states (…, M, state), whose last n numbers are the output
    h. analyse: what is certified about a model for an input bound.

    drive: what does not depend on the state, for all times at once, (…, M, d) -> (…, M, ·).
    default: whether weights of these names and shapes are such a cell unless something else is
    said; where none of several such kinds is, one must be said. suffix: what torch appends to the
    names. mode: torch's word for the modules that compute it, None if none does. gates and width:
    g and w of a cell whose weights torch stacks to (g n, n), with states of w n numbers; 0 for all
    others. remedy: what to do about a model that is not certified. projects: whether
    rnnbounds.stable projects its recurrent matrix. opens: the weights of gates, which those that
    draw cells for an attack may hold open or shut.

    >>> kind = rnnbounds.cells.program_kind("kept", Kept, rnnbounds.cells.fixed(SHAPES))
    >>> rnnbounds.cells.register(kind)
    """

    name: str
    layout: Callable[[Collection[str]], Layout]
    norms: tuple[str, ...]
    build: Callable[[Weights], Cell]
    step: Callable[[Weights, Tensor, Tensor], Tensor]
    analyse: Callable[[LoadedModel[Any], InputBound], Analysis]
    drive: Callable[[Weights, Tensor], Tensor] = identity_drive
    default: bool = True
    suffix: str = ""
    mode: str | None = None
    gates: int = 0
    width: int = 0
    remedy: str = "train it with rnnbounds.contraction as a penalty"
    projects: bool = False
    opens: Collection[str] = ()

    def cell_of(self, weights: Weights, device: str = "cpu") -> Cell:
        """The float64 cell of one system's weights as stored, a batch of one on that device."""
        return self.build(
            {role: tensor.double()[None].to(device) for role, tensor in weights.items()}
        )


def fixed(
    shapes: Mapping[str, str],
    optional: Collection[str] = (),
    state: str = "n",
    output: str = "n",
) -> Callable[[Collection[str]], Layout]:
    """The layout of a cell whose weights always have the same names.

    >>> rnnbounds.cells.fixed({"W": "n n", "U": "n d", "b": "n"}, optional=("b",))
    """
    layout = Layout(shapes, optional, state, output)
    return lambda names: layout


def torch_layout(gates: int, state: str = "n") -> Layout:
    """The weights of a cell of torch's: W (g n, n), U (g n, d) and two biases for g gates."""
    rows = "n" if gates == 1 else f"{gates}n"
    shapes = {"weight_hh": f"{rows} n", "weight_ih": f"{rows} d", "bias_ih": rows, "bias_hh": rows}
    return Layout(shapes, BIASES, state)


def input_drive(weights: Weights, x: Tensor) -> Tensor:
    """U x + b_ih in rows."""
    return linear(x, weights["weight_ih"], weights.get("bias_ih"))


def with_zero_biases(weights: Weights) -> Weights:
    """The weights (B, …) with zeros for biases that are not there; raises NotFiniteError if the sum
    of the two overflows."""
    zero = torch.zeros_like(weights["weight_hh"][:, :, 0])
    biases = {role: weights.get(role, zero) for role in BIASES}
    if not bool(torch.isfinite(torch.stack(list(biases.values())).sum(0)).all()):
        raise NotFiniteError("bias_ih + bias_hh")
    return {**weights, **biases}
