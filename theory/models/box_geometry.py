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
from rnnbounds.theory.language.terms.gates import in_box
from rnnbounds.theory.language.terms.gradients import (
    d_input,
    d_loss,
    d_state,
    differentiable,
    jacobian,
    recent,
)
from rnnbounds.theory.language.terms.variables import a, b, j, m, s, x
from rnnbounds.theory.language.terms.vectors import RECURSION, entry, norm, phi, state, weighted
from rnnbounds.theory.models import geometry
from rnnbounds.theory.proof import Step, step

C_box, L_x_box = symbols("C_box L_x_box")
new = entry(x, m + 1)
A_new = d_state(a, new)


def inside(state: Expr) -> Statement:
    """The state is of the box."""
    return eq(in_box(state), ONE)


class BoxGeometry(geometry.Geometry):
    """The contraction is that of states of the box, or of a set in it, which runs do not leave."""

    @property
    def invariant(self) -> Assumption:
        """A set in the box is invariant."""
        return assume(
            "invariant box",
            "0 is of an invariant set in the box, discs for complex modes and else the box: no "
            "step on an input of the sequence leaves it",
            forall=(a, m),
            inclusion=True,
        ).that(inside(ZERO), Clause(inside(phi(a, new)), (inside(a),)))

    @property
    def contraction(self) -> Assumption:
        """φ contracts on the box."""
        lam = self.factor
        bound = le(self.norm(phi(a, new) - phi(b, new)), self.lam * self.norm(a - b))
        return assume(
            "contraction",
            f"φ is {lam}-Lipschitz in the state on the box{self.text}: ‖φ(s, x) − φ(s′, x)‖ ≤ "
            f"{lam}‖s − s′‖, for M v ≤ {lam} v",
            forall=(a, b, m),
            ties=True,
        ).that(Clause(bound, (inside(a), inside(b))))

    @property
    def contracts(self) -> tuple[Assumption, ...]:
        """The contraction on the box, and that runs are there."""
        return (self.invariant, self.contraction)

    @property
    def slopes(self) -> tuple[Assumption, ...]:
        """M bounds the derivative too, entry by entry: on the edges of the box as well."""
        smooth = (inside(a), eq(differentiable(a, new), ONE))
        return (
            self.invariant,
            assume(
                "slopes",
                f"‖∂φ/∂s‖ ≤ {self.factor} at the states of the box where φ is differentiable"
                f"{self.text}, for |∂φ/∂s| ≤ M",
                forall=(a, m),
            ).that(Clause(le(self.norm(A_new), self.lam), smooth)),
        )

    @property
    def smooth(self) -> Assumption:
        """β_hh and β_wh, of any cell."""
        return replace(
            super().smooth,
            text=f"φ is smooth, {self.beta_hh} is finite: {self.beta_hh} and {self.beta_wh} are "
            f"Lipschitz constants of ∂φ/∂s and of ∂φ/∂w in the state{self.text}",
            condition=le(ZERO, self.beta_hh),
        )

    @property
    def before(self) -> tuple[Step, ...]:
        """Runs from zero stay in the box."""
        again = at("invariant box", geometry.fresh, s + j)
        return (
            step("runs stay in the box", inside(geometry.fresh), forall=(s, j)).by_induction(
                base=(RECURSION.at(x, s, 0), at("invariant box", 0, 0)),
                step=(RECURSION.at(x, s, j), again),
            ),
        )

    @property
    def from_zero(self) -> tuple[Use, ...]:
        """Of a run and 0."""
        zero = at("invariant box", 0, 0)
        return (at("contraction", geometry.h, 0, j), at("runs stay in the box", 0, j), zero)

    @property
    def together(self) -> tuple[Use, ...]:
        """Of two runs."""
        stay = (at("runs stay in the box", 0, s + j), at("runs stay in the box", s, j))
        return (at("contraction", geometry.full, geometry.fresh, s + j), *stay)

    @property
    def slope(self) -> tuple[Use, ...]:
        """Along a run."""
        stays = at("runs stay in the box", s, j)
        return (at("slopes", geometry.fresh, s + j), stays, at("differentiable", s, j))


BOX = geometry.in_norm(" in the norm max |·|_j/v_j of states", "box", kind=BoxGeometry)

SHOWN = assume(
    "output", "C_box is at least ‖h‖₂/‖s‖_box, for h is a linear part of s", forall=(s, j)
).that(le(norm(geometry.full - geometry.fresh), C_box * weighted(geometry.full - geometry.fresh)))
SHOWN_DERIVATIVE = assume(
    "output",
    "C_box is at least ‖h‖₂/‖s‖_box, and so ‖∂h_T/∂x_t‖ ≤ C_box‖∂s_T/∂x_t‖, from ‖·‖₂ to ‖·‖_box",
    forall=(m, j),
).that(le(norm(jacobian(x, m + j + 1, m + 1)), C_box * weighted(jacobian(x, m + j + 1, m + 1))))
_before = state(x, 0, m)
LIPSCHITZ_INPUT = assume(
    "lipschitz input", "L_x_box bounds ‖∂φ/∂x‖ along the run, from ‖·‖₂ to ‖·‖_box", forall=(m,)
).that(le(weighted(d_input(_before, new)), L_x_box))
_cut = d_loss(geometry.full) * geometry.S_full - d_loss(geometry.full) * recent(x, s, j)
CUT_GRADIENT_NORM = geometry.EUCLIDEAN_GRADIENTS(forall=(x, s, j)).that(
    eq(norm(_cut), weighted(_cut))
)
