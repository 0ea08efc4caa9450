"""Torch's gated cells, whose gates depend on the state: LSTM and GRU, with their boxes and kinds.

A gate g_j = σ(a_j) or tanh(a_j) has the pre-activation a = W h + U x + b, which lies in an interval
that is certified unit by unit for |h_j| ≤ h̄_j and ‖x‖₂ ≤ B:

    |a_j − b_j| ≤ Σ_l |W_jl| h̄_l + ‖U_j‖₂ B.

Source: Miller & Hardt, Proposition 1, made explicit unit by unit.

The GRU in both conventions: the cell, its invariant box and its kinds.

    h⁺ = (1 − z)∘ν + z∘h,    r, z = σ(W h + U x + b),    ν = tanh(U_n x + b_n + r∘(W_n h + c_n))

is torch's; Cho's candidate is ν = tanh(U_n x + b_n + c_n + W_n(r∘h)). With |ν| ≤ ν̄ on |h| ≤ h̄, the
box |h| ≤ min(h̄, ν̄) is invariant too. Sources: Cho et al. (2014); Miller & Hardt, section 4.

The LSTM, also torch's with `proj_size`: the cell, its invariant box and its places in the table.

    c⁺ = f∘c + i∘z,  h⁺ = o∘tanh c⁺,  i, f, o = σ(W h + U x + b),  z = tanh(W_z h + U_z x + b_z).

With upper bounds ī, f̄, ō, z̄ of the gates on |h| ≤ h̄, B_c = ī z̄/(1 − f̄) and τ = tanh B_c, unit
by unit, the box |c| ≤ B_c, |h| ≤ min(h̄, ō τ) is invariant, so the bounds may be computed anew on
it. A projection R makes h⁺ = R (o∘tanh c⁺) of p units, with |R|(ō τ) for ō τ and |R|1 as a start.
Sources: Miller & Hardt, Proposition 1; Sak et al. (2014) for the projection.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.base import ALL, Arithmetic, V
from rnnbounds.impl.arithmetic.inputs.sets import InputBound
from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic, IntervalVector
from rnnbounds.impl.arithmetic.invariance import InvariantBox
from rnnbounds.impl.arithmetic.slopes import step_lipschitz
from rnnbounds.impl.cells.kind import (
    BIASES,
    SUFFIX,
    Kind,
    Layout,
    Weights,
    input_drive,
    torch_layout,
    with_zero_biases,
)
from rnnbounds.impl.cells.program import ProgramCell, program_kind
from rnnbounds.impl.errors import at_most
from rnnbounds.impl.numbers.ball_functions import sigmoid_down, tanh_up
from rnnbounds.impl.numbers.outward import add_up, div_up, mul_up, subtract_down, sum_up

_ITERATES = 24
_CONVERGED = 0.99


@dataclass(frozen=True, eq=False)
class Gated(ProgramCell):
    """B cells by torch's names, the rows of each gate one after another: weight_hh (B, g n, n),
    weight_ih (B, g n, d) and biases (B, g n)."""

    reads = "weight_ih"

    @property
    def W(self) -> Tensor:
        """Recurrent weights of all gates, `weight_hh` (B, g n, n)."""
        return self.parameters["weight_hh"]

    @property
    def b_ih(self) -> Tensor:
        """The bias of the inputs."""
        return self.parameters["bias_ih"]

    @property
    def b_hh(self) -> Tensor:
        """The bias of the output."""
        return self.parameters["bias_hh"]

    @property
    def n(self) -> int:
        """The size of the output h."""
        return self.W.shape[2]

    def row_sums(self, gates: str) -> dict[str, Tensor]:
        """‖W‖_∞ of each gate, by its letter."""
        sizes = zip(gates, self.W.detach().abs().chunk(len(gates), dim=1), strict=True)
        return {gate: sum_up(size).amax(1) for gate, size in sizes}

    def box(self, B: InputBound | Tensor) -> Tensor:
        """The box of the states, from the largest one on."""
        return self.box_over(IntervalArithmetic(self.parameters), B)

    @abstractmethod
    def box_over(self, m: IntervalArithmetic, B: InputBound | Tensor) -> Tensor:
        """The box in an arithmetic of intervals, rounded outwards or with gradients."""

    def intervals(
        self, box: Tensor, B: InputBound | Tensor
    ) -> tuple[IntervalArithmetic, IntervalVector, IntervalVector]:
        """The arithmetic of intervals, |s| ≤ box (B, N) and ‖x‖₂ ≤ B."""
        m = IntervalArithmetic(self.parameters)
        return m, m.box(box), m.inputs(B, box, self.d)

    @abstractmethod
    def smaller_box(self, m: IntervalArithmetic, s: IntervalVector, x: IntervalVector) -> Tensor:
        """A box (B, N) of the next states, which is invariant if it lies within the box of s."""

    def iterated_box(self, m: IntervalArithmetic, start: Tensor, B: InputBound | Tensor) -> Tensor:
        """The box after iterates of `smaller_box`, each of which is valid, until it settles: each
        system by itself, so that its box does not depend on the others of its batch."""
        box, active = start, torch.ones_like(start[:, :1], dtype=torch.bool)
        x = m.inputs(B, start, self.d)

        def next_box(box: Tensor) -> Tensor:
            return torch.minimum(box, self.smaller_box(m, m.box(box), x))

        for _ in range(_ITERATES):
            previous, box = box, torch.where(active, next_box(box), box)
            active = active & ~(box >= _CONVERGED * previous).all(1, keepdim=True)
            if not bool(active.any()):
                break
        return next_box(box)


def magnitude(v: IntervalVector) -> Tensor:
    """At least |v|."""
    return v.range.magnitude


def gated_kind(name: str, make: Callable[[Weights], Gated], layout: Layout, **options: Any) -> Kind:
    """The kind of cells that `make` makes of parameters by torch's names."""
    return program_kind(
        name,
        make,
        lambda names: layout,
        prepare=with_zero_biases,
        drive=input_drive,
        suffix=SUFFIX,
        **options,
    )


