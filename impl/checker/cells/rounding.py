"""How far rounding carries the states of a vanilla cell, proved anew in balls, without torch.

With u the unit roundoff of the model's dtype, K = n + d + 2 terms a sum and γ = Nu/(1 − Nu) for
N = K + 1, a step from states within q B_h is off by at most

    ρ_i = L_ρ δ_i + e_ρ(z_i) + η,    ε_1 = L_ρ min(‖δ‖₂, γ Z) + min(‖e_ρ(z)‖₂, e_ρ(Z)) + η,
    Z = min(q ‖|W|‖₂ B_h + ‖|U|‖₂ B + ‖|b_ih| + |b_hh|‖₂, ‖z‖₂),
    δ_i = u′ (Σ_{m ≥ 2} 2^⌊log₂ g P_m⌋ + g P_K),    g = 1 + 2Ku,    u′ = (1 + 2⁻¹⁰) u,

where P_m bounds the sum of the m largest terms of the i-th row, P_K = z_i: of K − 1 additions, in
whatever tree, the j-th largest has no more than K + 1 − j terms, and each is rounded to nearest.
Of the states' terms the m largest add up to no more than min(h̄ Σ |W_ij|, q B_h ‖W_i‖₂) of the m
largest |W_ij|, with |h_j| ≤ h̄ = sup |ρ| + (q − 1) B_h. e_ρ is the error of the function in the
dtype, in half precision that in float32, then rounded, and η = n N times the least normal number
for underflow. So all states, in a norm with ‖h‖₂ ≤ C‖h‖_* ≤ C c‖h‖₂ in which the cell contracts by
λ, by at most C c ε_1/(1 − λ), and by ‖v‖₂ for each v with ρ + L_ρ|W|v ≤ v, if these stay within
q B_h.
Source: Higham, Accuracy and Stability.
"""

from dataclasses import dataclass

from flint import arb, arb_mat, ctx, fmpq

from rnnbounds.impl.checker.cells.activations import BallActivation
from rnnbounds.impl.checker.cells.norms import Cell
from rnnbounds.impl.checker.definite import Rows, balls, larger, norm, norm_above, smaller

_HEADROOMS = (1.01, 1.1, 1.5, 2.0, 4.0, 16.0)  # q; in coarse dtypes states exceed B_h by more
_FUNCTIONS = 2.0**54  # of the unit roundoff that is worked with, on the error model of float64
_SINGLE = 2.0**-24  # which is that of float32 in half precision
_TWICE = 1 + 2.0**-10  # what is rounded in a finer dtype, or of its double, may be so once more
_ROOM = 1 + arb(2) ** -100  # for terms that are sorted by their middles
_SOLVED, _MORE, _LEAST = 192, 1 + arb(2) ** -40, arb(2) ** -60
BEYOND = {("rnn-erf", "bfloat16")}  # torch's functions that exceed their error model


@dataclass(frozen=True)
class Format:
    """A dtype: its unit roundoff, least normal and greatest number."""

    unit: float
    tiny: float
    largest: float


def rounding_bound(
    cell: Cell, biases: list[tuple[arb, arb]], states: float, factor: arb, form: Format
) -> arb | None:
    """The least of C c ε_1/(1 − λ) and ‖v‖₂, for ``factor`` = C c/(1 − λ), B_h = ``states`` and
    pairs of |b_ih| and |b_hh|; None if nothing is known, as the dtype may overflow or states leave
    their bound."""
    n, d = len(cell.W), len(cell.U[0])
    terms = n + d + 3
    part = terms * arb(form.unit)
    if not part < 0.5:
        return None
    gamma = part / (1 - part)
    W, driven = _absolute(cell.W), _absolute(cell.U) * cell.B + norm([i + h for i, h in biases])
    sums, compared = _RowSums(cell, biases, form), [list(map(abs, row)) for row in cell.steepened]
    for headroom in _HEADROOMS:
        reached = arb(headroom) * states
        rows = sums.rows(reached, cell.rho.bound + (arb(headroom) - 1) * states)
        off, each = [sums.error(row) for row in rows], [sum(row, arb(0)) for row in rows]
        Z = smaller(W * reached + driven, norm(each))
        most = (1 + 2 * gamma) * Z
        lost = arb(0) if Z.is_zero() else n * terms * arb(form.tiny)
        if not (2 * most < form.largest and reached < form.largest):  # GELU takes 2z on its way
            return None
        library = [_function(cell.rho, 1, (1 + 2 * gamma) * z, form.unit) for z in each]
        step = arb(cell.slope) * smaller(norm(off), gamma * Z) + lost
        step += smaller(norm(library), _function(cell.rho, n, (1 + 2 * gamma) * Z, form.unit))
        local = [arb(cell.slope) * d + e + lost for d, e in zip(off, library, strict=True)]
        error = smaller(factor * step, _by_units(compared, local))
        if error + states < reached or error.is_zero():
            return error
    return None


