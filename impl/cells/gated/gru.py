"""The GRU in both conventions: the cell, its invariant box, its comparison and its kinds.

    h⁺ = (1 − z)∘ν + z∘h,    r, z = σ(W h + U x + b),    ν = tanh(U_n x + b_n + r∘(W_n h + c_n))

is torch's; Cho's candidate is ν = tanh(U_n x + b_n + c_n + W_n(r∘h)). With bounds |h| ≤ h̄,
|ν| ≤ ν̄ ≤ h̄, r ≤ r̄ and z̲ ≤ z ≤ z̄, unit by unit, |Δν| ≤ K|Δh| with

    K = tanh′(r̄|W_n| + σ′(|W_n|h̄ + |c_n|)|W_r|)  (torch),   tanh′|W_n|(r̄ + h̄σ′|W_r|)  (Cho),

and |Δh⁺| ≤ ζ|Δh| + (1 − ζ)K|Δh| + σ′(h̄ + ν̄)|W_z||Δh| where ζ = z is linear in each row, so that
one of its ends z̲ and z̄ is the worst. Sources: Cho et al. (2014); Miller & Hardt, section 4.
"""

from dataclasses import dataclass

import torch
from flint import arb_mat
from torch import Tensor

from impl.arithmetic.base import Arithmetic, Program, V
from impl.boxes.coarse import at_one, rounds_to_one
from impl.boxes.invariance import Held, held
from impl.cells.gated.gate import Gates, Interval, product_up, rows_up, scaled_norm
from impl.cells.programs import ball_step, driven_step, float_step
from impl.cells.torch_kind import torch_kind
from impl.norms.comparison import Comparison, GatedAnalysis
from impl.numbers.outward import add_up, mul_up, sum_up
from impl.reading.model import LoadedModel

_ITERATES = 24
_SETTLED = 0.99
_FEW = 8


@dataclass(frozen=True, eq=False)
class GRU(Gates):
    """B GRU cells: gates in torch's order r, z, n; state h (n); `cho` says which candidate."""

    count = 3

    cho: bool = False

    def step(self, s: Tensor, x: Tensor) -> Tensor:
        """One step of M columns a system: s (B, n, M), x (B, d, M) -> (B, n, M)."""
        return float_step(self.program, self.parameters, s, x)

    def ball_step(self, s: arb_mat, x: arb_mat) -> tuple[arb_mat, arb_mat]:
        """One step in balls of the one system of a batch of one, and its Jacobian in the state.

        s (n, 1), x (d, 1) -> (n, 1), (n, n).
        """
        return ball_step(self.program, self.parameters, s, x)

    @property
    def program(self) -> Program:
        """One step over any arithmetic."""
        return cho_program if self.cho else program

    def box(self, B: float | Tensor) -> Tensor:
        """|h| ≤ h̄, (B, n), after always the same number of iterates."""
        return invariant_box(self, B, _FEW)

    def kept(self, m: Arithmetic[V], h: V, x: V) -> tuple[V, bool]:
        """The update gate z."""
        n = h.size
        w = m.affine("weight_hh", "bias_hh", h, slice(2 * n)).part(n, 2 * n)
        fed = m.affine("weight_ih", "bias_ih", x).part(n, 2 * n)
        return (fed + w).sigmoid(), False

    def at_one(self, dtype: torch.dtype, box: Tensor, B: float) -> Tensor | None:
        """Which update gates may round to 1 as the dtype computes them, (B, n)."""
        return at_one(self, dtype, box, B)

    def held(self, B: float | Tensor) -> Held:
        """What is proved of that box."""
        return held(self.program, self.parameters, self.box(B), B, self.d)


def program(m: Arithmetic[V], h: V, x: V) -> V:
    """One step of torch's GRU over any arithmetic."""
    u_r, u_z, u_n = m.affine("weight_ih", "bias_ih", x).chunk(3)
    w_r, w_z, w_n = m.affine("weight_hh", "bias_hh", h).chunk(3)
    nu = (u_n + (u_r + w_r).sigmoid() * w_n).tanh()
    return m.mix((u_z + w_z).sigmoid(), h, nu)


def cho_program(m: Arithmetic[V], h: V, x: V) -> V:
    """One step of Cho's GRU over any arithmetic: the reset gate acts before the product."""
    n = h.size
    u_r, u_z, u_n = m.affine("weight_ih", "bias_ih", x).chunk(3)
    w_r, w_z = m.affine("weight_hh", "bias_hh", h, slice(2 * n)).chunk(2)
    reset = (u_r + w_r).sigmoid() * h
    nu = (u_n + m.affine("weight_hh", "bias_hh", reset, slice(2 * n, 3 * n))).tanh()
    return m.mix((u_z + w_z).sigmoid(), h, nu)


