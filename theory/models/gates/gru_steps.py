"""One step of a GRU in its box: what it makes of two states, unit by unit.

    Δh⁺ = z Δh + (1 − z) Δν + Δz (h′ − ν′),

and as z is between two bounds, the worst is one of them.
"""

from sympy import Abs, Expr, symbols

from rnnbounds.theory.axioms.base import SUBMULTIPLICATIVE_MAX
from rnnbounds.theory.axioms.entries import DIFFERENCES, LARGEST_ENTRY
from rnnbounds.theory.language import ONE, ZERO, at, le
from rnnbounds.theory.language.terms.gates import boxed, to_output
from rnnbounds.theory.language.terms.variables import a, b, i, m, v
from rnnbounds.theory.language.terms.vectors import phi
from rnnbounds.theory.models.gates import gated_steps
from rnnbounds.theory.models.gates.gate import dh, new, one, two
from rnnbounds.theory.models.gates.gru_model import (
    CHO_N,
    Candidate,
    N,
    R,
    Z,
    c_n_inf,
    cho_kappa,
    factor,
    hidden_bias,
    output,
    reset,
    torch_kappa,
    z_low,
)
from rnnbounds.theory.proof import Step, step

# Bounds on how far h, ν and z move, and on what z makes of the first two, whatever they are.
moves_h, moves_n, moves_z, L = symbols("moves_h moves_n moves_z L_", real=True)

change = phi(one, new) - phi(two, new)


def output_moves(candidate: Candidate) -> Step:
    """|Δh⁺_i|, from how far ν and z move."""
    return step(
        "an output moves",
        le(Abs(output(phi(one, new)) - output(phi(two, new))), L + 2 * moves_z),
        forall=(a, b, m, i, moves_h, moves_n, moves_z, L),
        given=(
            le(Abs(output(one) - output(two)), moves_h),
            le(Abs(candidate.opened(one) - candidate.opened(two)), moves_n),
            le(Abs(Z.opened(one) - Z.opened(two)), moves_z),
            *(le(kept * moves_h + (1 - kept) * moves_n, L) for kept in (z_low, Z.bar)),
        ),
    ).by(
        at("gru", one, new, i),
        at("gru", two, new, i),
        at("gates", a, m, i),
        at("box", b, i),
        at("tanh is at most 1", candidate.fed(two)),
        at("σ is at most 1", Z.fed(one)),
    )


INSIDE = gated_steps.by_entries(
    "an output inside", "outputs inside", to_output * boxed(v), ONE, (v,), at("box", v, i)
)
HIDDEN = step("hidden part", le(Abs(N.hidden(boxed(v))), N.size + c_n_inf), forall=(v, i)).by(
    DIFFERENCES.at(N.matrix * to_output * boxed(v), -hidden_bias, i),
    LARGEST_ENTRY.at(N.matrix * to_output * boxed(v), i),
    LARGEST_ENTRY.at(-hidden_bias, i),
    SUBMULTIPLICATIVE_MAX.at(N.matrix, to_output * boxed(v)),
    at("outputs inside", v),
    "gate norms",
    "hidden bias",
)
TORCH_CANDIDATE = (
    HIDDEN,
    step(
        "the candidate moves",
        le(Abs(N.opened(one) - N.opened(two)), torch_kappa * dh),
        forall=(a, b, m, i),
    ).by(
        at("tanh moves no more", N.fed(one), N.fed(two)),
        at("pre-activations", N.matrix, to_output * one, to_output * two, hidden_bias, i),
        at("hidden part", b, i),
        at("gate r", a, b, m, i),
        at("gates", a, m, i),
        "gate norms",
    ),
)
resets, resets_move = tuple(reset(s, new) for s in (one, two)), (R.bar + R.size / 4) * dh
CHO_CANDIDATE = (
    *gated_steps.by_entries(
        "a reset output moves",
        "the reset outputs move",
        resets[0] - resets[1],
        resets_move,
        (a, b, m),
        DIFFERENCES.at(*resets, i),
        at("gru", one, new, i),
        at("gru", two, new, i),
        at("an entry moves", to_output, one, two, i),
        at("box", b, i),
        at("gate r", a, b, m, i),
        at("gates", a, m, i),
    ),
    step(
        "the candidate moves",
        le(Abs(CHO_N.opened(one) - CHO_N.opened(two)), cho_kappa * dh),
        forall=(a, b, m, i),
    ).by(
        at("tanh moves no more", CHO_N.fed(one), CHO_N.fed(two)),
        at("pre-activations", N.matrix, *resets, N.offset(new), i),
        at("the reset outputs move", a, b, m),
        "gate norms",
    ),
)


def steps(candidate: Candidate, kappa: Expr) -> tuple[Step, ...]:
    """All, in the maximum norm."""
    moved = (dh, kappa * dh, Z.moves, factor(kappa, ZERO) * dh)
    return (
        *gated_steps.SLOPES_OF_GATES,
        gated_steps.TANH_BELOW_ONE,
        gated_steps.SIGMOID_BELOW_ONE,
        gated_steps.FED,
        gated_steps.ENTRY,
        R.step,
        Z.step,
        *(CHO_CANDIDATE if candidate.cho else (*INSIDE, *TORCH_CANDIDATE)),
        output_moves(candidate),
        *gated_steps.by_entries(
            "the outputs move, each",
            "the outputs move",
            to_output * change,
            factor(kappa) * dh,
            (a, b, m),
            DIFFERENCES.at(to_output * phi(one, new), to_output * phi(two, new), i),
            at("an output moves", a, b, m, i, *moved),
            at("an entry moves", to_output, one, two, i),
            at("the candidate moves", a, b, m, i),
            at("gate z", a, b, m, i),
        ),
    )
