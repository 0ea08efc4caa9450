"""Cells of any kind in the norm of their comparison matrix, on the box that no run leaves.

A cell has a comparison matrix M, |φ(s, x) − φ(s′, x)| ≤ M |s − s′| entry by entry for states s, s′
of a box, and M v ≤ λ v for some v > 0: it contracts in ‖s‖_box = max_j |s_j|/v_j.  The box itself
is invariant or, as of complex modes, which turn it, a set in it that contains 0: what is said of
states of the box is used of that set alone.  What a norm without a name measures of states is h,
the part of s that the cell shows: half of an LSTM's (c, h), the last layer of a stack, all of a
GRU.  It is no norm of s, and so of operators nothing is known in it.
"""

from dataclasses import replace

from sympy import Expr

from rnnbounds.theory.language import (
    ONE,
    ZERO,
    Assumption,
    Clause,
    Statement,
    Use,
    assume,
    at,
    eq,
    le,
    symbols,
)
from rnnbounds.theory.language.terms.networks import (
    d_input,
    d_loss,
    d_state,
    differentiable,
    in_box,
    jacobian,
    recent,
)
from rnnbounds.theory.language.terms.variables import a, b, j, m, s, x
from rnnbounds.theory.language.terms.vectors import (
    RECURSION,
    entry,
    gain,
    norm,
    phi,
    state,
    weighted,
)
from rnnbounds.theory.models import geometry
from rnnbounds.theory.proof import Step, step

C_box, L_x_box = symbols("C_box L_x_box")
next_input = entry(x, m + 1)
A_new = d_state(a, next_input)


def inside(state: Expr) -> Statement:
    """Statement that the state is in the invariant set."""
    return eq(in_box(state), ONE)


class BoxGeometry(geometry.Geometry):
    """The contraction is that of states of the box, or of a set in it, which runs do not leave."""

    @property
    def invariant(self) -> Assumption:
        """Assumption: a set in the box that contains 0 is invariant."""
        return assume(
            "invariant box",
            "0 is of an invariant set in the box, discs for complex modes and else the box: no "
            "step on an input of the sequence leaves it",
            forall=(a, m),
            inclusion=True,
        ).that(inside(ZERO), Clause(inside(phi(a, next_input)), (inside(a),)))

    @property
    def contraction(self) -> Assumption:
        """Assumption: φ is λ-Lipschitz in the state on the box."""
        lam = self.lam_text
        bound = le(self.norm(phi(a, next_input) - phi(b, next_input)), self.lam * self.norm(a - b))
        return assume(
            "contraction",
            f"φ is {lam}-Lipschitz in the state on the box{self.text}: ‖φ(s, x) − φ(s′, x)‖ ≤ "
            f"{lam}‖s − s′‖, for M v ≤ {lam} v",
            forall=(a, b, m),
        ).that(Clause(bound, (inside(a), inside(b))))

    @property
    def contraction_assumptions(self) -> tuple[Assumption, ...]:
        """Assumptions: φ contracts on the box, and runs stay in it."""
        return (self.invariant, self.contraction)

    @property
    def slopes(self) -> tuple[Assumption, ...]:
        """Assumptions: ‖∂φ/∂s‖ ≤ λ on the box, its edges included, and runs stay in it."""
        smooth = (inside(a), eq(differentiable(a, next_input), ONE))
        return (
            self.invariant,
            assume(
                "slopes",
                f"‖∂φ/∂s‖ ≤ {self.lam_text} at the states of the box where φ is differentiable"
                f"{self.text}, for |∂φ/∂s| ≤ M",
                forall=(a, m),
            ).that(Clause(le(self.norm(A_new), self.lam), smooth)),
        )

    @property
    def smooth(self) -> Assumption:
        """Assumption: β_hh and β_wh are Lipschitz constants of ∂φ/∂s and ∂φ/∂w."""
        return replace(
            super().smooth,
            text=f"φ is smooth, {self.beta_hh} is finite: {self.beta_hh} and {self.beta_wh} are "
            f"Lipschitz constants of ∂φ/∂s and of ∂φ/∂w in the state{self.text}",
            condition=le(ZERO, self.beta_hh),
        )

    @property
    def setup_steps(self) -> tuple[Step, ...]:
        """Steps: runs from zero stay in the box."""
        next_use = at("invariant box", geometry.fresh, s + j)
        return (
            step("runs stay in the box", inside(geometry.fresh), forall=(s, j)).by_induction(
                base=(RECURSION.at(x, s, 0), at("invariant box", 0, 0)),
                step=(RECURSION.at(x, s, j), next_use),
            ),
        )

    @property
    def contraction_from_zero(self) -> tuple[Use, ...]:
        """Uses: ‖φ(h_j, x) − φ(0, x)‖ ≤ λ‖h_j‖, for a run in the box."""
        zero_use = at("invariant box", 0, 0)
        return (at("contraction", geometry.h, 0, j), at("runs stay in the box", 0, j), zero_use)

    @property
    def contraction_of_runs(self) -> tuple[Use, ...]:
        """Uses: ‖φ(h, x) − φ(ĥ, x)‖ ≤ λ‖h − ĥ‖ of two runs in the box."""
        box_uses = (at("runs stay in the box", 0, s + j), at("runs stay in the box", s, j))
        return (at("contraction", geometry.full, geometry.fresh, s + j), *box_uses)

    @property
    def derivative_bound(self) -> tuple[Use, ...]:
        """Uses: ‖∂φ/∂s‖ ≤ λ along a run in the box."""
        box_use = at("runs stay in the box", s, j)
        return (at("slopes", geometry.fresh, s + j), box_use, at("differentiable", s, j))


BOX = geometry.make_geometry(
    " in the norm max |·|_j/v_j of states", "box", geometry_type=BoxGeometry
)

SHOWN = assume(
    "output", "C_box is at least ‖h‖₂/‖s‖_box, for h is a linear part of s", forall=(s, j)
).that(le(gain(geometry.full - geometry.fresh), C_box * weighted(geometry.full - geometry.fresh)))
SHOWN_DERIVATIVE = assume(
    "output",
    "C_box is at least ‖h‖₂/‖s‖_box, and so ‖∂h_T/∂x_t‖ ≤ C_box‖∂s_T/∂x_t‖, from ‖·‖₂ to ‖·‖_box",
    forall=(m, j),
).that(le(gain(jacobian(x, m + j + 1, m + 1)), C_box * weighted(jacobian(x, m + j + 1, m + 1))))
_state_before = state(x, 0, m)
LIPSCHITZ_INPUT = assume(
    "lipschitz input", "L_x_box bounds ‖∂φ/∂x‖ along the run, from ‖·‖₂ to ‖·‖_box", forall=(m,)
).that(le(weighted(d_input(_state_before, next_input)), L_x_box))
_gradient_difference = d_loss(geometry.full) * geometry.S_full - d_loss(geometry.full) * recent(
    x, s, j
)
CUT_GRADIENT_NORM = geometry.EUCLIDEAN_GRADIENTS(forall=(x, s, j)).that(
    eq(norm(_gradient_difference), weighted(_gradient_difference))
)
