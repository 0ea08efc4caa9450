"""How two networks answer when one input moves, where none of their units changes its activity.

On an open set of inputs, a cell, a network h_t = ReLU(W h_{t−1} + x_t + b) with all units active
and a candidate s_t = ReLU(V s_{t−1} + G x_t + d) with the active units D_t are affine:

    h_t = W h_{t−1} + x_t + b,    s_t = D_t (V s_{t−1} + G x_t + d).

If x_m moves by z v then h_m moves by z v, h_{m+1} by z W v, s_m by z D_m G v and s_{m+1} by
z D_{m+1} V D_m G v; and if outputs agree on the cell, E takes what s moves by to what h does.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sympy import Expr

from rnnbounds.theory.axioms.base import HOMOGENEITY, TRIANGLE
from rnnbounds.theory.language import ONE, ZERO, Assumption, Clause, Use, assume, at, eq, le, lt
from rnnbounds.theory.language.terms.unitary import identity
from rnnbounds.theory.language.terms.variables import i, j, m, v, vector, x
from rnnbounds.theory.language.terms.vectors import Scalar, entry, function, norm
from rnnbounds.theory.models.unitary.local_maps import SAME, E, G, T, V, W, n, pattern
from rnnbounds.theory.proof import Step, step
from rnnbounds.theory.proof.methods import HYPOTHESIS, Induction, Smt

# nudged(m, v): the inputs x, of which x_m is moved by small(m, v) v
nudged, small = function("nudged"), function("small", Scalar)
candidate, network = (function(name) for name in ("candidate_run", "network_run"))
d, bias, offset = vector("d"), vector("b_network"), vector("e_candidate")
I_n = identity(n)
G_n = G * I_n  # inputs have n entries


@dataclass(frozen=True)
class AffineRun:
    """A network on the cell, s_t = D_t (A s_{t−1} + B x_t + d), from one state."""

    name: str
    run: Callable[..., Expr]
    recurrent: Expr
    input_matrix: Expr
    bias: Expr
    pattern: Callable[[Expr], Expr]

    @property
    def assumption_id(self) -> str:
        """Id of the assumption on the network."""
        return f"{self.name} on the cell"

    @property
    def assumption(self) -> Assumption:
        """Assumption that the network is affine on the cell: s_t = D_t (A s_{t−1} + B x_t + d)."""
        nudged_x = nudged(m, v)
        preactivation = (
            self.recurrent * self.run(nudged_x, j)
            + self.input_matrix * entry(nudged_x, j)
            + self.bias
        )
        return assume(
            self.assumption_id, TEXTS[self.assumption_id], forall=(m, v, j), inclusion=True
        ).that(
            eq(self.run(nudged_x, 0), vector(f"{self.name}_start")),
            eq(self.run(nudged_x, j + 1), self.pattern(j) * preactivation),
        )

    def on_cell(self, time: Expr, later: Expr) -> tuple[Use, ...]:
        """Uses of the affine recursion at time `later`, with input `time` shifted by v and by 0."""
        return tuple(at(self.assumption_id, time, by, later) for by in (v, ZERO))

    @property
    def unmoved_step(self) -> Step:
        """Step: an input at time m moves no state up to time m."""
        runs = (self.run(nudged(j + i, by), j) for by in (v, ZERO))
        inputs = (at("inputs before", by, i, j) for by in (v, ZERO))
        induction_step = Smt(at(HYPOTHESIS, i + 1), *self.on_cell(i + j + 1, j), *inputs)
        method = Induction(j, Smt(*self.on_cell(i, ZERO)), induction_step, (), (i,))
        return Step(f"{self.name} before", eq(*runs), method, (v, i, j))

    @property
    def move_steps(self) -> tuple[Step, Step]:
        """Steps: how far an input at time m moves the states m + 1 and m + 2."""
        unmoved, nudged_x = (nudged(m, by) for by in (ZERO, v))
        first = small(m, v) * self.pattern(m) * self.input_matrix * v
        second = self.pattern(m + 1) * self.recurrent * first
        inputs = tuple(at("inputs", m, by, ZERO) for by in (v, ZERO))
        return (
            step(
                f"{self.name} moves",
                eq(self.run(nudged_x, m + 1), self.run(unmoved, m + 1) + first),
                (m, v),
            ).by(*self.on_cell(m, m), at(f"{self.name} before", v, 0, m), *inputs),
            step(
                f"{self.name} moves on",
                eq(self.run(nudged_x, m + 2), self.run(unmoved, m + 2) + second),
                (m, v),
            ).by(*self.on_cell(m, m + 1), at(f"{self.name} moves", m, v), *inputs),
        )


TEXTS = {
    "candidate on the cell": "there is a cell, an open set of inputs on which no unit of the "
    "candidate changes between active and inactive (off finitely many hyperplanes each is on, "
    "off, or 0 all around), so that s_t = D_t (V s_{t−1} + G x_t + d) there",
    "network on the cell": "on the cell all units of the network are active, so that "
    "h_t = W h_{t−1} + x_t + b there",
}
CANDIDATE = AffineRun("candidate", candidate, V, G_n, d, pattern)
NETWORK = AffineRun("network", network, W, I_n, bias, lambda _: ONE)
INPUTS = assume(
    "inputs", "the cell is open: x_m can move a little in any direction", forall=(m, v, j)
).that(
    eq(entry(nudged(m, v), m), entry(x, m) + small(m, v) * v),
    eq(entry(nudged(m, v), m + j + 1), entry(x, m + j + 1)),
    lt(ZERO, small(m, v)),
)
INPUTS_BEFORE = assume("inputs before", "the inputs before do not", forall=(v, i, j)).that(
    eq(entry(nudged(i + j + 1, v), j), entry(x, j))
)


def output_difference(inputs: Expr, time: Expr) -> Expr:
    """Difference ŷ − y of the outputs of candidate and network."""
    return E * candidate(inputs, time + 1) + offset - network(inputs, time + 1)


AGREEMENT = assume(
    "agreement", "the candidate agrees with the network on all inputs of the cell", forall=(m, v, j)
).that(Clause(eq(norm(output_difference(nudged(m, v), j)), ZERO), (SAME, le(j + 1, T))))
ON_CELL = (CANDIDATE.assumption, NETWORK.assumption, INPUTS, INPUTS_BEFORE, AGREEMENT)


def agreement_step(id: str, time: Expr, difference: Expr, suffix: str) -> Step:
    """Step: E maps each move of the candidate to the network's move (their difference is 0)."""
    nudged_outputs, unmoved = (output_difference(nudged(m, by), time) for by in (v, ZERO))
    return step(id, eq(norm(difference), ZERO), (m, v), (SAME, le(time + 1, T))).by(
        at(f"candidate {suffix}", m, v),
        at(f"network {suffix}", m, v),
        at("agreement", m, v, time),
        at("agreement", m, 0, time),
        TRIANGLE.at(nudged_outputs, -unmoved),
        HOMOGENEITY.at(small(m, v), difference),
        at("inputs", m, v, 0),
    )


RESPONSE = (E * pattern(m) * G_n - I_n) * v
LATER_RESPONSE = (E * pattern(m + 1) * V * pattern(m) * G_n - W * I_n) * v
MOVES = (
    *(step for run in (CANDIDATE, NETWORK) for step in (run.unmoved_step, *run.move_steps)),
    agreement_step("a move is seen", m, RESPONSE, "moves"),
    agreement_step("a move is remembered", m + 1, LATER_RESPONSE, "moves on"),
)
