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
from rnnbounds.theory.language.terms.gates import (
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
    by_entries,
    dh,
    gate_norms,
    new,
    one,
    two,
)
from rnnbounds.theory.proof import Step, step

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


next_one, next_two = phi(one, new), phi(two, new)
dc = max_norm(to_cell * (one - two))
moved_a = G.bar * I.size / 4 + I.bar * G.size + B_c * F.size / 4
moved_q = O.size * tau / 4
to_cells = moved_a * dh + F.bar * dc
to_outputs = moved_q * dh + O.bar * to_cells

Part = Callable[[Expr], Expr]


def next_cell(state: Expr) -> Expr:
    """c⁺_i."""
    return cell(phi(state, new))


SQUASHED = step("a cell squashed", le(Abs(tanh(next_cell(boxed(v)))), tau), forall=(v, m, i)).by(
    at("a cell stays", v, m, i), at("box", v, i), at("tanh inside", next_cell(boxed(v)), B_c), "tau"
)


def product(name: str, parts: tuple[Part, Part], bound: Expr, *uses: Use) -> Step:
    """How far a product of parts of the state moves, from how far these do."""
    moved = parts[0](one) * parts[1](one) - parts[0](two) * parts[1](two)
    return step(name, le(Abs(moved), bound), forall=(a, b, m, i)).by(*uses)


gates = at("gates", a, m, i), at("gates", b, m, i)
move = {gate: at(f"gate {gate.name}", a, b, m, i) for gate in GATES}
CELL_DIFFERS = DIFFERENCES.at(to_cell * next_one, to_cell * next_two, i)
STEPS = (
    *SLOPES_OF_GATES,
    FED,
    ENTRY,
    *(gate.step for gate in GATES),
    *STAYS,
    SQUASHED,
    product(
        "what is kept",
        (F.opened, cell),
        F.bar * dc + B_c * F.moves,
        gates[0],
        move[F],
        at("box", b, i),
        at("an entry moves", to_cell, one, two, i),
    ),
    product(
        "what is added",
        (I.opened, G.opened),
        I.bar * G.moves + G.bar * I.moves,
        *gates,
        move[I],
        move[G],
    ),
    *by_entries(
        "the cells move, each",
        "the cells move",
        to_cell * (next_one - next_two),
        to_cells,
        (a, b, m),
        CELL_DIFFERS,
        at("cells", one, new, i),
        at("cells", two, new, i),
        at("what is kept", a, b, m, i),
        at("what is added", a, b, m, i),
    ),
    step(
        "a cell moves", le(Abs(next_cell(one) - next_cell(two)), to_cells), forall=(a, b, m, i)
    ).by("the cells move, each", CELL_DIFFERS),
    *by_entries(
        "the outputs move, each",
        "the outputs move",
        to_output * (next_one - next_two),
        to_outputs,
        (a, b, m),
        DIFFERENCES.at(to_output * next_one, to_output * next_two, i),
        at("outputs", one, new, i),
        at("outputs", two, new, i),
        gates[0],
        move[O],
        at("a cell squashed", b, m, i),
        at("a cell moves", a, b, m, i),
        at("tanh moves no more", next_cell(one), next_cell(two)),
    ),
)
