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
from rnnbounds.theory.language.terms.networks import d_loss, d_state, d_weights, sensitivity
from rnnbounds.theory.language.terms.variables import a, b, c, j, w, w_other, x
from rnnbounds.theory.language.terms.vectors import RUN, entry, norm, phi, state, weighted
from rnnbounds.theory.models.box.geometry import BoxGeometry, inside
from rnnbounds.theory.models.geometry import EUCLIDEAN, EUCLIDEAN_GRADIENTS, Geometry, make_geometry
from rnnbounds.theory.models.system import DIFFERENTIABLE
from rnnbounds.theory.models.weights.every_weight import insert_weights
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
_gradient_gap = d_loss(a) * sensitivity(x, 0, j) - d_loss(b) * sensitivity(x, 0, j, c)
GRADIENT_NORM_OTHER = EUCLIDEAN_GRADIENTS(forall=(a, b, c, x, j)).that(
    eq(norm(_gradient_gap), weighted(_gradient_gap))
)


def for_other_weights(assumption: Assumption) -> Assumption:
    """Assumption restated for the other weights w′."""
    base_law = assumption.law or law("", ())
    clauses = (
        Clause(
            insert_weights(c.conclusion, w_other),
            tuple(insert_weights(g, w_other) for g in c.given),
        )
        for c in base_law.clauses
    )
    return replace(
        assumption,
        id=f"{assumption.id}, other weights",
        text=f"with the other weights too {assumption.text}",
        law=replace(base_law, id=f"{assumption.id}, other weights", clauses=tuple(clauses)),
    )


@dataclass(frozen=True)
class OtherWeights:
    """Both models in one norm of states, and the constants that speak of both weights."""

    g: Geometry
    beta_hw: Expr
    beta_ww: Expr

    @property
    def state_gap(self) -> Expr:
        """Distance ‖h_t − h′_t‖ of the states with both weights."""
        return self.g.norm(h - h_other)

    # How the contraction is used, of the run with the other weights.

    @property
    def setup_steps(self) -> tuple[Step, ...]:
        """Steps that must precede the main step; none in a norm that holds everywhere."""
        return ()

    @property
    def contraction_of_runs(self) -> tuple[Use, ...]:
        """Uses: ‖φ′(h, x) − φ′(h′, x)‖ ≤ λ‖h − h′‖."""
        return (at("contraction, other weights", h, h_other, x_next),)

    @property
    def derivative_bound(self) -> tuple[Use, ...]:
        """Uses: ‖∂φ′/∂h‖ ≤ λ along the other run."""
        return (
            DERIVATIVE_IN_STATE_OTHER.at(self.g.lam, h_other, x_next),
            "contraction, other weights",
            at("differentiable, other weights", 0, j),
        )

    @property
    def gradient_norm_uses(self) -> tuple[Use, ...]:
        """Use of the assumption that gradients are Euclidean; none if states are measured so."""
        if self.g.norm is norm:
            return ()
        ends = state(x, 0, j + 1), state(x, 0, j + 1, w_other)
        return (at("gradient norm", *ends, w_other, x, j + 1),)

    @property
    def gradient_assumptions(self) -> tuple[Assumption, ...]:
        """Assumption that gradients are Euclidean; none if states are measured so."""
        return () if self.g.norm is norm else (GRADIENT_NORM_OTHER,)

    # What is presupposed of both models.

    @property
    def contraction_assumptions(self) -> tuple[Assumption, ...]:
        """Assumptions: slopes of the model, slopes and contraction with the other weights."""
        assumptions = dict.fromkeys((*self.g.contraction_assumptions, *self.g.slopes))
        return (*self.g.slopes, *map(for_other_weights, assumptions))

    @property
    def between(self) -> Assumption:
        """Assumption: φ is L_w-Lipschitz between the two weights."""
        change = self.g.norm(phi(h, x_next) - phi(h, x_next, w_other))
        return assume(
            "lipschitz between weights",
            "φ is L_w-Lipschitz in the weights along the run: ‖φ_w(h, x) − φ_{w′}(h, x)‖ ≤ "
            "L_w‖w − w′‖, as it is on every segment of a convex set of weights",
            forall=(j,),
        ).that(le(change, self.g.L_w * distance))

    @property
    def smooth(self) -> Assumption:
        """Assumption: the four Lipschitz constants of ∂φ/∂h and ∂φ/∂w."""
        g = self.g
        return assume(
            "smooth",
            "φ is smooth, β_ρ is finite: ∂φ/∂h is β_hh-Lipschitz in the state and β_hw-Lipschitz "
            "in the weights, ∂φ/∂w is β_wh- and β_ww-Lipschitz, along the runs",
            forall=(j,),
            condition=le(ZERO, beta_rho),
        ).that(
            le(g.norm(A - A_mixed), self.beta_hw * distance),
            le(g.norm(A_mixed - A_other), g.beta_hh * self.state_gap),
            le(g.norm(B - B_mixed), self.beta_ww * distance),
            le(g.norm(B_mixed - B_other), g.beta_wh * self.state_gap),
        )

    @property
    def loss(self) -> tuple[Assumption, ...]:
        """Assumptions: L_p bounds ‖∇p‖, and ∇p is β_p-Lipschitz."""
        g = self.g
        change = g.norm(d_loss(h) - d_loss(h_other))
        return (
            assume(
                "lipschitz loss", "L_p bounds ‖∇p(h_t)‖ with the other weights", forall=(j,)
            ).that(le(g.norm(d_loss(h_other)), g.L_p)),
            assume("smooth loss", "∇p is β_p-Lipschitz along the runs", forall=(j,)).that(
                le(change, g.beta_p * self.state_gap)
            ),
        )

    @property
    def model(self) -> tuple[Assumption, ...]:
        """All assumptions on the model with both weights."""
        return (
            *self.contraction_assumptions,
            self.g.contractive,
            self.g.weights,
            self.between,
            DIFFERENTIABLE,
            for_other_weights(DIFFERENTIABLE),
            self.smooth,
            *self.loss,
            *self.gradient_assumptions,
            SOME_INPUT,
        )


