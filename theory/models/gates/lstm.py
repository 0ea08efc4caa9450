"""The LSTM, its invariant box, and what one step makes of two states of it.

    c⁺ = f∘c + i∘g,  h⁺ = o∘tanh c⁺,  i, f, o = σ(W h + U x + b),  g = tanh(W_g h + U_g x + b_g),

and |c⁺_j| ≤ f̄_j|c_j| + ī_j ḡ_j ≤ c̄_j keeps the cells in the box (Miller & Hardt, Proposition 1).
Products differ by |y z − y′z′| ≤ |y||z − z′| + |z′||y − y′|, so that with bounds on how far the
gates open and on how far they move, |Δc⁺_j| ≤ f̄|Δc_j| + B_c|Δf_j| + ī|Δg_j| + ḡ|Δi_j|, and |Δh⁺_j|
≤ ō|Δc⁺_j| + tanh B_c |Δo_j|.
"""

from collections.abc import Callable

from sympy import Abs, Expr, tanh

from rnnbounds.theory.axioms.entries import DIFFERENCES
from rnnbounds.theory.language import Use, assume, at, eq, le, symbols
from rnnbounds.theory.language.terms.networks import (
    boxed,
    cell_box,
    output_box,
    sigmoid,
    to_cell,
    to_output,
)
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import a, b, c, i, m, v
from rnnbounds.theory.language.terms.vectors import max_norm, phi
from rnnbounds.theory.models.gates.gate import (
    ENTRY,
    FED,
    SLOPES_OF_GATES,
    TANH_INSIDE,
    TANH_RISES,
    Gate,
    bound_by_entries,
    dh,
    gate_norms,
    next_input,
    s_1,
    s_2,
)
from rnnbounds.theory.proof import Step, step

B_c, tau = symbols("B_c tau")
I, F, G, O = GATES = (Gate("i", sigmoid), Gate("f", sigmoid), Gate("g", tanh), Gate("o", sigmoid))


def unit_maximum(gate: Gate) -> Expr:
    """Bound on the gate's modulus on the box, of unit i."""
    return gate.unit_bound("most")


def cell_entry(state: Expr) -> Expr:
    """Entry c_i of the cell state."""
    return part(to_cell * state, i)


def output_entry(state: Expr) -> Expr:
    """Entry h_i of the output."""
    return part(to_output * state, i)


CELLS = assume(
    "cells",
    "c⁺ = f∘c + i∘g with i, f = σ(W h + U x + b) and g = tanh(W_g h + U_g x + b_g)",
    forall=(v, c, i),
).that(eq(cell_entry(phi(v, c)), F.value(v, c) * cell_entry(v) + I.value(v, c) * G.value(v, c)))
OUTPUTS = assume(
    "outputs", "h⁺ = o∘tanh c⁺ with o = σ(W_o h + U_o x + b_o)", forall=(v, c, i)
).that(eq(output_entry(phi(v, c)), O.value(v, c) * tanh(cell_entry(phi(v, c)))))
LSTM = (CELLS, OUTPUTS)
BOX = assume(
    "box", "the box of cells: |c_i| ≤ c̄_i ≤ B_c with ī_i ḡ_i ≤ (1 − f̄_i) c̄_i", forall=(v, i)
).that(
    le(Abs(cell_entry(boxed(v))), cell_box(i)),
    le(cell_box(i), B_c),
    le(unit_maximum(I) * unit_maximum(G), (1 - unit_maximum(F)) * cell_box(i)),
)
OPEN = assume(
    "gates",
    "ī, f̄, ḡ, ō bound the gates for states of the box and inputs ‖x_t‖ ≤ B_x, unit by unit and all",
    forall=(v, m, i),
).that(
    *(le(Abs(gate.value(boxed(v))), unit_maximum(gate)) for gate in GATES),
    *(le(unit_maximum(gate), gate.peak) for gate in GATES),
)
OUTPUT_BOX = assume("box of outputs", "the box of outputs: ō_i tanh c̄_i ≤ h̄_i", forall=(i,)).that(
    le(unit_maximum(O) * tanh(cell_box(i)), output_box(i))
)
TAU = assume("tau", "tau bounds tanh B_c").that(le(tanh(B_c), tau))
ROWS = gate_norms(*GATES)