def step(W: Tensor, b_hh: Tensor | float, drive: Tensor, h: Tensor) -> Tensor:
    """One step of torch's GRU in rows: h (…, M, n), drive = U x + b_ih (…, M, 3n); W (…, 3n, n)."""
    return driven_step(program, W, b_hh, drive, h)


def cho_step(W: Tensor, b_hh: Tensor | float, drive: Tensor, h: Tensor) -> Tensor:
    """One step of Cho's GRU in rows: as `step`, but the reset gate acts before the product."""
    return driven_step(cho_program, W, b_hh, drive, h)


@dataclass(frozen=True, eq=False)
class Open:
    """What the gates can be while |h| ≤ h̄, all (B, n).

    The intervals of the pre-activations of r and z and of ν; r and q bound r and |W_n h + c_n|
    (torch alone) and nu bounds |ν|.
    """

    reset: Interval
    update: Interval
    candidate: Interval
    r: Tensor
    q: Tensor
    nu: Tensor


def opened(cell: GRU, B: float | Tensor, h: Tensor) -> Open:
    """The gates over |h| ≤ h̄ (B, n) and ‖x‖₂ ≤ B."""
    n, size = cell.n, cell.W.detach().abs()
    fed = rows_up(size[:, : 2 * n], h)
    rest = cell.at_rest(B)
    reset, update = Interval(rest.low[:, : 2 * n], rest.high[:, : 2 * n]).widened(fed).chunk(2)
    r, W_n = reset.sigmoid(), size[:, 2 * n :]
    if cell.cho:
        q = torch.zeros_like(h)
        around = Interval(rest.low[:, 2 * n :], rest.high[:, 2 * n :])
        candidate = around.widened(rows_up(W_n, mul_up(r, h)))
    else:
        q = add_up(rows_up(W_n, h), cell.b_hh.detach()[:, 2 * n :].abs())
        b = cell.b_ih.detach()[:, 2 * n :]
        candidate = Interval(b, b).widened(add_up(cell.reach(B)[:, 2 * n :], mul_up(r, q)))
    return Open(reset, update, candidate, r, q, candidate.tanh())


def invariant_box(cell: GRU, B: float | Tensor, iterates: int | None = None) -> Tensor:
    """h̄ (B, n) with |h_t| ≤ h̄: so many iterates of h̄ ← ν̄(h̄) from 1, each of which is valid; by
    default until all systems have settled, so that one depends on the others of its batch."""
    h = torch.ones_like(cell.W.detach()[:, : cell.n, 0])
    for _ in range(_ITERATES if iterates is None else iterates):
        before, h = h, torch.minimum(h, opened(cell, B, h).nu)
        if iterates is None and bool((h >= _SETTLED * before).all()):
            break
    return h


def proved_box(cell: GRU, B: float | Tensor) -> Held:
    """The invariant box as far as it is proved."""
    return held(cell.program, cell.parameters, invariant_box(cell, B), B, cell.d)


def candidate_slopes(cell: GRU, on: Open, h: Tensor) -> Tensor:
    """K (B, n, n) with |Δν| ≤ K|Δh|."""
    W_r, _, W_n = cell.sizes()
    slope = on.candidate.tanh_slope()[:, :, None]
    if cell.cho:
        by_reset = mul_up(mul_up(on.reset.sigmoid_slope(), h)[:, :, None], W_r)
        return mul_up(slope, product_up(W_n, add_up(torch.diag_embed(on.r), by_reset)))
    by_reset = mul_up(mul_up(on.reset.sigmoid_slope(), on.q)[:, :, None], W_r)
    return mul_up(slope, add_up(mul_up(on.r[:, :, None], W_n), by_reset))


def candidate_inputs(cell: GRU, on: Open, h: Tensor) -> Tensor:
    """At least |Δν|/|Δx|, (B, n, d), with |U_n| + σ′q|U_r| or, for Cho, |U_n| + |W_n|h̄σ′|U_r|."""
    U_r, _, U_n = (part.abs() for part in cell.U.detach().chunk(3, dim=1))
    slope, steep = on.candidate.tanh_slope()[:, :, None], on.reset.sigmoid_slope()
    by_reset = mul_up(mul_up(steep, h if cell.cho else on.q)[:, :, None], U_r)
    if cell.cho:
        by_reset = product_up(cell.sizes()[2], by_reset)
    return mul_up(slope, add_up(U_n, by_reset))


