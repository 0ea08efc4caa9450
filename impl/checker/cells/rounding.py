"""How far rounding carries the states of a vanilla cell, proved anew in balls, without torch.

With u the unit roundoff of the model's dtype, N = n + d + 3 terms a sum and γ = Nu/(1 − Nu), a step
from states within q B_h is off by at most

    ε_1 = L_ρ γ Z + e_ρ(Z) + η,   Z = q ‖|W|‖₂ B_h + ‖|U|‖₂ B + ‖|b_ih| + |b_hh|‖₂,

where e_ρ is that of the function in the dtype, in half precision that in float32, then rounded, and
η = n N times the least normal number for underflow. So all states, in a norm with ‖h‖₂ ≤ C‖h‖_* ≤
C c‖h‖₂ in which the cell contracts by λ, by at most C c ε_1/(1 − λ), if these stay within q B_h.

With 3×TF32 products float32 numbers are sums of two of 11 bits, but for 3·2⁻²³ of them; the product
of the second two, each at most 2⁻¹⁰ of its number, is left out, so that a product is off by (16 +
12 + 2⁻¹⁸) u; and thrice as many are added, by additions that cut and are off by 2u, of terms that
are 1 + 2⁻¹⁰ + 2⁻⁹ times as large. So N is 28.01 + 6.02 (n + d + 3), and as numbers may underflow
when they are split, η is 2 + ‖|W|‖₂ + q B_h + ‖|U|‖₂ + B times as large. Sources: Higham, Accuracy
and Stability; Fasi et al., Numerical behavior of NVIDIA tensor cores.
"""

from dataclasses import dataclass

from flint import arb, arb_mat

from rnnbounds.impl.checker.cells.activations import BallActivation
from rnnbounds.impl.checker.cells.iterated import norm_above
from rnnbounds.impl.checker.cells.norms import Cell
from rnnbounds.impl.checker.definite import Rows, larger, norm, smaller

_HEADROOMS = (1.01, 1.1, 1.5, 2.0, 4.0, 16.0)  # q; in coarse dtypes states exceed B_h by more
_FUNCTIONS = 2.0**54  # of the unit roundoff that is worked with, on the error model of float64
_SINGLE = 2.0**-24  # which is that of float32 in half precision
BEYOND = {("rnn-erf", "bfloat16")}  # torch's functions that exceed their error model


@dataclass(frozen=True)
class Format:
    """A dtype: its unit roundoff, least normal and greatest number; 3×TF32 products if split."""

    unit: float
    tiny: float
    largest: float
    split: bool = False

    def roundings(self, terms: int) -> arb:
        """Units of roundoff on the way of a term of a sum."""
        return arb(28.01) + arb(6.02) * terms if self.split else arb(terms)


def rounding_bound(
    cell: Cell, biases: list[arb], states: float, factor: arb, form: Format
) -> arb | None:
    """C c ε_1/(1 − λ), for ``factor`` = C c/(1 − λ), B_h = ``states`` and |b_ih| + |b_hh|; None if
    nothing is known, as the dtype may overflow or states leave their bound."""
    n, d = len(cell.W), len(cell.U[0])
    terms = form.roundings(n + d + 3)
    part = terms * form.unit
    if not part < 0.5:
        return None
    gamma = part / (1 - part)
    W, driven = _absolute(cell.W), _absolute(cell.U) * cell.B + norm(biases)
    for headroom in _HEADROOMS:
        reached = arb(headroom) * states
        Z = W * reached + driven
        sums = (1 + 2 * gamma) * Z
        factors = (W + reached + _absolute(cell.U) + cell.B) if form.split else arb(0)
        most = larger(sums, factors)
        if not (2 * most < form.largest and reached < form.largest):  # GELU takes 2z on its way
            return None
        step = arb(cell.slope) * gamma * Z + _function(cell.rho, n, sums, form.unit)
        lost = n * terms * arb(form.tiny) * (2 + factors if form.split else 1)
        step += 0 if Z.is_zero() else lost
        error = factor * step
        if error + states < reached or error.is_zero():
            return error
    return None


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