CELL_STAYS = step(
    "a cell stays", le(Abs(cell_entry(phi(boxed(v), next_input))), cell_box(i)), forall=(v, m, i)
).by(at("cells", boxed(v), next_input, i), at("box", v, i), at("gates", v, m, i))
STAYS = (TANH_RISES, TANH_INSIDE, CELL_STAYS)


next_one, next_two = phi(s_1, next_input), phi(s_2, next_input)
dc = max_norm(to_cell * (s_1 - s_2))
cell_slope = G.peak * I.size / 4 + I.peak * G.size + B_c * F.size / 4
output_slope = O.size * tau / 4
cell_change = cell_slope * dh + F.peak * dc
output_change = output_slope * dh + O.peak * cell_change

StatePart = Callable[[Expr], Expr]


def next_cell(state: Expr) -> Expr:
    """Entry c⁺_i of the next cell state."""
    return cell_entry(phi(state, next_input))


SQUASHED = step("a cell squashed", le(Abs(tanh(next_cell(boxed(v)))), tau), forall=(v, m, i)).by(
    at("a cell stays", v, m, i), at("box", v, i), at("tanh inside", next_cell(boxed(v)), B_c), "tau"
)


def product_step(name: str, parts: tuple[StatePart, StatePart], bound: Expr, *uses: Use) -> Step:
    """Step: bound on the change of a product of two parts of the state."""
    change = parts[0](s_1) * parts[1](s_1) - parts[0](s_2) * parts[1](s_2)
    return step(name, le(Abs(change), bound), forall=(a, b, m, i)).by(*uses)


gate_uses = at("gates", a, m, i), at("gates", b, m, i)
change_uses = {gate: at(f"gate {gate.name}", a, b, m, i) for gate in GATES}
CELL_DIFFERS = DIFFERENCES.at(to_cell * next_one, to_cell * next_two, i)
STEPS = (
    *SLOPES_OF_GATES,
    FED,
    ENTRY,
    *(gate.change_step for gate in GATES),
    *STAYS,
    SQUASHED,
    product_step(
        "what is kept",
        (F.value, cell_entry),
        F.peak * dc + B_c * F.max_change,
        gate_uses[0],
        change_uses[F],
        at("box", b, i),
        at("an entry moves", to_cell, s_1, s_2, i),
    ),
    product_step(
        "what is added",
        (I.value, G.value),
        I.peak * G.max_change + G.peak * I.max_change,
        *gate_uses,
        change_uses[I],
        change_uses[G],
    ),
    *bound_by_entries(
        "the cells move, each",
        "the cells move",
        to_cell * (next_one - next_two),
        cell_change,
        (a, b, m),
        CELL_DIFFERS,
        at("cells", s_1, next_input, i),
        at("cells", s_2, next_input, i),
        at("what is kept", a, b, m, i),
        at("what is added", a, b, m, i),
    ),
    step(
        "a cell moves", le(Abs(next_cell(s_1) - next_cell(s_2)), cell_change), forall=(a, b, m, i)
    ).by("the cells move, each", CELL_DIFFERS),
    *bound_by_entries(
        "the outputs move, each",
        "the outputs move",
        to_output * (next_one - next_two),
        output_change,
        (a, b, m),
        DIFFERENCES.at(to_output * next_one, to_output * next_two, i),
        at("outputs", s_1, next_input, i),
        at("outputs", s_2, next_input, i),
        gate_uses[0],
        change_uses[O],
        at("a cell squashed", b, m, i),
        at("a cell moves", a, b, m, i),
        at("tanh moves no more", next_cell(s_1), next_cell(s_2)),
    ),
)