@dataclass(frozen=True, eq=False)
class GRU(Gated):
    """B GRU cells: gates in torch's order r, z, n; state h; `cho` says which candidate."""

    cho: bool = False

    def pre_activations(self, m: Arithmetic[V], h: V, x: V) -> tuple[V, V, V]:
        """r, z and the pre-activation of ν."""
        n, u = h.size, m.affine("weight_ih", "bias_ih", x)
        rows = slice(2 * n) if self.cho else ALL
        w = m.affine("weight_hh", "bias_hh", h, rows)
        r, z = (u.part(0, 2 * n) + w.part(0, 2 * n)).sigmoid().chunk(2)
        if self.cho:  # the reset gate acts before the product
            w_n = m.affine("weight_hh", "bias_hh", r * h, slice(2 * n, 3 * n))
        else:
            w_n = r * w.part(2 * n, 3 * n)
        return r, z, u.part(2 * n, 3 * n) + w_n

    def gates(self, m: Arithmetic[V], h: V, x: V) -> tuple[V, V, V]:
        """r, z and ν."""
        r, z, nu = self.pre_activations(m, h, x)
        return r, z, nu.tanh()

    def program(self, m: Arithmetic[V], h: V, x: V) -> V:
        """One step over any arithmetic."""
        _, z, nu = self.gates(m, h, x)
        return m.mix(z, h, nu)

    def candidate(self, m: Arithmetic[V], h: V, x: V) -> V:
        """ν over any arithmetic."""
        return self.gates(m, h, x)[2]

    def kept(self, m: Arithmetic[V], h: V, x: V) -> tuple[V, bool]:
        """The update gate z."""
        return self.pre_activations(m, h, x)[1], False

    def box_over(self, m: IntervalArithmetic, B: InputBound | Tensor) -> Tensor:
        """|h| ≤ h̄, from 1 on."""
        return self.iterated_box(m, torch.ones_like(self.W.detach()[:, : self.n, 0]), B)

    def smaller_box(self, m: IntervalArithmetic, s: IntervalVector, x: IntervalVector) -> Tensor:
        """Upper bounds ν̄ on |ν|, (B, n)."""
        return m.interval.up.tanh(magnitude(self.pre_activations(m, s, x)[2]))

    def constants(self, box: Tensor, B: InputBound) -> dict[str, float]:
        """The constants of the cell, each the largest over the units.

        `kappa` bounds ‖Δν‖_∞/‖Δh‖_∞; `z_low` is the least that the update gate can be.
        """
        r, z, nu = self.gates(*self.intervals(box, B))
        slopes = step_lipschitz(self.candidate, self.parameters, box, B, self.d).largest_slopes
        named = {
            "r_bar": magnitude(r).amax(), "z_low": z.range.low.amin(), "z_bar": z.range.high.amax(),
            "nu_bar": magnitude(nu).amax(), "h_bar": box.amax(),
            "kappa": sum_up(slopes[:, :, : self.n]).amax(),
        } | {f"W_{gate}_norm": size for gate, size in self.row_sums("rzn").items()}  # fmt: skip
        return {name: float(value) for name, value in named.items()}


