"""The LSTM: the cell, its invariant box, its comparison matrix and its place in the table.

    c⁺ = f∘c + i∘z,  h⁺ = o∘tanh c⁺,  i, f, o = σ(W h + U x + b),  z = tanh(W_z h + U_z x + b_z).

With upper bounds ī, f̄, ō, z̄ of the gates on |h| ≤ h̄, B_c = ī z̄/(1 − f̄) and τ = tanh B_c, unit
by unit, the box |c| ≤ B_c, |h| ≤ min(h̄, ō τ) is invariant, so the bounds may be computed anew on
it. There |Δc⁺| ≤ f̄|Δc| + A|Δh| and |Δh⁺| ≤ ō f̄|Δc| + (σ′τ|W_o| + ō A)|Δh| with A = σ′z̄|W_i| + ī
tanh′|W_z| + σ′B_c|W_f|, σ′ ≤ 1/4 and tanh′ ≤ 1 being the largest slopes of the gate at hand.
Source: Miller & Hardt, Proposition 1.
"""

from dataclasses import dataclass, replace

import torch
from flint import arb_mat
from torch import Tensor

from impl.arithmetic.base import Arithmetic, Program, V
from impl.boxes.coarse import at_one, rounds_to_one
from impl.boxes.invariance import Held, held
from impl.cells.gated.gate import Gates, Interval, rows_up, scaled_norm, tanh_up
from impl.cells.programs import ball_step, driven_step, float_step
from impl.cells.torch_kind import torch_kind
from impl.norms.comparison import Comparison, GatedAnalysis
from impl.numbers.outward import add_up, div_up, mul_up, subtract_down, sum_up
from impl.reading.model import LoadedModel

_ITERATES = 24
_SETTLED = 0.99
_FEW = 8


@dataclass(frozen=True, eq=False)
class LSTM(Gates):
    """B LSTM cells, torch's: gates in the order i, f, z, o; state (c, h), stacked to 2n."""

    count = 4

    def step(self, s: Tensor, x: Tensor) -> Tensor:
        """One step of M columns a system: s (B, 2n, M), x (B, d, M) -> (B, 2n, M)."""
        return float_step(program, self.parameters, s, x)

    def ball_step(self, s: arb_mat, x: arb_mat) -> tuple[arb_mat, arb_mat]:
        """One step in balls of the one system of a batch of one, and its Jacobian in the state.

        s (2n, 1), x (d, 1) -> (2n, 1), (2n, 2n).
        """
        return ball_step(program, self.parameters, s, x)

    @property
    def program(self) -> Program:
        """One step over any arithmetic."""
        return program

    def box(self, B: float | Tensor) -> Tensor:
        """|c| ≤ c̄ and |h| ≤ h̄, (B, 2n), after always the same number of iterates."""
        return invariant_box(self, B, _FEW).states

    def kept(self, m: Arithmetic[V], s: V, x: V) -> tuple[V, bool]:
        """The forget gate f."""
        fed = m.affine("weight_ih", "bias_ih", x) + m.affine("weight_hh", "bias_hh", s.chunk(2)[1])
        return fed.chunk(4)[1].sigmoid(), False

    def at_one(self, dtype: torch.dtype, box: Tensor, B: float) -> Tensor | None:
        """Which forget gates may round to 1 as the dtype computes them, (B, n)."""
        return at_one(self, dtype, box, B)

    def held(self, B: float | Tensor) -> Held:
        """What is proved of that box."""
        return held(self.program, self.parameters, self.box(B), B, self.d)


def program(m: Arithmetic[V], s: V, x: V) -> V:
    """One step over any arithmetic."""
    c, h = s.chunk(2)
    fed = m.affine("weight_ih", "bias_ih", x) + m.affine("weight_hh", "bias_hh", h)
    i, f, z, o = fed.chunk(4)
    c = f.sigmoid() * c + i.sigmoid() * z.tanh()
    return m.join(c, o.sigmoid() * c.tanh())


def step(W: Tensor, b_hh: Tensor | float, drive: Tensor, s: Tensor) -> Tensor:
    """One step in rows: states (…, M, 2n), drive = U x + b_ih (…, M, 4n); W (…, 4n, n)."""
    return driven_step(program, W, b_hh, drive, s)


@dataclass(frozen=True, eq=False)
class Box:
    """The invariant box |c| ≤ c, |h| ≤ h, and the bounds ī, f̄, ō, z̄ of the gates on it: (B, n).

    `intervals` are those of the pre-activations of i, f, z and o.
    """

    c: Tensor
    h: Tensor
    i: Tensor
    f: Tensor
    z: Tensor
    o: Tensor
    intervals: tuple[Interval, ...]

    @property
    def states(self) -> Tensor:
        """(c, h), (B, 2n)."""
        return torch.cat([self.c, self.h], dim=1)


def gates_over(cell: LSTM, B: float | Tensor, states: Tensor) -> Box:
    """A box (c, h) of states (B, 2n), with the gates on it."""
    c, h = states.chunk(2, dim=1)
    i, f, z, o = cell.at_rest(B).widened(rows_up(cell.W.detach().abs(), h)).chunk(4)
    return Box(c, h, i.sigmoid(), f.sigmoid(), z.tanh(), o.sigmoid(), (i, f, z, o))


