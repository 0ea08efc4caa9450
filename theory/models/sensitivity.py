"""Lemmas on gradients: how the state depends on the weights, and how this dependence decays.

S_t = dh_t/dw obeys S_t = A_t S_{t-1} + B_t with A_t = ∂φ/∂h and B_t = ∂φ/∂w.  Two runs on the same
inputs, the full one and a fresh one from zero at time s, are compared j steps later.
"""

from sympy import Symbol

from rnnbounds.theory.axioms.gradients import CHAIN_RULE_WEIGHTS, WEIGHTS_START
from rnnbounds.theory.language import Law, Statement, at, le
from rnnbounds.theory.language.terms.networks import sensitivity
from rnnbounds.theory.language.terms.variables import j, s, x
from rnnbounds.theory.language.terms.vectors import RECURSION, RUN, entry, phi, state
from rnnbounds.theory.models.geometry import A_fresh, B_fresh, Geometry, S_fresh, start, x_next
from rnnbounds.theory.proof import Step, step


def state_steps(
    g: Geometry,
    step_name: str = "state, one step",
    name: str = "state",
    weights: Symbol | None = None,
    given: tuple[Statement, ...] = (),
) -> tuple[Step, ...]:
    """‖h_t‖ ≤ S_0 g(t): steps of these names for one step and for all, of the weights if given."""
    w = () if weights is None else (weights,)
    h, x_first = state(x, 0, j, *w), entry(x, j + 1)
    zero_step, recursion = phi(0, x_first, *w), _recursion(*w)
    from_zero = (
        g.contraction_from_zero if weights is None else (at("contraction", weights, h, 0, x_first),)
    )
    bound = le(g.norm(state(x, 0, j + 1, *w)), g.lam * g.norm(h) + g.S_0)
    return (
        step(step_name, bound, forall=(*w, j), given=given).by(
            recursion.at(*w, x, 0, j),
            g.triangle.at(phi(h, x_first, *w) - zero_step, zero_step),
            *from_zero,
            at("drive", *w, j),
        ),
        step(
            name, le(g.norm(h), g.S_0 * g.geometric_sum(j)), forall=(*w, j), given=given
        ).by_induction(base=recursion.at(*w, x, 0, j), step=(at(step_name, *w, j), "contractive")),
    )


def _recursion(*w: Symbol) -> Law:
    return RUN if w else RECURSION


def start_steps(g: Geometry) -> tuple[Step, ...]:
    """Steps ‖h_t‖ ≤ S_0 g(t) for one step and all, and so ‖h_s‖ ≤ B_s."""
    return (
        *state_steps(g),
        step("start", le(g.norm(start), g.start_bound(s)), forall=(s,)).by(
            at("state", s), at("states", s), "contractive"
        ),
    )


def forgetting_steps(
    g: Geometry, weights: Symbol | None = None, given: tuple[Statement, ...] = ()
) -> tuple[Step, ...]:
    """‖h_{s+j} − ĥ_{s+j}‖ ≤ λ^j ‖h_s‖; with the weights `weights`."""
    w = () if weights is None else (weights,)
    recursion, run_ends = _recursion(*w), (state(x, 0, s + j, *w), state(x, s, j, *w))
    contraction_uses = (
        g.contraction_of_runs
        if weights is None
        else (at("contraction", weights, *run_ends, x_next),)
    )
    gap, gap_next = (
        g.norm(state(x, 0, s + steps, *w) - state(x, s, steps, *w)) for steps in (j, j + 1)
    )
    bound = le(gap, g.lam**j * g.norm(state(x, 0, s, *w)))
    return (
        step("the same input to both", le(gap_next, g.lam * gap), (*w, s, j), given).by(
            recursion.at(*w, x, 0, s + j), recursion.at(*w, x, s, j), *contraction_uses
        ),
        step("forgetting", bound, forall=(*w, s, j), given=given).by_induction(
            base=recursion.at(*w, x, s, 0), step=at("the same input to both", *w, s, j)
        ),
    )


def factor_step(g: Geometry) -> Step:
    """Step: ‖∂φ/∂h‖ ≤ λ."""
    return step("factor", le(g.norm(A_fresh), g.lam), forall=(s, j)).by(*g.derivative_bound)


def sensitivity_steps(g: Geometry) -> tuple[Step, ...]:
    """Steps: ‖S_j‖ ≤ L_w g(j) of a run from zero at any time."""
    return (
        factor_step(g),
        step(
            "sensitivity, one step",
            le(g.norm(sensitivity(x, s, j + 1)), g.lam * g.norm(S_fresh) + g.L_w),
            forall=(s, j),
        ).by(
            CHAIN_RULE_WEIGHTS.at(x, s, j),
            at("differentiable", s, j),
            g.triangle.at(A_fresh * S_fresh, B_fresh),
            g.submultiplicative.at(A_fresh, S_fresh),
            at("factor", s, j),
            at("lipschitz weights", s, j),
        ),
        step(
            "sensitivity", le(g.norm(S_fresh), g.L_w * g.geometric_sum(j)), forall=(s, j)
        ).by_induction(
            base=WEIGHTS_START.at(x, s), step=(at("sensitivity, one step", s, j), "contractive")
        ),
    )