class OtherInBox(OtherWeights):
    """Cells that contract on one box, which no weights of Ω leave."""

    @property
    def smooth(self) -> Assumption:
        """Assumption: the four Lipschitz constants of ∂φ/∂s and ∂φ/∂w, of any cell."""
        return replace(
            super().smooth,
            text="φ is smooth on Ω, β_hh_omega is finite: ∂φ/∂s is β_hh_omega-Lipschitz in the "
            "state and β_wh_omega-Lipschitz in the weights, ∂φ/∂w is β_wh_omega- and "
            "β_ww_omega-Lipschitz",
            condition=le(ZERO, self.g.beta_hh),
        )

    @property
    def setup_steps(self) -> tuple[Step, ...]:
        """Steps: both runs stay in the box."""
        zero_use = at("invariant box, other weights", 0, 0)
        box_use = at("invariant box, other weights", h_other, j)
        return (
            *self.g.setup_steps,
            step("runs stay in the box, other weights", inside(h_other), forall=(j,)).by_induction(
                base=(RUN.at(w_other, x, 0, 0), zero_use), step=(RUN.at(w_other, x, 0, j), box_use)
            ),
        )

    @property
    def _both(self) -> tuple[Use, ...]:
        return (at("runs stay in the box", 0, j), at("runs stay in the box, other weights", j))

    @property
    def contraction_of_runs(self) -> tuple[Use, ...]:
        """Uses: the contraction between two runs in the box."""
        return (at("contraction, other weights", h, h_other, j), *self._both)

    @property
    def derivative_bound(self) -> tuple[Use, ...]:
        """Uses: ‖∂φ′/∂s‖ ≤ λ along the other run."""
        return (
            at("slopes, other weights", h_other, j),
            at("runs stay in the box, other weights", j),
            at("differentiable, other weights", 0, j),
        )


ANYWHERE = OtherWeights(EUCLIDEAN, *symbols("beta_hw beta_ww"))
_OMEGA = make_geometry(
    " in the norm max |·|_j/v_j of states, for all weights of Ω", "omega", geometry_type=BoxGeometry
)
ON_OMEGA = OtherInBox(_OMEGA, *symbols("beta_wh_omega beta_ww_omega"))
