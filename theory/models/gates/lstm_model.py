"""What the claims on the LSTM presuppose of the cell and of its invariant box.

    c⁺ = f∘c + i∘g,  h⁺ = o∘tanh c⁺,  i, f, o = σ(W h + U x + b),  g = tanh(W_g h + U_g x + b_g),

and |c⁺_j| ≤ f̄_j|c_j| + ī_j ḡ_j ≤ c̄_j keeps the cells in the box (Miller & Hardt, Proposition 1).
"""

from sympy import Abs, Expr, tanh

from rnnbounds.theory.language import assume, at, eq, le, symbols
from rnnbounds.theory.language.terms.gates import (
    boxed,
    cell_box,
    output_box,
    sigmoid,
    to_cell,
    to_output,
)
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import c, i, m, v
from rnnbounds.theory.language.terms.vectors import phi
from rnnbounds.theory.models.gates.gate import Gate, gate_norms, new
from rnnbounds.theory.models.gates.gated_steps import TANH_INSIDE, TANH_RISES
from rnnbounds.theory.proof import step

B_c, tau = symbols("B_c tau")
I, F, G, O = GATES = (Gate("i", sigmoid), Gate("f", sigmoid), Gate("g", tanh), Gate("o", sigmoid))


def most(gate: Gate) -> Expr:
    """The largest value on the box, of the unit."""
    return gate.of_unit("most")


def cell(state: Expr) -> Expr:
    """c_i."""
    return part(to_cell * state, i)


def output(state: Expr) -> Expr:
    """h_i."""
    return part(to_output * state, i)


CELLS = assume(
    "cells",
    "c⁺ = f∘c + i∘g with i, f = σ(W h + U x + b) and g = tanh(W_g h + U_g x + b_g)",
    forall=(v, c, i),
    ties=True,
).that(eq(cell(phi(v, c)), F.opened(v, c) * cell(v) + I.opened(v, c) * G.opened(v, c)))
OUTPUTS = assume(
    "outputs", "h⁺ = o∘tanh c⁺ with o = σ(W_o h + U_o x + b_o)", forall=(v, c, i)
).that(eq(output(phi(v, c)), O.opened(v, c) * tanh(cell(phi(v, c)))))
LSTM = (CELLS, OUTPUTS)
BOX = assume(
    "box", "the box of cells: |c_i| ≤ c̄_i ≤ B_c with ī_i ḡ_i ≤ (1 − f̄_i) c̄_i", forall=(v, i)
).that(
    le(Abs(cell(boxed(v))), cell_box(i)),
    le(cell_box(i), B_c),
    le(most(I) * most(G), (1 - most(F)) * cell_box(i)),
)
OPEN = assume(
    "gates",
    "ī, f̄, ḡ, ō bound the gates for states of the box and inputs ‖x_t‖ ≤ B_x, unit by unit and all",
    forall=(v, m, i),
).that(
    *(le(Abs(gate.opened(boxed(v))), most(gate)) for gate in GATES),
    *(le(most(gate), gate.bar) for gate in GATES),
)
OUTPUT_BOX = assume("box of outputs", "the box of outputs: ō_i tanh c̄_i ≤ h̄_i", forall=(i,)).that(
    le(most(O) * tanh(cell_box(i)), output_box(i))
)
TAU = assume("tau", "tau bounds tanh B_c").that(le(tanh(B_c), tau))
ROWS = gate_norms(*GATES)

CELL_STAYS = step(
    "a cell stays", le(Abs(cell(phi(boxed(v), new))), cell_box(i)), forall=(v, m, i)
).by(at("cells", boxed(v), new, i), at("box", v, i), at("gates", v, m, i))
STAYS = (TANH_RISES, TANH_INSIDE, CELL_STAYS)
