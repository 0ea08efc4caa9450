"""The GRU in both conventions, its box, and what one step makes of two states of it.

    h⁺ = (1 − z)∘ν + z∘h,  r, z = σ(W h + U x + b),  ν = tanh(U_n x + b_n + r∘(W_n h + c_n))

is torch's; Cho's candidate is ν = tanh(W_n(r∘h) + U_n x + b_n).  The state is the output h.
With Δh⁺ = z Δh + (1 − z) Δν + Δz (h′ − ν′), and z between two bounds, the worst is one of them.
"""

from dataclasses import dataclass
from functools import cache

from sympy import Abs, Expr, Max, Symbol, tanh

from rnnbounds.theory.axioms.base import SUBMULTIPLICATIVE_MAX
from rnnbounds.theory.axioms.entries import DIFFERENCES, LARGEST_ENTRY
from rnnbounds.theory.language import ONE, ZERO, Assumption, Statement, assume, at, eq, le, symbols
from rnnbounds.theory.language.terms.gates import boxed, output_box, sigmoid, to_output
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import a, b, c, i, m, v, vector, z
from rnnbounds.theory.language.terms.vectors import function, max_norm, phi
from rnnbounds.theory.models.gates import gate
from rnnbounds.theory.models.gates.gate import Gate, dh, gate_norms, new, one, two
from rnnbounds.theory.proof import Step, step

z_low, c_n_inf = symbols("z_low c_n_inf")
R, Z = Gate("r", sigmoid), Gate("z", sigmoid)
hidden_bias = vector("c_n")
reset = function("reset", module=__name__)  # reset(h, x) = r∘h


def output(state: Expr) -> Expr:
    """h_i."""
    return part(to_output * state, i)


@dataclass(frozen=True)
class Candidate(Gate):
    """The candidate ν, in Cho's convention or in torch's."""

    cho: bool = False

    def hidden(self, state: Expr) -> Expr:
        """W_n h + c_n, before the reset gate."""
        return part(self.matrix * to_output * state + hidden_bias, i)

    def fed(self, state: Expr, inputs: Expr = new) -> Expr:
        """Pre-activation of the candidate, the argument of tanh."""
        if self.cho:
            return part(self.matrix * reset(state, inputs) + self.offset(inputs), i)
        return part(self.offset(inputs), i) + R.opened(state, inputs) * self.hidden(state)


N, CHO_N = Candidate("n", tanh), Candidate("n", tanh, cho=True)


def _cell(candidate: Candidate, text: str, *more: Statement) -> Assumption:
    kept = Z.opened(v, c)
    new_output = (1 - kept) * candidate.opened(v, c) + kept * output(v)
    return assume(
        "gru",
        f"h⁺ = (1 − z)∘ν + z∘h with r, z = σ(W h + U x + b) and {text}",
        forall=(v, c, i),
        ties=True,
    ).that(eq(output(phi(v, c)), new_output), *more)


GRU = _cell(N, "ν = tanh(U_n x + b_n + r∘(W_n h + c_n))")
CHO = _cell(
    CHO_N, "ν = tanh(W_n(r∘h) + U_n x + b_n)", eq(part(reset(v, c), i), R.opened(v, c) * output(v))
)
STATE = assume("joint state", "the state is the output h", forall=(z, v)).that(
    eq(max_norm(to_output * v), max_norm(v))
)
BOX = assume("box", "the box: |h_j| ≤ h̄_j ≤ 1", forall=(v, i)).that(
    le(Abs(output(boxed(v))), output_box(i)), le(output_box(i), ONE)
)
OPEN = assume(
    "gates",
    "r̄, z̄ and z_low bound the gates for states of the box and inputs ‖x_t‖ ≤ B_x, unit by unit "
    "and all",
    forall=(v, m, i),
).that(
    le(Abs(R.opened(boxed(v))), R.of_unit("most")),
    le(R.of_unit("most"), R.bar),
    le(Z.of_unit("least"), Z.opened(boxed(v))),
    le(Z.opened(boxed(v)), Z.of_unit("most")),
    le(z_low, Z.of_unit("least")),
    le(Z.of_unit("most"), Z.bar),
)
ROWS = gate_norms(R, Z, N)
HIDDEN_BIAS = assume("hidden bias", "c_n_inf bounds ‖c_n‖_∞, torch's b_hn").that(
    le(max_norm(hidden_bias), c_n_inf)
)
torch_kappa = R.bar * N.size + R.size * (N.size + c_n_inf) / 4
cho_kappa = N.size * (R.bar + R.size / 4)


@cache
def factor(kappa: Expr, turned: Expr = Z.size / 2) -> Expr:
    """The larger of ζ + (1 − ζ)κ at the ends ζ of the update gate, and ‖W_z‖/2."""
    return Max(z_low + (1 - z_low) * kappa, Z.bar + (1 - Z.bar) * kappa, evaluate=False) + turned


# Bounds on how far h, ν and z move, and on what z makes of the first two, whatever they are.
moves_h, moves_n, moves_z, L = (
    Symbol(name, real=True) for name in ("moves_h", "moves_n", "moves_z", "L_")
)

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


INSIDE = gate.by_entries(
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
    *gate.by_entries(
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
        *gate.SLOPES_OF_GATES,
        gate.TANH_BELOW_ONE,
        gate.SIGMOID_BELOW_ONE,
        gate.FED,
        gate.ENTRY,
        R.step,
        Z.step,
        *(CHO_CANDIDATE if candidate.cho else (*INSIDE, *TORCH_CANDIDATE)),
        output_moves(candidate),
        *gate.by_entries(
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
