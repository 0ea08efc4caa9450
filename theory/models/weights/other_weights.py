"""Assumptions of Lemma 3 on one model with two sets of weights, on the same inputs."""

from dataclasses import dataclass, replace

from sympy import Expr

from rnnbounds.theory.axioms.gradients import DERIVATIVE_IN_STATE_OTHER
from rnnbounds.theory.language import (
    ONE,
    ZERO,
    Assumption,
    Clause,
    Use,
    assume,
    at,
    eq,
    law,
    le,
    symbols,
)
from rnnbounds.theory.language.terms.gradients import d_loss, d_state, d_weights, sensitivity
from rnnbounds.theory.language.terms.variables import a, b, c, j, w, w_other, x
from rnnbounds.theory.language.terms.vectors import RUN, entry, norm, phi, state, weighted
from rnnbounds.theory.models.box_geometry import BoxGeometry, inside
from rnnbounds.theory.models.geometry import EUCLIDEAN, EUCLIDEAN_GRADIENTS, Geometry, in_norm
from rnnbounds.theory.models.system import DIFFERENTIABLE
from rnnbounds.theory.models.weights.every_weight import written_out
from rnnbounds.theory.proof import Step, step

T, beta_rho = symbols("T beta_rho")

x_next, distance = entry(x, j + 1), norm(w - w_other)
h, h_other = state(x, 0, j), state(x, 0, j, w_other)
S, S_other = sensitivity(x, 0, j), sensitivity(x, 0, j, w_other)
A, A_other = d_state(h, x_next), d_state(h_other, x_next, w_other)
B, B_other = d_weights(h, x_next), d_weights(h_other, x_next, w_other)
# At the one run's states, with the other weights
A_mixed, B_mixed = d_state(h, x_next, w_other), d_weights(h, x_next, w_other)

SOME_INPUT = Assumption("some input", "the sequence is not empty: T ≥ 1", le(ONE, T))
_gradients = d_loss(a) * sensitivity(x, 0, j) - d_loss(b) * sensitivity(x, 0, j, c)
GRADIENT_NORM_OTHER = EUCLIDEAN_GRADIENTS(forall=(a, b, c, x, j)).that(
    eq(norm(_gradients), weighted(_gradients))
)


def of_other(assumption: Assumption) -> Assumption:
    """Assumption restated for the other weights w′."""
    said = assumption.law or law("", ())
    clauses = (
        Clause(written_out(c.conclusion, w_other), tuple(written_out(g, w_other) for g in c.given))
        for c in said.clauses
    )
    return replace(
        assumption,
        id=f"{assumption.id}, other weights",
        text=f"with the other weights too {assumption.text}",
        law=replace(said, id=f"{assumption.id}, other weights", clauses=tuple(clauses)),
        ties=False,
    )


