"""A norm of states, and what claims on gradients presuppose of a model in that norm.

All of it is valid in any norm of states, so that ledgers are written once, for a `Geometry`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from sympy import Expr, Min

from rnnbounds.theory.axioms import base
from rnnbounds.theory.axioms.gradients import DERIVATIVE_IN_STATE
from rnnbounds.theory.language import (
    ONE,
    ZERO,
    Assumption,
    Axiom,
    Use,
    assume,
    at,
    eq,
    le,
    lt,
    symbols,
)
from rnnbounds.theory.language.terms.networks import d_loss, d_state, d_weights, sensitivity
from rnnbounds.theory.language.terms.variables import a, b, c, i, j, m, s, x
from rnnbounds.theory.language.terms.vectors import entry, norm, phi, state, weighted
from rnnbounds.theory.proof import Step

(beta_rho,) = symbols("beta_rho")

x_next = entry(x, s + j + 1)
full, fresh = state(x, 0, s + j), state(x, s, j)
S_full, S_fresh = sensitivity(x, 0, s + j), sensitivity(x, s, j)
A_full, A_fresh = d_state(full, x_next), d_state(fresh, x_next)
B_full, B_fresh = d_weights(full, x_next), d_weights(fresh, x_next)
start, S_start = state(x, 0, s), sensitivity(x, 0, s)
h, x_first = state(x, 0, j), entry(x, j + 1)

_first, _second = (d_loss(h) * sensitivity(x, *run) for h, run in ((a, (s, j)), (b, (i, m))))
# In what norm ever states are measured, weights and gradients in the weights are in the Euclidean.
EUCLIDEAN_GRADIENTS = partial(
    assume, "gradient norm", "gradients in the weights are measured in the Euclidean norm"
)
GRADIENT_NORM = EUCLIDEAN_GRADIENTS(forall=(a, b, x, s, j, i, m)).that(
    eq(norm(_first - _second), weighted(_first - _second))
)


@dataclass(frozen=True)
class Geometry:
    """A norm of states, and the constants of a model in that norm.

    Operators from weights to states, L_w bounds them, have the norm induced by it and by the
    Euclidean norm of the weights; ∂p/∂h, which L_p bounds, the dual norm. Texts of assumptions
    name the constants with the ``suffix`` that the vocabulary gives to those of this norm.
    """

    text: str
    norm: Callable[[Expr], Expr]
    lam: Expr
    S_0: Expr
    B_h: Expr
    L_w: Expr
    beta_hh: Expr
    beta_wh: Expr
    L_p: Expr
    beta_p: Expr
    triangle: Axiom = base.TRIANGLE_WEIGHTED
    submultiplicative: Axiom = base.SUBMULTIPLICATIVE_WEIGHTED
    suffix: str = ""

    def geometric_sum(self, steps: Expr) -> Expr:
        """g(t) = 1 + λ + … + λ^{t−1} = (1 − λ^t)/(1 − λ)."""
        return (1 - self.lam**steps) / (1 - self.lam)

    def start_bound(self, time: Expr) -> Expr:
        """B_s = min(S_0 g(s), B_h), which bounds ‖h_s‖."""
        # As it stands: SymPy would compare the two each time this room is imported.
        return Min(self.S_0 * self.geometric_sum(time), self.B_h, evaluate=False)

    def gradient_norm_uses(
        self, first: Expr, second: Expr, *runs: tuple[Expr, Expr]
    ) -> tuple[Use, ...]:
        """Use of the assumption that gradients are Euclidean; none if states are measured so."""
        if self.norm is norm:
            return ()
        return (at("gradient norm", first, second, x, *runs[0], *runs[1]),)

    @property
    def gradient_assumptions(self) -> tuple[Assumption, ...]:
        """Assumption that gradients are Euclidean; none if states are measured so."""
        return () if self.norm is norm else (GRADIENT_NORM,)

    # How the contraction is used, of two runs and of their steps.

    @property
    def setup_steps(self) -> tuple[Step, ...]:
        """Steps that must precede the main step; none in a norm that holds everywhere."""
        return ()

    @property
    def contraction_from_zero(self) -> tuple[Use, ...]:
        """Uses: ‖φ(h_j, x) − φ(0, x)‖ ≤ λ‖h_j‖."""
        return (at("contraction", h, 0, x_first),)

    @property
    def contraction_of_runs(self) -> tuple[Use, ...]:
        """Uses: ‖φ(h, x) − φ(ĥ, x)‖ ≤ λ‖h − ĥ‖ of the full and the fresh run."""
        return (at("contraction", full, fresh, x_next),)

    @property
    def derivative_bound(self) -> tuple[Use, ...]:
        """Uses: ‖∂φ/∂h‖ ≤ λ along a run."""
        derivative = DERIVATIVE_IN_STATE.at(self.lam, fresh, x_next)
        return (derivative, "contraction", at("differentiable", s, j))

    # How texts name the constants.

    @property
    def lam_text(self) -> str:
        """Text of λ, with the norm's suffix."""
        return f"λ{self.suffix}"

    def constant_text(self, constant: str) -> str:
        """Text of a constant: β_hh, or its name in the vocabulary with the norm's suffix."""
        return f"{constant}{self.suffix}" if self.suffix else constant.replace("beta", "β")

    # What is presupposed of the model.

    @property
    def contraction_assumptions(self) -> tuple[Assumption, ...]:
        """Assumptions: φ contracts in the state, and what using it presupposes."""
        return (self.contraction,)

    @property
    def slopes(self) -> tuple[Assumption, ...]:
        """Assumptions: ‖∂φ/∂h‖ ≤ λ, and what using it presupposes."""
        return (self.contraction,)

    @property
    def contraction(self) -> Assumption:
        """Assumption: φ is λ-Lipschitz in the state."""
        lam = self.lam_text
        bound = le(self.norm(phi(a, c) - phi(b, c)), self.lam * self.norm(a - b))
        return assume(
            "contraction",
            f"φ is {lam}-Lipschitz in the state{self.text}: ‖φ(h, x) − φ(h′, x)‖ ≤ {lam}‖h − h′‖",
            forall=(a, b, c),
        ).that(bound)

    @property
    def contractive(self) -> Assumption:
        """Assumption: λ < 1."""
        return Assumption("contractive", f"{self.lam_text} < 1", lt(self.lam, ONE))

    @property
    def drive(self) -> Assumption:
        """Assumption: S_0 bounds ‖φ(0, x_t)‖ for every input."""
        return assume(
            "drive", f"S_0{self.suffix} bounds ‖φ(0, x_t)‖ for every input{self.text}", forall=(m,)
        ).that(le(self.norm(phi(0, entry(x, m + 1))), self.S_0))

    @property
    def states(self) -> Assumption:
        """Assumption: B_h bounds ‖h_t‖."""
        return assume("states", f"B_h{self.suffix} bounds ‖h_t‖{self.text}", forall=(j,)).that(
            le(self.norm(state(x, 0, j)), self.B_h)
        )

    @property
    def weights(self) -> Assumption:
        """Assumption: L_w bounds ‖∂φ/∂w‖ along the runs."""
        return assume(
            "lipschitz weights",
            f"L_w{self.suffix} bounds ‖∂φ/∂w‖ along the runs{self.text}",
            forall=(s, j),
        ).that(le(self.norm(B_fresh), self.L_w))

    @property
    def smooth(self) -> Assumption:
        """Assumption: β_hh and β_wh are Lipschitz constants of ∂φ/∂h and ∂φ/∂w; not for ReLU."""
        gap, beta_wh = self.norm(full - fresh), self.constant_text("beta_wh")
        curvature_text = (
            f"{self.constant_text('beta_hh')} and {beta_wh} are Lipschitz constants of ∂φ/∂h and"
        )
        return assume(
            "smooth",
            f"φ is smooth, β_ρ is finite: {curvature_text} of ∂φ/∂w in the state, along the runs"
            f"{self.text}",
            forall=(s, j),
            condition=le(ZERO, beta_rho),
        ).that(
            le(self.norm(A_full - A_fresh), self.beta_hh * gap),
            le(self.norm(B_full - B_fresh), self.beta_wh * gap),
        )

    @property
    def loss(self) -> Assumption:
        """Assumption: L_p bounds the loss gradient ‖∇p(h_t)‖."""
        return assume(
            "lipschitz loss", f"L_p{self.suffix} bounds ‖∇p(h_t)‖{self.text}", forall=(j,)
        ).that(le(self.norm(d_loss(state(x, 0, j))), self.L_p))

    @property
    def smooth_loss(self) -> Assumption:
        """Assumption: ∇p is β_p-Lipschitz along the runs."""
        bound = le(self.norm(d_loss(full) - d_loss(fresh)), self.beta_p * self.norm(full - fresh))
        beta_p = self.constant_text("beta_p")
        return assume(
            "smooth loss", f"∇p is {beta_p}-Lipschitz along the runs{self.text}", forall=(s, j)
        ).that(bound)


CONSTANTS = "lam S_0 B_h L_w beta_hh beta_wh L_p beta_p".split()
_EUCLIDEAN_CONSTANTS: dict[str, Any] = {name: symbols(name)[0] for name in CONSTANTS}
EUCLIDEAN = Geometry(
    text="",
    norm=norm,
    triangle=base.TRIANGLE,
    submultiplicative=base.SUBMULTIPLICATIVE,
    **_EUCLIDEAN_CONSTANTS,
)
G = TypeVar("G", bound=Geometry)


def make_geometry(text: str, suffix: str, *, geometry_type: type[G]) -> G:
    """Geometry of another norm of states."""
    constants: dict[str, Any] = {name: symbols(f"{name}_{suffix}")[0] for name in CONSTANTS}
    return geometry_type(text, weighted, suffix=f"_{suffix}", **constants)
