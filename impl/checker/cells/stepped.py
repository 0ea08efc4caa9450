"""Cells with gates or layers of their own, on a box of states that is proved here.

A box |s_i| ≤ r_i holds every state from zero on if one step maps it into itself. On it the step is
enclosed: how far it moves unit by unit with the weights v of a maximum norm, with each input, and
block by block in Euclidean norms. Sources: those of `impl.checker.cells.units`.
"""

from dataclasses import dataclass
from functools import cached_property

from flint import arb, arb_mat, fmpq

from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS
from rnnbounds.impl.checker.cells.layouts import activation
from rnnbounds.impl.checker.cells.norms import Cell, Norm
from rnnbounds.impl.checker.cells.units import InputRanges, Row, Step, Term, Units, Weights, norms
from rnnbounds.impl.checker.definite import exact, largest, norm, norm_above, smaller


@dataclass(frozen=True, eq=False)
class Stepped:
    """A cell of `states` numbers, whose last n are the output, under ‖x‖₂ ≤ B and, where that is
    known, x in its `inputs`."""

    cell: str
    weights: Weights
    step: Step
    states: int
    n: int
    d: int
    B: arb
    inputs: InputRanges | None
    box: list[arb]

    @property
    def blocks(self) -> int:
        """Into how many vectors of one size a state falls for Euclidean norms."""
        return 2 if self.cell == "lstm" else 1

    @cached_property
    def rest(self) -> list[arb]:
        """At least |φ(0, x)_i|."""
        return self._moved([{}] * self.states, [arb(0)] * self.states).sizes

    @property
    def start(self) -> arb:
        """At least ‖h‖₂ of φ(0, x)."""
        return norm(self.rest[-self.n :])

    def held(self) -> bool:
        """True if the box is proved invariant."""
        if not all(r >= 0 for r in self.box):
            return False
        moved = self._moved([{}] * self.states, self.box).sizes
        return all(bool(there <= r) for there, r in zip(moved, self.box, strict=True))

    def rates(self, v: list[fmpq]) -> list[arb]:
        """At least |Δφ_i| for |Δs_j| ≤ v_j."""
        return self.moves([arb(a) for a in v])

    def moves(self, g: list[arb], x: list[arb] | None = None) -> list[arb]:
        """Bound |Δφ_i| for |Δs_j| ≤ g_j and, if inputs differ too, |Δx_j| ≤ x_j, all balls."""
        seeds = None if x is None else [{0: a} for a in x]
        return [row.get(0, arb(0)) for row in self._moved([{0: a} for a in g], fed=seeds).rows]

    @cached_property
    def slopes(self) -> list[list[arb]]:
        """At least |Δφ_i| for |Δx_j| = 1 alone, (states, d)."""
        rows = self._moved([{}] * self.states, fed=[{j: arb(1)} for j in range(self.d)]).rows
        return [[row.get(j, arb(0)) for j in range(self.d)] for row in rows]

    def fed(self) -> list[arb]:
        """At least |Δφ_i| for ‖Δx‖₂ = 1."""
        return [norm(row) for row in self.slopes]

    def between_blocks(self, plain: bool) -> list[list[arb]]:
        """Bound the comparison matrix of blocks' Euclidean norms (blocks, blocks): by the signs of
        the weights or, if plain, by the matrix of absolute values."""
        width, places = self.states // self.blocks, range(self.blocks)
        if plain:
            rows = self._moved([{i: arb(1)} for i in range(self.states)]).rows
            return [[_norm_of(rows[i * width : (i + 1) * width], range(j * width, (j + 1) * width))
                     for j in places] for i in places]  # fmt: skip
        terms = tuple(
            Term([arb(int(i // width == b)) for i in range(self.states)], None,
                 [arb(int(b == other)) for other in places])
            for b in places
        )  # fmt: skip
        found = self._moved([{}] * self.states, terms=terms)
        parts = (found.part(i * width, (i + 1) * width).terms for i in places)
        return [norms(part) if part else [arb(0)] * self.blocks for part in parts]

    @cached_property
    def linear(self) -> Cell:
        """An echo-state network as a vanilla cell that keeps a part of itself."""
        m, rho = self.weights.stored, BALL_ACTIVATIONS[activation(self.cell)]
        leak = [exact(a) for a in m["leak"].tolist()]
        W, U = ([[a * exact(w) for w in row] for a, row in zip(leak, m[role].tolist(), strict=True)]
                for role in ("W", "W_in"))  # fmt: skip
        b = m["b"].tolist() if "b" in m else [0.0] * self.n
        offset = [arb(a) * abs(rho.function(arb(v))) for a, v in zip(leak, b, strict=True)]
        return Cell(W, U, offset, rho, self.B, self.box, kept=[1 - a for a in leak])

    def _moved(
        self,
        rows: list[Row],
        box: list[arb] | None = None,
        fed: list[Row] | None = None,
        terms: tuple[Term, ...] = (),
    ) -> Units:
        """One step from the box, whose units move by these rows, and the inputs by those."""
        sides = self.box if box is None else box
        s = Units([-r for r in sides], sides, rows, terms)
        low, high = ([sign * self.B] * self.d for sign in (-1, 1))
        if self.inputs is not None:
            low = [a.max(b) for a, b in zip(low, self.inputs.low, strict=True)]
            high = [a.min(b) for a, b in zip(high, self.inputs.high, strict=True)]
        x = Units(low, high, fed or [{}] * self.d, radius=self.B)
        return self.step(self.weights, s, x)


@dataclass(frozen=True)
class Blocks(Norm):
    """max ‖s_b‖₂/w_b over the blocks of a state."""

    w: list[fmpq]

    def contracts(self, cell: Stepped, lam: float) -> bool:
        """E w ≤ λw, by the signs of the weights; by absolute values where these do not."""
        if self._kept(cell.between_blocks(plain=False), lam):
            return True
        return self._kept(self.factors(cell), lam)

    def factors(self, cell: Stepped) -> list[list[arb]]:
        """E, by the signs of the weights or by absolute values, whichever is less."""
        ways = (cell.between_blocks(plain=plain) for plain in (False, True))
        return [list(map(smaller, *rows)) for rows in zip(*ways, strict=True)]

    def _kept(self, E: list[list[arb]], lam: float) -> bool:
        sums = [sum((e * arb(w) for e, w in zip(row, self.w, strict=True)), arb(0)) for row in E]
        return all(bool(s <= arb(exact(lam) * w)) for s, w in zip(sums, self.w, strict=True))

    def _most(self, sizes: list[arb]) -> arb:
        width = len(sizes) // len(self.w)
        parts = (sizes[i : i + width] for i in range(0, len(sizes), width))
        return largest([norm(part) / arb(w) for part, w in zip(parts, self.w, strict=True)])

    def drive(self, cell: Stepped) -> arb:
        """max ‖φ(0, x)_b‖₂/w_b."""
        return self._most(cell.rest)

    def moved(self, cell: Stepped) -> arb:
        """max ‖N_b‖₂/w_b, N comparing inputs."""
        width = cell.states // len(self.w)
        parts = (cell.slopes[i : i + width] for i in range(0, cell.states, width))
        norms = (norm_above([arb_mat(part)]) for part in parts)
        return largest([size / arb(w) for size, w in zip(norms, self.w, strict=True)])

    def radius(self, cell: Stepped) -> arb:
        """max ‖box_b‖₂/w_b."""
        return self._most(cell.box)

    def equivalent(self, cell: Stepped, C: float) -> bool:
        """The output is in the last block, so w ≤ C."""
        return bool(self.w[-1] <= exact(C))

    def reached(self, cell: Stepped, c: float) -> bool:
        """1/min w ≤ c."""
        return bool(min(self.w) * exact(c) >= 1)


def _norm_of(rows: list[Row], columns: range) -> arb:
    return norm_above([arb_mat([[row.get(c, arb(0)) for c in columns] for row in rows])])