@dataclass(frozen=True)
class OtherWeights:
    """Both models in one norm of states, and the constants that speak of both weights."""

    g: Geometry
    beta_hw: Expr
    beta_ww: Expr

    @property
    def moved(self) -> Expr:
        """‖h_t − h′_t‖."""
        return self.g.norm(h - h_other)

    # How the contraction is used, of the run with the other weights.

    @property
    def before(self) -> tuple[Step, ...]:
        """Steps that must precede the main step."""
        return ()

    @property
    def together(self) -> tuple[Use, ...]:
        """‖φ′(h, x) − φ′(h′, x)‖ ≤ λ‖h − h′‖."""
        return (at("contraction, other weights", h, h_other, x_next),)

    @property
    def slope(self) -> tuple[Use, ...]:
        """‖∂φ′/∂h‖ ≤ λ along the other run."""
        return (
            DERIVATIVE_IN_STATE_OTHER.at(self.g.lam, h_other, x_next),
            "contraction, other weights",
            at("differentiable, other weights", 0, j),
        )

    @property
    def gradient_norm(self) -> tuple[Use, ...]:
        """Use of the assumption that gradients are Euclidean; none if states are measured so."""
        if self.g.norm is norm:
            return ()
        ends = state(x, 0, j + 1), state(x, 0, j + 1, w_other)
        return (at("gradient norm", *ends, w_other, x, j + 1),)

    @property
    def measured(self) -> tuple[Assumption, ...]:
        """That assumption, where it is needed."""
        return () if self.g.norm is norm else (GRADIENT_NORM_OTHER,)

    # What is presupposed of both models.

    @property
    def contracts(self) -> tuple[Assumption, ...]:
        """The slopes of the one, and of the other what its states do too."""
        others = dict.fromkeys((*self.g.contracts, *self.g.slopes))
        return (*self.g.slopes, *map(of_other, others))

    @property
    def between(self) -> Assumption:
        """L_w, between the weights."""
        change = self.g.norm(phi(h, x_next) - phi(h, x_next, w_other))
        return assume(
            "lipschitz between weights",
            "φ is L_w-Lipschitz in the weights along the run: ‖φ_w(h, x) − φ_{w′}(h, x)‖ ≤ "
            "L_w‖w − w′‖, as it is on every segment of a convex set of weights",
            forall=(j,),
        ).that(le(change, self.g.L_w * distance))

    @property
    def smooth(self) -> Assumption:
        """All four constants of second order."""
        g = self.g
        return assume(
            "smooth",
            "φ is smooth, β_ρ is finite: ∂φ/∂h is β_hh-Lipschitz in the state and β_hw-Lipschitz "
            "in the weights, ∂φ/∂w is β_wh- and β_ww-Lipschitz, along the runs",
            forall=(j,),
            condition=le(ZERO, beta_rho),
            ties=True,
        ).that(
            le(g.norm(A - A_mixed), self.beta_hw * distance),
            le(g.norm(A_mixed - A_other), g.beta_hh * self.moved),
            le(g.norm(B - B_mixed), self.beta_ww * distance),
            le(g.norm(B_mixed - B_other), g.beta_wh * self.moved),
        )

    @property
    def loss(self) -> tuple[Assumption, ...]:
        """L_p and β_p."""
        g = self.g
        change = g.norm(d_loss(h) - d_loss(h_other))
        return (
            assume(
                "lipschitz loss", "L_p bounds ‖∇p(h_t)‖ with the other weights", forall=(j,)
            ).that(le(g.norm(d_loss(h_other)), g.L_p)),
            assume("smooth loss", "∇p is β_p-Lipschitz along the runs", forall=(j,)).that(
                le(change, g.beta_p * self.moved)
            ),
        )

    @property
    def model(self) -> tuple[Assumption, ...]:
        """All of it."""
        return (
            *self.contracts,
            self.g.contractive,
            self.g.weights,
            self.between,
            DIFFERENTIABLE,
            of_other(DIFFERENTIABLE),
            self.smooth,
            *self.loss,
            *self.measured,
            SOME_INPUT,
        )


class OtherInBox(OtherWeights):
    """Cells that contract on one box, which no weights of Ω leave."""

    @property
    def smooth(self) -> Assumption:
        """Of any cell."""
        return replace(
            super().smooth,
            text="φ is smooth on Ω, β_hh_omega is finite: ∂φ/∂s is β_hh_omega-Lipschitz in the "
            "state and β_wh_omega-Lipschitz in the weights, ∂φ/∂w is β_wh_omega- and "
            "β_ww_omega-Lipschitz",
            condition=le(ZERO, self.g.beta_hh),
        )

    @property
    def before(self) -> tuple[Step, ...]:
        """Both runs stay in the box."""
        zero = at("invariant box, other weights", 0, 0)
        stays = at("invariant box, other weights", h_other, j)
        return (
            *self.g.before,
            step("runs stay in the box, other weights", inside(h_other), forall=(j,)).by_induction(
                base=(RUN.at(w_other, x, 0, 0), zero), step=(RUN.at(w_other, x, 0, j), stays)
            ),
        )

    @property
    def _both(self) -> tuple[Use, ...]:
        return (at("runs stay in the box", 0, j), at("runs stay in the box, other weights", j))

    @property
    def together(self) -> tuple[Use, ...]:
        """Of two runs."""
        return (at("contraction, other weights", h, h_other, j), *self._both)

    @property
    def slope(self) -> tuple[Use, ...]:
        """Along the other run."""
        return (
            at("slopes, other weights", h_other, j),
            at("runs stay in the box, other weights", j),
            at("differentiable, other weights", 0, j),
        )


ANYWHERE = OtherWeights(EUCLIDEAN, *symbols("beta_hw beta_ww"))
_OMEGA = in_norm(
    " in the norm max |·|_j/v_j of states, for all weights of Ω", "omega", kind=BoxGeometry
)
ON_OMEGA = OtherInBox(_OMEGA, *symbols("beta_wh_omega beta_ww_omega"))