class _RowSums:
    """The terms of each row's sum, the states' in order of |W_ij|, and what adding them loses."""

    def __init__(self, cell: Cell, biases: list[tuple[arb, arb]], form: Format) -> None:
        self.form, d = form, len(cell.U[0])
        self.sorted = [sorted(map(abs, row), reverse=True) for row in cell.W]
        fed = [norm(list(map(arb, row))) * cell.B for row in cell.U]
        zeros = [arb(0)] * (d - 1)
        self.others = [[f, *zeros, *pair] for f, pair in zip(fed, biases, strict=True)]

    def rows(self, reached: arb, side: arb) -> list[list[arb]]:
        """At least the terms of each row for ‖h‖₂ ≤ reached and |h_j| ≤ side, of any m of them the
        sum."""
        return [
            [*_increments(row, reached, side), *others]
            for row, others in zip(self.sorted, self.others, strict=True)
        ]

    def error(self, row: list[arb]) -> arb:
        """δ of one row."""
        K, form = len(row), self.form
        total, lost, g = arb(0), arb(0), (1 + 2 * K * arb(form.unit)) * _ROOM
        for place, term in enumerate(sorted(row, key=arb.mid, reverse=True)):
            total += term
            lost += _binade(total * g) if place else 0
        return form.unit * _TWICE * (lost + g * total)


def _increments(row: list[fmpq], reached: arb, side: arb) -> list[arb]:
    """Terms whose first m add up to the least of side Σ |w| and reached √Σ w²."""
    found, before, sizes, squares = [], arb(0), fmpq(0), fmpq(0)
    for w in row:
        sizes, squares = sizes + w, squares + w * w
        most = reached * arb(squares).sqrt()
        most = smaller(most, side * arb(sizes)) if side.is_finite() else most
        found.append(larger(most - before, arb(0)))
        before = most
    return found


def _binade(size: arb) -> arb:
    """2ᵉ for 2ᵉ ≤ size < 2ᵉ⁺¹, or for what is a little more than size."""
    if size.is_zero():
        return arb(0)
    mantissa, exponent = size.upper().man_exp()
    return arb(2) ** (exponent + int(mantissa).bit_length() - 1)


def _by_units(M: Rows, error: list[arb]) -> arb:
    """‖v‖₂ for some v with M v + ρ ≤ v, which is sought as (I − M)⁻¹ρ; infinite if none is."""
    n, infinite = len(M), arb("inf")
    with ctx.workprec(_SOLVED):
        A = arb_mat([[arb(int(i == j)) for j in range(n)] for i in range(n)]) - balls(M)
        largest = max(error, key=lambda e: float(e.upper())) * _LEAST
        try:
            solved = A.solve(arb_mat([[e * _MORE + largest] for e in error]))
        except ZeroDivisionError:
            return infinite
        v = [arb(entry.upper()) for entry in solved.entries()]
        image = balls(M) * arb_mat([[x] for x in v])
        held = all(x >= 0 and m + e <= x for x, m, e in zip(v, image.entries(), error, strict=True))
        return norm(v) if held else infinite


def _function(rho: BallActivation, n: int, Z: arb, unit: float) -> arb:
    """Bound the error of ρ in the dtype, ‖fl(ρ)(z) − ρ(z)‖₂ for z ∈ ℝⁿ with ‖z‖₂ ≤ Z."""
    library = min(unit, _SINGLE) * _FUNCTIONS * _error(rho, n, Z)
    if unit <= _SINGLE or library.is_zero():
        return library
    steep = abs(rho.function(arb(0))) * arb(n).sqrt() + rho.slope * Z
    most = smaller(steep, rho.bound * arb(n).sqrt())
    return library + unit * (most + library)


def _error(rho: BallActivation, n: int, Z: arb) -> arb:
    """At least ‖fl(ρ)(z) − ρ(z)‖₂ in float64 for ‖z‖₂ ≤ Z."""
    if Z.is_zero() and rho.function(arb(0)).is_zero():
        return arb(0)
    root = arb(n).sqrt()
    capped, relative = arb(rho.cap) * root, arb(rho.rate) * Z
    finite = [part for part in (capped, relative) if part.is_finite()]
    return min(finite, key=lambda part: float(part.upper())) + arb(rho.floor) * root


def _absolute(rows: Rows) -> arb:
    """At least ‖|A|‖₂."""
    return norm_above([arb_mat([[arb(abs(v)) for v in row] for row in rows])])
