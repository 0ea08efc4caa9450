"""A unitary equivalent is one for bounded inputs: a pulse beyond the bound leaks into it.

h = max(λ h + x, 0) on x = (X, 0, 0, …), X = 2B/(1 − λ), and its equivalent for inputs up to B, with
V = (λ μ; μ −λ): the outputs differ by (1 − λ²)(X − B/(1 − λ)) at the third step.
"""

from sympy import Abs, Integer, sqrt

from rnnbounds.theory.language import ZERO, Assumption, assume, at, eq, le, lt, ne, symbols
from rnnbounds.theory.language.definitions import larger
from rnnbounds.theory.language.terms.unitary import (
    LARGEST_PULSE_GAP,
    largest_pulse_gap,
    pulse,
    pulse_lower,
    pulse_upper,
)
from rnnbounds.theory.language.terms.variables import j
from rnnbounds.theory.models.system import CONTRACTIVE
from rnnbounds.theory.proof import step, theorem

lam, B_x, T, unitary_gap_beyond = symbols("lam B_x T unitary_gap_beyond")

B, mu = B_x / (1 - lam), sqrt(1 - lam**2)
PULSE = assume(
    "pulse",
    "h_t = max(λ h_{t−1} + x_t, 0) from 0, and its equivalent for inputs up to B, with "
    "V = (λ μ; μ −λ) and μ = √(1 − λ²), on x = (2B/(1 − λ), 0, 0, …)",
    forall=(j,),
).that(
    eq(pulse(0), ZERO),
    eq(pulse_upper(0), ZERO),
    eq(pulse_lower(0), ZERO),
    *larger(pulse(1), ZERO, 2 * B),
    *larger(pulse_upper(1), ZERO, 2 * B),
    *larger(pulse_lower(1), ZERO, -B * mu),
    *larger(pulse(j + 2), ZERO, lam * pulse(j + 1)),
    *larger(pulse_upper(j + 2), ZERO, lam * pulse_upper(j + 1) + mu * pulse_lower(j + 1)),
    *larger(pulse_lower(j + 2), ZERO, mu * pulse_upper(j + 1) - lam * pulse_lower(j + 1) - B * mu),
)
INPUTS = Assumption("inputs", "B > 0", lt(ZERO, B_x))
THREE_STEPS = Assumption("three steps", "T ≥ 3", le(Integer(3), T))
gap = pulse_upper(3) - pulse(3)
LEAK = (
    step("leak", eq(gap, (1 - lam**2) * B)).by(at("pulse", 0), at("pulse", 1), "contractive"),
    step("lasting gap", le(Abs(gap), largest_pulse_gap(j + 3)), forall=(j,)).by_induction(
        base=LARGEST_PULSE_GAP.at(2), step=LARGEST_PULSE_GAP.at(j + 3)
    ),
)
BEYOND = theorem(
    "beyond",
    ne(unitary_gap_beyond, ZERO),
    (CONTRACTIVE, INPUTS, THREE_STEPS, PULSE),
    "unitary",
    LEAK,
    note="the bound on the inputs is needed",
).by("leak", at("lasting gap", T - 3), "three steps", "contractive", "inputs")
