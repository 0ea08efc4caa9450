"""Windows of linear systems by their impulse responses, whatever the factor of a norm is.

Of two runs of h⁺ = Ah + Ux + b under the same inputs one was at 0 k steps before, so that they are
apart by Σ_{k≤j<T} V_j x_j + v_j with V_j = A^j U, v_j = A^j b and an input x_j for each j. Hence

    ‖Σ_j V_j x_j‖₂ ≤ β √(Σ_j w_j ‖Σ_j V_j V_jᵀ/w_j‖₂)    for ‖x_j‖₂ ≤ β and any w_j > 0,

as |uᵀ Σ_j V_j x_j| ≤ β Σ_j ‖V_jᵀu‖₂ for unit vectors u, by the inequality of Cauchy and Schwarz;
w_j is about ‖V_j‖_F. Over other sets V_j x has a range row by row, whose sums over any k ≤ j < T
are bounded, as are those of v_j.

C_j = [V_j v_j] is computed for j < J. Where C_{j+1} = A C_j + D_j, each D_i puts C_j off by
A^{j−i−1} D_i. In a norm with ‖Av‖_* ≤ λ‖v‖_* and ‖v‖₂ ≤ C‖v‖_* ≤ Cc‖v‖₂ these errors for j ≥ k, and
the responses from J on, add up in the Euclidean norm to at most

    Cc (e_k + Σ_{k≤i<J} ‖D_i‖ + ‖C_{J−1}‖ + e_{J−1})/(1 − λ),    e_{i+1} = λe_i + ‖D_i‖.

Sources: Higham, section 3.5, for D; Boyd & Barratt, Linear Controller Design, section 5, for the
sizes of outputs by impulse responses.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import torch
from flint import arb, arb_mat
from torch import Tensor

from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.outward import (
    TINY,
    add_up,
    gamma,
    mul_up,
    norm_bound,
    norm_up,
    sqrt_up,
    subtract_down,
)
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

STEPS, WORK = 2**14, 2**31  # of responses, and products that they take
_BLOCK = 64
_LEAST = 2.0**-200  # of √w_j
_NEGLIGIBLE = 2.0**-7  # of ε: what may be left out after J

Array = npt.NDArray[np.float64]
Ranges = Callable[[Array], tuple[Array, Array]]


class Contracting(Protocol):
    """A norm with ‖Av‖_* ≤ lam‖v‖_* and ‖v‖₂ ≤ equivalence ‖v‖_* ≤ equivalence reach ‖v‖₂."""

    @property
    def lam(self) -> float:
        """λ < 1."""

    @property
    def equivalence(self) -> float:
        """C."""

    @property
    def reach(self) -> float:
        """c."""


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """h⁺ = Ah + Ux + b: A (n, n) and C = [U b] (n, d + 1) in floats, each within an error in the
    Frobenius norm."""

    A: Array
    C: Array
    errors: tuple[float, float]

    @classmethod
    def of_balls(cls, A: arb_mat, C: arb_mat) -> "LinearSystem":
        """The system whose numbers are in these balls."""
        parts, errors = [], []
        for matrix in (A, C):
            middle = [[float(a.mid()) for a in row] for row in matrix.tolist()]
            rest = (matrix - arb_mat(middle)).entries()
            parts.append(np.array(middle))
            errors.append(float_above(sum((a * a for a in rest), arb(0)).sqrt()))
        return cls(parts[0], parts[1], (errors[0], errors[1]))

    @np.errstate(all="ignore")
    def responses(self, first: Array) -> Array:
        """C_j of a block from its first on, (BLOCK, n, d + 1)."""
        block = np.empty((_BLOCK, *first.shape))
        block[0] = first
        for i in range(1, _BLOCK):
            np.matmul(self.A, block[i - 1], out=block[i])
        return block


class Gram(NamedTuple):
    """At least Σ w_j and Σ ‖Y_j‖_F² of several responses, and Σ Y_j Y_jᵀ (n, n), for
    Y_j = V_j/√w_j."""

    weight: float
    square: float
    matrix: Array

    @classmethod
    @np.errstate(all="ignore")
    def of(cls, C: Array) -> "Gram":
        """The sums over C (m, n, d + 1)."""
        V = C[..., :-1]
        roots = np.maximum(np.sqrt(np.linalg.norm(V, axis=(1, 2))), _LEAST)
        Y = (V / roots[:, None, None]).transpose(1, 0, 2).reshape(V.shape[1], -1)
        rounded = 1 + gamma(Y.size + 8)
        return cls(float(roots @ roots) * rounded, float(np.vdot(Y, Y)) * rounded, Y @ Y.T)

    def joined(self, other: "Gram") -> "Gram":
        """The sums over the responses of both."""
        weight, square = (float(add_up(a, b)) for a, b in zip(self[:2], other[:2], strict=True))
        return Gram(weight, square, self.matrix + other.matrix)

    def reach(self, terms: int) -> Tensor:
        """At least sup ‖Σ_j V_j x_j‖₂ over ‖x_j‖₂ ≤ 1, a scalar, for sums of so many terms."""
        # Y is rounded once, and what underflows is far below TINY.
        off = gamma(terms + 8) * self.square + TINY * (1 + self.square)
        norm = add_up(certified_norm(torch.from_numpy(self.matrix)[None])[0], off)
        return sqrt_up(mul_up(self.weight, norm))


@dataclass(frozen=True, eq=False)
class _Block:
    """Responses C_j of BLOCK consecutive j, as floats that stand for themselves: the first and the
    last; ‖C_j‖_F, rounded up; v_j, (BLOCK, n); their sums; of sets other than balls the largest of
    −C_j(x, 1) and of C_j(x, 1), (BLOCK, n) each."""

    first: Array
    last: Array
    sizes: Array
    bias: Array
    gram: Gram
    ends: tuple[Array, ...]

    @classmethod
    def of(cls, C: Array, ranges: Ranges | None) -> "_Block":
        """The block of responses (BLOCK, n, d + 1)."""
        sizes = norm_bound(torch.from_numpy(C), (1, 2)).numpy()
        ends = () if ranges is None else ranges(C)
        return cls(C[0].copy(), C[-1].copy(), sizes, C[..., -1].copy(), Gram.of(C), ends)


@dataclass(frozen=True, eq=False)
class ImpulseResponse:
    """The responses of a system to inputs ‖x‖₂ ≤ `inputs`; of sets in that ball, ranges has the
    largest of −C(x, 1) and of C(x, 1), row by row: C (m, n, d + 1) -> (m, n) each."""

    system: LinearSystem
    inputs: float
    ranges: Ranges | None = None

    def window(self, epsilon: float, most: int, norm: Contracting) -> int:
        """The least window from which on ‖Δh‖₂ ≤ ε is proved, given that it holds from `most` on;
        most itself if none is found. The system contracts in the norm."""
        asked = epsilon, norm.lam, norm.equivalence, norm.reach
        if asked not in self._windows:
            self._windows[asked] = self._window(epsilon, norm)
        found = self._windows[asked]
        return most if found is None else min(most, found)

    def _window(self, epsilon: float, norm: Contracting) -> int | None:
        if not (blocks := self._enough(epsilon, norm)):
            return None
        count = len(blocks)
        sums = self._sums.setdefault(count, _Sums(self.system, blocks, self.inputs))
        room = subtract_down(epsilon, torch.from_numpy(self._rest(blocks, norm))).tolist()

        def holds(k: int) -> bool:
            return sums.at_most(k, room[k])

        if not holds(count * _BLOCK):
            return None
        block = _least(range(0, len(room), _BLOCK), holds)
        return _least(range(max(0, block - _BLOCK + 1), block + 1), holds)

    def _enough(self, epsilon: float, norm: Contracting) -> list[_Block]:
        """Blocks after which what follows is negligible, or as many as are allowed."""
        n, columns = self.system.C.shape
        limit = min(STEPS, WORK // (n * n * columns)) // _BLOCK
        negligible, blocks = _NEGLIGIBLE * epsilon / self._scale(norm), self._blocks
        for count in range(limit):
            if count == len(blocks):
                first = self.system.A @ blocks[-1].last if blocks else self.system.C
                blocks.append(_Block.of(self.system.responses(first), self.ranges))
            if blocks[count].sizes[-1] <= negligible:
                return blocks[: count + 1]
        return blocks[:limit]

    @cached_property
    def _blocks(self) -> list[_Block]:
        return []

    @cached_property
    def _sums(self) -> "dict[int, _Sums]":
        return {}

    @cached_property
    def _windows(self) -> dict[tuple[float, ...], int | None]:
        return {}

    def _scale(self, norm: Contracting) -> float:
        """What 1 in the Euclidean norm adds up to over all times, for inputs and bias together."""
        size = (1 + self.inputs) * norm.equivalence * norm.reach
        return size / (1 - norm.lam) * (1 + gamma(8))

    @np.errstate(all="ignore")
    def _rest(self, blocks: list[_Block], norm: Contracting) -> Array:
        """What sums after k steps leave out, at most, if they are of the blocks: (J + 1,)."""
        A, off = self.system.A, self.system.errors
        size = float(norm_up(torch.from_numpy(A.flatten())))
        sizes = np.concatenate([block.sizes for block in blocks])
        steps = (gamma(len(A) + 8) * size + off[0]) * (1 + gamma(8)) * sizes + TINY  # ‖D_j‖
        errors = [off[1]]
        for step in steps.tolist():
            errors.append((norm.lam * errors[-1] + step) * (1 + gamma(4)))
        later = np.append(np.cumsum(steps[::-1])[::-1], 0.0)
        total = np.array(errors) + later + sizes[-1] + errors[-2]
        return np.asarray(total * self._scale(norm) * (1 + gamma(2 * len(total) + 16)))


@dataclass(frozen=True, eq=False)
class _Sums:
    """Bounds on sums of the responses of blocks, from any step after k on; none grows with k."""

    system: LinearSystem
    blocks: list[_Block]
    inputs: float

    def at_most(self, k: int, size: float) -> bool:
        """True if the Euclidean norm of the sums after k steps is proved to be at most `size`."""
        if self._by_rows is not None and self._by_rows[k] <= size:
            return True
        reach = self._gram_after(k).reach(len(self._bias) * self.system.C.shape[1])
        return float(add_up(mul_up(self.inputs, reach), float(self._bias[k]))) <= size

    def _gram_after(self, k: int) -> Gram:
        block = -(-k // _BLOCK)
        if block * _BLOCK == k:
            return self._grams[block]
        C = self.system.responses(self.blocks[block - 1].first)
        return Gram.of(C[k % _BLOCK :]).joined(self._grams[block])

    @cached_property
    def _grams(self) -> list[Gram]:
        """The sums from each block on, and none."""
        grams = [Gram(0.0, 0.0, np.zeros_like(self.system.A))]
        for block in reversed(self.blocks):
            grams.append(block.gram.joined(grams[-1]))
        return grams[::-1]

    @cached_property
    def _bias(self) -> Array:
        """‖Σ v_j‖₂, (J + 1,)."""
        v = np.concatenate([block.bias for block in self.blocks])
        return _norms(-v, v)

    @cached_property
    def _by_rows(self) -> Array | None:
        """The bounds by ranges of rows, (J + 1,), of sets other than balls."""
        ends = [np.concatenate(parts) for parts in zip(*(b.ends for b in self.blocks), strict=True)]
        return _norms(*ends) if ends else None


def _norms(low: Array, high: Array) -> Array:
    """Euclidean norms of the largest sums of steps between −low and high (J, n): (J + 1,)."""
    sums = np.maximum(_largest_sums(low), _largest_sums(high))
    return norm_up(torch.from_numpy(sums)).numpy()


@np.errstate(all="ignore")
def _largest_sums(steps: Array) -> Array:
    """At least Σ_{i≤j<T} steps_j for all k ≤ i ≤ T ≤ J, by k: (J, n) -> (J + 1, n)."""
    backwards = np.vstack([np.zeros_like(steps[:1]), steps[::-1]])
    sums, sizes = np.cumsum(backwards, axis=0), np.cumsum(np.abs(backwards), axis=0)
    above = sums - np.minimum.accumulate(sums) + gamma(4 * len(sums) + 16) * sizes
    return np.ascontiguousarray(np.maximum.accumulate(above)[::-1])


def _least(steps: range, holds: Callable[[int], bool]) -> int:
    """The least of the steps that holds; all after one that does hold, the last among them."""
    return steps[bisect_left(steps, True, hi=len(steps) - 1, key=holds)]
