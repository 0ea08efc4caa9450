"""One step of an LSTM in its box: what it makes of two states, unit by unit.

Products differ by |y z − y′z′| ≤ |y||z − z′| + |z′||y − y′|, so that with bounds on how far the
gates open and on how far they move, |Δc⁺_j| ≤ f̄|Δc_j| + c̄|Δf_j| + ī|Δg_j| + ḡ|Δi_j|, and |Δh⁺_j|
≤ ō|Δc⁺_j| + tanh c̄ |Δo_j|.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sympy import Abs, Expr, Symbol, tanh

from theory.language.law import Use, at
from theory.language.statement import le
from theory.language.terms.gates import DIFFERENCES, boxed, to_cell, to_output
from theory.language.terms.vectors import a, b, i, m, max_norm, phi, v
from theory.models.gates.gate import Gate, dh, new, one, two
from theory.models.gates.gated_steps import ENTRY, FED, SLOPES_OF_GATES
from theory.models.gates.lstm_model import GATES, STAYS, B_c, F, G, I, O, cell, output, tau
from theory.models.gates.units import by_entries
from theory.proof.proof import Step
from theory.proof.steps import step

next_one, next_two = phi(one, new), phi(two, new)
squash = Abs(tanh(cell(phi(boxed(v), new))))


def next_cell(state: Expr) -> Expr:
    """c⁺_i."""
    return cell(phi(state, new))


# Bounds on how far the gates and the cell of a unit move, whatever they are.
delta = Symbol("delta", real=True)
moves = {gate: Symbol(f"moves_{gate.name}", real=True) for gate in GATES}
EVERY = (a, b, m, i, delta, *moves.values())


def moved(what: Callable[[Expr], Expr]) -> Expr:
    """How far it moves."""
    return Abs(what(one) - what(two))


APART = le(moved(cell), delta)
MOVES = {gate: le(moved(gate.opened), moves[gate]) for gate in GATES}


@dataclass(frozen=True)
class Bounds:
    """What bounds the gates, the cells and their tanh; `squashed_by` shows the last."""

    open: Callable[[Gate], Expr]
    cells: Expr
    squashed: Expr
    squashed_by: tuple[Use, ...]

    @property
    def cell_moves(self) -> Expr:
        """Bounds |Δc⁺|."""
        added = self.open(I) * moves[G] + self.open(G) * moves[I]
        return self.open(F) * delta + self.cells * moves[F] + added

    @property
    def output_moves(self) -> Expr:
        """Bounds |Δh⁺|."""
        return self.squashed * moves[O] + self.open(O) * self.cell_moves

    @property
    def cell_squashed(self) -> Step:
        """|tanh c⁺|, by the cell's bound."""
        return step("a cell squashed", le(squash, self.squashed), forall=(v, m, i)).by(
            *self.squashed_by
        )

    @property
    def steps(self) -> tuple[Step, ...]:
        """Both, from how far each gate moves."""
        gates = at("gates", a, m, i), at("gates", b, m, i)
        cells = at("cells", one, new, i), at("cells", two, new, i)
        outputs = at("outputs", one, new, i), at("outputs", two, new, i)
        return (
            *STAYS,
            self.cell_squashed,
            step(
                "what is kept",
                le(
                    moved(lambda s: F.opened(s) * cell(s)),
                    self.open(F) * delta + self.cells * moves[F],
                ),
                forall=(a, b, m, i, delta, moves[F]),
                given=(APART, MOVES[F]),
            ).by(gates[0], at("box", b, i)),
            step(
                "what is added",
                le(
                    moved(lambda s: I.opened(s) * G.opened(s)),
                    self.open(I) * moves[G] + self.open(G) * moves[I],
                ),
                forall=(a, b, m, i, moves[I], moves[G]),
                given=(MOVES[I], MOVES[G]),
            ).by(*gates),
            step(
                "a cell moves",
                le(moved(next_cell), self.cell_moves),
                forall=(a, b, m, i, delta, moves[I], moves[F], moves[G]),
                given=(APART, MOVES[I], MOVES[F], MOVES[G]),
            ).by(
                *cells,
                at("what is kept", a, b, m, i, delta, moves[F]),
                at("what is added", a, b, m, i, moves[I], moves[G]),
            ),
            step(
                "what is let out",
                le(
                    moved(lambda s: O.opened(s) * tanh(next_cell(s))),
                    self.squashed * moves[O] + self.open(O) * delta,
                ),
                forall=(a, b, m, i, delta, moves[O]),
                given=(le(moved(next_cell), delta), MOVES[O]),
            ).by(
                gates[0],
                at("a cell squashed", b, m, i),
                at("tanh moves no more", next_cell(one), next_cell(two)),
            ),
            step(
                "an output moves",
                le(moved(lambda s: output(phi(s, new))), self.output_moves),
                forall=EVERY,
                given=(APART, *MOVES.values()),
            ).by(
                *outputs,
                at("a cell moves", a, b, m, i, delta, moves[I], moves[F], moves[G]),
                at("what is let out", a, b, m, i, self.cell_moves, moves[O]),
            ),
        )


# In the maximum norm, all units alike.
dc = max_norm(to_cell * (one - two))


UNIFORM = Bounds(
    lambda gate: gate.bar,
    B_c,
    tau,
    (
        at("a cell stays", v, m, i),
        at("box", v, i),
        at("tanh inside", next_cell(boxed(v)), B_c),
        "tau",
    ),
)
moved_a = G.bar * I.size / 4 + I.bar * G.size + B_c * F.size / 4
moved_q = O.size * tau / 4
to_cells = moved_a * dh + F.bar * dc
to_outputs = moved_q * dh + O.bar * to_cells


def together(
    name: str, P: Expr, bound: Expr, gates: tuple[Gate, ...], entry: str
) -> tuple[Step, Step]:
    """From each entry to the maximum norm."""
    change = P * (next_one - next_two)
    return by_entries(
        f"{name}, each",
        name,
        change,
        bound,
        (a, b, m),
        DIFFERENCES.at(P * next_one, P * next_two, i),
        at(entry, a, b, m, i, dc, *(gate.moves for gate in gates)),
        at("an entry moves", to_cell, one, two, i),
        *(at(f"gate {gate.name}", a, b, m, i) for gate in gates),
    )


STEPS = (
    *SLOPES_OF_GATES,
    FED,
    ENTRY,
    *(gate.step for gate in GATES),
    *UNIFORM.steps,
    *together("the cells move", to_cell, to_cells, (I, F, G), "a cell moves"),
    *together("the outputs move", to_output, to_outputs, GATES, "an output moves"),
)