def invariant_box(cell: LSTM, B: float | Tensor, iterates: int | None = None) -> Box:
    """The box after so many iterates from |h| ≤ 1, each of which is valid; by default until all
    systems have settled, so that a system's box depends on the others of its batch."""
    rest, size = cell.at_rest(B), cell.W.detach().abs()
    h = torch.ones_like(size[:, : cell.n, 0])
    c = torch.full_like(h, torch.inf)
    for _ in range(_ITERATES if iterates is None else iterates):
        i, f, z, o = rest.widened(rows_up(size, h)).chunk(4)
        c = torch.minimum(c, div_up(mul_up(i.sigmoid(), z.tanh()), (-f).sigmoid_low()))
        before, h = h, torch.minimum(h, mul_up(o.sigmoid(), tanh_up(c)))
        if iterates is None and bool((h >= _SETTLED * before).all()):
            break
    on = gates_over(cell, B, torch.cat([c, h], dim=1))
    f = on.intervals[1]
    return replace(on, c=torch.minimum(c, div_up(mul_up(on.i, on.z), (-f).sigmoid_low())))


def proved_box(cell: LSTM, B: float | Tensor) -> tuple[Box, str | None]:
    """The invariant box as far as it is proved, and why it is not where it is not."""
    told = held(cell.program, cell.parameters, invariant_box(cell, B).states, B, cell.d)
    return gates_over(cell, B, told.box), told.reason


def comparison(cell: LSTM, B: float | Tensor, box: Box | None = None) -> Comparison:
    """The comparison matrix [f̄, A; ō f̄, σ′τ|W_o| + ō A] on the invariant box.

    For the inputs [A; σ′τ|U_o| + ō A], with U for W in A.
    """
    on = proved_box(cell, B)[0] if box is None else box
    i, f, z, o = on.intervals
    fed = (  # how steeply c⁺ follows the pre-activations of i, z and f
        (0, mul_up(i.sigmoid_slope(), on.z)),
        (2, mul_up(on.i, z.tanh_slope())),
        (1, mul_up(f.sigmoid_slope(), on.c)),
    )
    kept, opening = mul_up(on.o, on.f), mul_up(o.sigmoid_slope(), tanh_up(on.c))

    def moved(weights: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
        """A, and what h⁺ moves by, for the weights of the four gates."""
        A = _sum([mul_up(rows[:, :, None], weights[gate].abs()) for gate, rows in fed])
        opened = mul_up(opening[:, :, None], weights[3].abs())
        return A, add_up(opened, mul_up(on.o[:, :, None], A))

    W = cell.blocks()
    A, below = moved(W)
    matrix = [[torch.diag_embed(on.f), A], [torch.diag_embed(kept), below]]
    euclidean = [
        [on.f.amax(1), _sum([scaled_norm(rows, W[gate]) for gate, rows in fed])],
        [
            kept.amax(1),
            _sum(
                [scaled_norm(mul_up(on.o, rows), W[gate]) for gate, rows in fed]
                + [scaled_norm(opening, W[3])]
            ),
        ],
    ]
    i, f, z, o = cell.at_rest(B).chunk(4)
    first = mul_up(i.sigmoid(), z.tanh())
    return Comparison(
        matrices=torch.cat([torch.cat(row, dim=2) for row in matrix], dim=1)[:, None],
        box=on.states,
        drive=torch.cat([first, mul_up(o.sigmoid(), tanh_up(first))], dim=1),
        euclidean=torch.stack([torch.stack(row, dim=1) for row in euclidean], dim=1),
        inputs=torch.cat(moved(cell.U.detach().chunk(4, dim=1)), dim=1),
    )


def constants(cell: LSTM, box: Box) -> dict[str, float]:
    """The constants of Miller and Hardt's proposition, the largest over the units (of one system).

    `theta` < 1 is their sufficient condition: ‖W_i‖, ‖W_o‖ and 4‖W_z‖ at most θ(1 − f̄), ‖W_f‖ at
    most θ(1 − f̄)², in the ∞-norm; then λ ≤ 1 − (1 − θ)(1 − f̄).
    """
    W_i, W_f, W_z, W_o = (sum_up(part).amax() for part in cell.sizes())
    i, f, z, o = (bound.amax() for bound in (box.i, box.f, box.z, box.o))
    c, tau = box.c.amax(), tanh_up(box.c.amax()[None])[0]
    quarter = [mul_up(0.25, size) for size in (W_i, W_f, W_o)]
    a = add_up(add_up(mul_up(quarter[0], z), mul_up(i, W_z)), mul_up(quarter[1], c))
    room = subtract_down(1.0, f)
    rest = torch.stack([W_i, W_o, mul_up(4.0, W_z), div_up(W_f, room)])
    named = {
        "i_bar": i, "f_bar": f, "o_bar": o, "z_bar": z, "B_c": c, "tau": tau, "h_bar": box.h.amax(),
        "a": a, "q": mul_up(quarter[2], tau), "theta": div_up(rest, room).amax(),
        "W_i_norm": W_i, "W_f_norm": W_f, "W_o_norm": W_o, "W_z_norm": W_z,
    }  # fmt: skip
    return {name: float(value) for name, value in named.items()}


def analyse(model: LoadedModel[LSTM], input_bound: float) -> GatedAnalysis:
    """What is certified about one LSTM."""
    box, refused = proved_box(model.cell, input_bound)
    found = comparison(model.cell, input_bound, box)
    named, ones = constants(model.cell, box), rounds_to_one(model.cell, box.states, input_bound)
    return GatedAnalysis(model.cell, found, named, input_bound, refused, ones)


def _sum(parts: list[Tensor]) -> Tensor:
    return sum_up(torch.stack(parts, dim=-1))


LSTM_KIND = torch_kind(
    name="lstm",
    gates=4,
    width=2,
    mode="LSTM",
    default=True,
    norms=("spectral", "infinity", "comparison", "perron"),
    build=LSTM,
    step=step,
    analyse=analyse,
)
