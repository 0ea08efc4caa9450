"""One step of an LSTM in its box: what it makes of two states, in the maximum norm.

Products differ by |y z − y′z′| ≤ |y||z − z′| + |z′||y − y′|, so that with bounds on how far the
gates open and on how far they move, |Δc⁺_j| ≤ f̄|Δc_j| + B_c|Δf_j| + ī|Δg_j| + ḡ|Δi_j|, and |Δh⁺_j|
≤ ō|Δc⁺_j| + tanh B_c |Δo_j|.
"""

from collections.abc import Callable

from sympy import Abs, Expr, tanh

from rnnbounds.theory.axioms.entries import DIFFERENCES
from rnnbounds.theory.language import Use, at, le
from rnnbounds.theory.language.terms.gates import boxed, to_cell, to_output
from rnnbounds.theory.language.terms.variables import a, b, i, m, v
from rnnbounds.theory.language.terms.vectors import max_norm, phi
from rnnbounds.theory.models.gates.gate import dh, new, one, two
from rnnbounds.theory.models.gates.gated_steps import ENTRY, FED, SLOPES_OF_GATES, by_entries
from rnnbounds.theory.models.gates.lstm_model import GATES, STAYS, B_c, F, G, I, O, cell, tau
from rnnbounds.theory.proof import Step, step

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
