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
from rnnbounds.theory.language.terms.networks import boxed, output_box, sigmoid, to_output
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import a, b, c, i, m, v, vector, z
from rnnbounds.theory.language.terms.vectors import function, max_norm, phi
from rnnbounds.theory.models.gates import gate
from rnnbounds.theory.models.gates.gate import Gate, dh, gate_norms, next_input, s_1, s_2
from rnnbounds.theory.proof import Step, step

z_low, c_n_inf = symbols("z_low c_n_inf")
R, Z = Gate("r", sigmoid), Gate("z", sigmoid)
hidden_bias = vector("c_n")
reset = function("reset")  # reset(h, x) = r∘h


def output_entry(state: Expr) -> Expr:
    """Entry h_i of the output."""
    return part(to_output * state, i)


@dataclass(frozen=True)
class Candidate(Gate):
    """The candidate ν, in Cho's convention or in torch's."""

    cho: bool = False

    def hidden(self, state: Expr) -> Expr:
        """Recurrent part W_n h + c_n of the candidate, before the reset gate."""
        return part(self.matrix * to_output * state + hidden_bias, i)

    def preactivation(self, state: Expr, inputs: Expr = next_input) -> Expr:
        """Pre-activation of the candidate, the argument of tanh."""
        if self.cho:
            return part(self.matrix * reset(state, inputs) + self.offset(inputs), i)
        return part(self.offset(inputs), i) + R.value(state, inputs) * self.hidden(state)


N, CHO_N = Candidate("n", tanh), Candidate("n", tanh, cho=True)


def _gru_assumption(candidate: Candidate, text: str, *more: Statement) -> Assumption:
    update = Z.value(v, c)
    new_output = (1 - update) * candidate.value(v, c) + update * output_entry(v)
    return assume(
        "gru",
        f"h⁺ = (1 − z)∘ν + z∘h with r, z = σ(W h + U x + b) and {text}",
        forall=(v, c, i),
    ).that(eq(output_entry(phi(v, c)), new_output), *more)


GRU = _gru_assumption(N, "ν = tanh(U_n x + b_n + r∘(W_n h + c_n))")
CHO = _gru_assumption(
    CHO_N,
    "ν = tanh(W_n(r∘h) + U_n x + b_n)",
    eq(part(reset(v, c), i), R.value(v, c) * output_entry(v)),
)
STATE = assume("joint state", "the state is the output h", forall=(z, v)).that(
    eq(max_norm(to_output * v), max_norm(v))
)
BOX = assume("box", "the box: |h_j| ≤ h̄_j ≤ 1", forall=(v, i)).that(
    le(Abs(output_entry(boxed(v))), output_box(i)), le(output_box(i), ONE)
)
OPEN = assume(
    "gates",
    "r̄, z̄ and z_low bound the gates for states of the box and inputs ‖x_t‖ ≤ B_x, unit by unit "
    "and all",
    forall=(v, m, i),
).that(
    le(Abs(R.value(boxed(v))), R.unit_bound("most")),
    le(R.unit_bound("most"), R.peak),
    le(Z.unit_bound("least"), Z.value(boxed(v))),
    le(Z.value(boxed(v)), Z.unit_bound("most")),
    le(z_low, Z.unit_bound("least")),
    le(Z.unit_bound("most"), Z.peak),
)
ROWS = gate_norms(R, Z, N)
HIDDEN_BIAS = assume("hidden bias", "c_n_inf bounds ‖c_n‖_∞, torch's b_hn").that(
    le(max_norm(hidden_bias), c_n_inf)
)
torch_kappa = R.peak * N.size + R.size * (N.size + c_n_inf) / 4
cho_kappa = N.size * (R.peak + R.size / 4)


@cache
def contraction_factor(kappa: Expr, gate_change: Expr = Z.size / 2) -> Expr:
    """The larger of ζ + (1 − ζ)κ at the ends ζ of the update gate, and ‖W_z‖/2."""
    return (
        Max(z_low + (1 - z_low) * kappa, Z.peak + (1 - Z.peak) * kappa, evaluate=False)
        + gate_change
    )


