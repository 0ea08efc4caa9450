"""What the claims on the GRU presuppose of the cell, in both conventions, and of its box.

    h⁺ = (1 − z)∘ν + z∘h,  r, z = σ(W h + U x + b),  ν = tanh(U_n x + b_n + r∘(W_n h + c_n))

is torch's; Cho's candidate is ν = tanh(W_n(r∘h) + U_n x + b_n).  The state is the output h.
"""

from dataclasses import dataclass
from functools import cache

from sympy import Abs, Expr, Max, tanh

from rnnbounds.theory.language import ONE, Assumption, Statement, assume, eq, le, symbols
from rnnbounds.theory.language.terms.gates import boxed, output_box, sigmoid, to_output
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import c, i, m, v, vector, z
from rnnbounds.theory.language.terms.vectors import function, max_norm, phi
from rnnbounds.theory.models.gates.gate import Gate, gate_norms, new

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
        """What tanh is taken of."""
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