GRU_KIND = gated_kind(
    "gru",
    GRU,
    torch_layout(3),
    mode="GRU",
    gates=3,
    width=1,
)
GRU_CHO_KIND = gated_kind(
    "gru-cho", partial(GRU, cho=True), torch_layout(3), gates=3, width=1, default=False
)


_PROJECTED = Layout(
    {"weight_hh": "4n p", "weight_ih": "4n d", "weight_hr": "p n", "bias_ih": "4n",
     "bias_hh": "4n"},
    BIASES, "n+p", "p",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class LSTM(Gated):
    """B LSTM cells: gates in torch's order i, f, z, o; state (c, h); weight_hr (B, p, n) if h is
    projected."""

    def pre_activations(self, m: Arithmetic[V], s: V, x: V) -> V:
        """The pre-activations of i, f, z and o."""
        input_part = m.affine("weight_ih", "bias_ih", x)
        h = s.part(input_part.size // 4, s.size)
        return input_part + m.affine("weight_hh", "bias_hh", h)

    def program(self, m: Arithmetic[V], s: V, x: V) -> V:
        """One step over any arithmetic."""
        gates = self.pre_activations(m, s, x)
        n = gates.size // 4
        i, f = gates.part(0, 2 * n).sigmoid().chunk(2)
        c = f * s.part(0, n) + i * gates.part(2 * n, 3 * n).tanh()
        h = gates.part(3 * n, 4 * n).sigmoid() * c.tanh()
        return m.join(c, m.affine("weight_hr", None, h) if self.is_projected else h)

    def kept(self, m: Arithmetic[V], s: V, x: V) -> tuple[V, bool]:
        """The forget gate f."""
        return self.pre_activations(m, s, x).chunk(4)[1].sigmoid(), False

    @property
    def is_projected(self) -> bool:
        """True if the output is projected (`proj_size`)."""
        return "weight_hr" in self.parameters

    def box_over(self, m: IntervalArithmetic, B: InputBound | Tensor) -> Tensor:
        """|c| ≤ B_c and |h| ≤ h̄."""
        ones = torch.ones_like(self.b_ih.detach().chunk(4, dim=1)[0])
        start = torch.cat([torch.inf * ones, self._output_bound(m, ones)], dim=1)
        return self.iterated_box(m, start, B)

    def smaller_box(self, m: IntervalArithmetic, s: IntervalVector, x: IntervalVector) -> Tensor:
        """The box of B_c and ō tanh B_c, (B, N)."""
        i, f, z, o = (gate.range for gate in self.pre_activations(m, s, x).chunk(4))
        up = m.interval.up
        driven = up.multiply(up.sigmoid(i.high), up.tanh(z.magnitude))
        c = up.divide(driven, up.sigmoid_complement(f.high))
        h = up.multiply(up.sigmoid(o.high), up.tanh(c))
        return torch.cat([c, self._output_bound(m, h)], dim=1)

    def _output_bound(self, m: IntervalArithmetic, size: Tensor) -> Tensor:
        """At least |h| for what is put out, before any projection."""
        if not self.is_projected:
            return size
        return m.interval.symmetric(size).mapped(m.stored("weight_hr")).high

    @property
    def blocks(self) -> int:
        """For Euclidean norms c and h are blocks if they are of one size, else all is one."""
        return 1 if self.is_projected else 2

    def gates(self, box: Tensor, B: InputBound | Tensor) -> Mapping[str, Tensor]:
        """The bounds ī, f̄, z̄ and ō on a box, by their letters: (B, n) each."""
        i, f, z, o = self.pre_activations(*self.intervals(box, B)).chunk(4)
        bounds = {"i": i.sigmoid(), "f": f.sigmoid(), "z": z.tanh(), "o": o.sigmoid()}
        return {gate: magnitude(bound) for gate, bound in bounds.items()}

    def explain_unproved_box(self, boxes: InvariantBox, B: InputBound | Tensor) -> str | None:
        """Explain why no box of c is proved, None if one is: the forget gate is so near to 1 that
        |c| ≤ ī z̄/(1 − f̄) exceeds what float64 resolves."""
        if boxes.reason is None:
            return None
        f = self.pre_activations(*self.intervals(boxes.proposed, B)).chunk(4)[1].range
        margins = sigmoid_down(-f.high)[0]
        unit = int(margins.argmin())
        return (
            f"the forget gate of unit {unit + 1} may be within {at_most(float(margins[unit]))} of "
            f"1, and no bound on c is then proved; take smaller inputs or a smaller forget bias, "
            f"train it with rnnbounds.stable_, or measure it on recorded inputs"
        )

    def constants(self, box: Tensor, B: InputBound) -> dict[str, float]:
        """The constants of Miller and Hardt's proposition, the largest over the units.

        `theta` < 1 is their sufficient condition: ‖W_i‖, ‖W_o‖ and 4‖W_z‖ at most θ(1 − f̄), ‖W_f‖
        at most θ(1 − f̄)², in the ∞-norm; then λ ≤ 1 − (1 − θ)(1 − f̄). Of a projected LSTM the
        largest |c| and |h| alone.
        """
        c, h = box[0, : -self.n].amax(), box[0, -self.n :].amax()
        if self.is_projected:
            return {"B_c": float(c), "h_bar": float(h)}
        W = {gate: size[0] for gate, size in self.row_sums("ifzo").items()}
        gate_bounds = {gate: bound.amax() for gate, bound in self.gates(box, B).items()}
        tau, margin = tanh_up(c[None])[0], subtract_down(1.0, gate_bounds["f"])
        quarter = {gate: mul_up(0.25, size) for gate, size in W.items()}
        a = add_up(mul_up(quarter["i"], gate_bounds["z"]), mul_up(gate_bounds["i"], W["z"]))
        conditions = torch.stack([W["i"], W["o"], mul_up(4.0, W["z"]), div_up(W["f"], margin)])
        named = {f"{gate}_bar": bound for gate, bound in gate_bounds.items()} | {
            "B_c": c, "tau": tau, "h_bar": h, "a": add_up(a, mul_up(quarter["f"], c)),
            "q": mul_up(quarter["o"], tau), "theta": div_up(conditions, margin).amax(),
        } | {f"W_{gate}_norm": size for gate, size in W.items()}  # fmt: skip
        return {name: float(value) for name, value in named.items()}


LSTM_KIND = gated_kind(
    "lstm",
    LSTM,
    torch_layout(4, "2n"),
    norms=("spectral", "infinity", "comparison", "perron"),
    mode="LSTM",
    gates=4,
    width=2,
)
LSTM_PROJECTED_KIND = gated_kind("lstm-projected", LSTM, _PROJECTED)