# Bounds on how far h, ν and z move, and on what z makes of the first two, whatever they are.
moves_h, moves_n, moves_z, L = (
    Symbol(name, real=True) for name in ("moves_h", "moves_n", "moves_z", "L_")
)

output_change = phi(s_1, next_input) - phi(s_2, next_input)


def output_change_step(candidate: Candidate) -> Step:
    """Step: bound on |Δh⁺_i| from bounds on |Δh|, |Δν| and |Δz|."""
    return step(
        "an output moves",
        le(
            Abs(output_entry(phi(s_1, next_input)) - output_entry(phi(s_2, next_input))),
            L + 2 * moves_z,
        ),
        forall=(a, b, m, i, moves_h, moves_n, moves_z, L),
        given=(
            le(Abs(output_entry(s_1) - output_entry(s_2)), moves_h),
            le(Abs(candidate.value(s_1) - candidate.value(s_2)), moves_n),
            le(Abs(Z.value(s_1) - Z.value(s_2)), moves_z),
            *(le(update * moves_h + (1 - update) * moves_n, L) for update in (z_low, Z.peak)),
        ),
    ).by(
        at("gru", s_1, next_input, i),
        at("gru", s_2, next_input, i),
        at("gates", a, m, i),
        at("box", b, i),
        at("tanh is at most 1", candidate.preactivation(s_2)),
        at("σ is at most 1", Z.preactivation(s_1)),
    )


INSIDE = gate.bound_by_entries(
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
        le(Abs(N.value(s_1) - N.value(s_2)), torch_kappa * dh),
        forall=(a, b, m, i),
    ).by(
        at("tanh moves no more", N.preactivation(s_1), N.preactivation(s_2)),
        at("pre-activations", N.matrix, to_output * s_1, to_output * s_2, hidden_bias, i),
        at("hidden part", b, i),
        at("gate r", a, b, m, i),
        at("gates", a, m, i),
        "gate norms",
    ),
)
resets, resets_move = tuple(reset(s, next_input) for s in (s_1, s_2)), (R.peak + R.size / 4) * dh
CHO_CANDIDATE = (
    *gate.bound_by_entries(
        "a reset output moves",
        "the reset outputs move",
        resets[0] - resets[1],
        resets_move,
        (a, b, m),
        DIFFERENCES.at(*resets, i),
        at("gru", s_1, next_input, i),
        at("gru", s_2, next_input, i),
        at("an entry moves", to_output, s_1, s_2, i),
        at("box", b, i),
        at("gate r", a, b, m, i),
        at("gates", a, m, i),
    ),
    step(
        "the candidate moves",
        le(Abs(CHO_N.value(s_1) - CHO_N.value(s_2)), cho_kappa * dh),
        forall=(a, b, m, i),
    ).by(
        at("tanh moves no more", CHO_N.preactivation(s_1), CHO_N.preactivation(s_2)),
        at("pre-activations", N.matrix, *resets, N.offset(next_input), i),
        at("the reset outputs move", a, b, m),
        "gate norms",
    ),
)


def max_norm_steps(candidate: Candidate, kappa: Expr) -> tuple[Step, ...]:
    """Steps that bound ‖Δh⁺‖_∞ by the factor times ‖Δh‖_∞."""
    change_bounds = (dh, kappa * dh, Z.max_change, contraction_factor(kappa, ZERO) * dh)
    return (
        *gate.SLOPES_OF_GATES,
        gate.TANH_BELOW_ONE,
        gate.SIGMOID_BELOW_ONE,
        gate.FED,
        gate.ENTRY,
        R.change_step,
        Z.change_step,
        *(CHO_CANDIDATE if candidate.cho else (*INSIDE, *TORCH_CANDIDATE)),
        output_change_step(candidate),
        *gate.bound_by_entries(
            "the outputs move, each",
            "the outputs move",
            to_output * output_change,
            contraction_factor(kappa) * dh,
            (a, b, m),
            DIFFERENCES.at(to_output * phi(s_1, next_input), to_output * phi(s_2, next_input), i),
            at("an output moves", a, b, m, i, *change_bounds),
            at("an entry moves", to_output, s_1, s_2, i),
            at("the candidate moves", a, b, m, i),
            at("gate z", a, b, m, i),
        ),
    )