def candidate_norm(cell: GRU, on: Open, h: Tensor, rows: Tensor) -> Tensor:
    """At least ‖rows∘Δν‖₂/‖Δh‖₂, for rows ≥ 0 (B, n): (B,)."""
    W_r, _, W_n = cell.blocks()
    steep, slope = on.reset.sigmoid_slope(), mul_up(rows, on.candidate.tanh_slope())
    if cell.cho:
        inner = add_up(on.r.amax(1), scaled_norm(mul_up(steep, h), W_r))
        return mul_up(scaled_norm(slope, W_n), inner)
    by_reset = scaled_norm(mul_up(slope, mul_up(steep, on.q)), W_r)
    return add_up(scaled_norm(mul_up(slope, on.r), W_n), by_reset)


def comparison(cell: GRU, B: float | Tensor, h: Tensor | None = None) -> Comparison:
    """The two comparison matrices, with ζ = z̲ and ζ = z̄, on the invariant box."""
    h = proved_box(cell, B).box if h is None else h
    on = opened(cell, B, h)
    K, W_z = candidate_slopes(cell, on, h), cell.blocks()[1]
    steered = mul_up(on.update.sigmoid_slope(), add_up(h, on.nu))
    through = mul_up(steered[:, :, None], W_z.abs())
    low, high = on.update.sigmoid_low(), on.update.sigmoid()
    matrices = [
        add_up(add_up(torch.diag_embed(z), mul_up(add_up(1.0, -z)[:, :, None], K)), through)
        for z in (low, high)
    ]
    moved = add_up(candidate_norm(cell, on, h, add_up(1.0, -low)), scaled_norm(steered, W_z))
    rest = opened(cell, B, torch.zeros_like(h))
    return Comparison(
        matrices=torch.stack(matrices, dim=1),
        box=h,
        drive=mul_up((-rest.update).sigmoid(), rest.nu),
        euclidean=add_up(high.amax(1), moved)[:, None, None],
        inputs=add_up(
            mul_up(add_up(1.0, -low)[:, :, None], candidate_inputs(cell, on, h)),
            mul_up(steered[:, :, None], cell.U.detach().chunk(3, dim=1)[1].abs()),
        ),
    )


def constants(cell: GRU, B: float, h: Tensor) -> dict[str, float]:
    """The constants of the cell, each the largest over the units (of one system).

    `kappa` bounds ‖Δν‖_∞/‖Δh‖_∞; `z_low` is the least that the update gate can be.
    """
    on = opened(cell, B, h)
    W_r, W_z, W_n = (sum_up(part).amax() for part in cell.sizes())
    named = {
        "r_bar": on.r.amax(), "z_low": on.update.sigmoid_low().amin(),
        "z_bar": on.update.sigmoid().amax(), "nu_bar": on.nu.amax(), "h_bar": h.amax(),
        "kappa": sum_up(candidate_slopes(cell, on, h)).amax(),
        "W_r_norm": W_r, "W_z_norm": W_z, "W_n_norm": W_n,
    }  # fmt: skip
    return {name: float(value) for name, value in named.items()}


def analyse(model: LoadedModel[GRU], input_bound: float) -> GatedAnalysis:
    """What is certified about one GRU."""
    told = proved_box(model.cell, input_bound)
    found = comparison(model.cell, input_bound, told.box)
    named = constants(model.cell, input_bound, told.box)
    ones = rounds_to_one(model.cell, told.box, input_bound)
    return GatedAnalysis(model.cell, found, named, input_bound, told.reason, ones)


def _cho(W: Tensor, U: Tensor, b_ih: Tensor, b_hh: Tensor) -> GRU:
    return GRU(W, U, b_ih, b_hh, cho=True)


GRU_KIND = torch_kind(
    name="gru",
    gates=3,
    width=1,
    mode="GRU",
    default=True,
    norms=("spectral", "infinity", "perron"),
    build=GRU,
    step=step,
    analyse=analyse,
)
GRU_CHO_KIND = torch_kind(
    name="gru-cho",
    gates=3,
    width=1,
    mode=None,
    default=False,
    norms=("spectral", "infinity", "perron"),
    build=_cho,
    step=cho_step,
    analyse=analyse,
)
