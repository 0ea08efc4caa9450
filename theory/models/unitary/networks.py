"""Assumptions of claims on a ReLU network and on its unitary equivalent."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sympy import Expr, Max

from rnnbounds.theory.language import Assumption, Instance, assume, at, eq, le, symbols
from rnnbounds.theory.language.terms.gradients import activation
from rnnbounds.theory.language.terms.unitary import (
    J_2,
    W_3,
    J,
    V,
    below,
    line,
    network,
    part,
    preactivation,
    start,
    upper,
    urnn,
)
from rnnbounds.theory.language.terms.variables import A, a, b, i, j, v, x, z
from rnnbounds.theory.language.terms.vectors import entry, norm, transpose
from rnnbounds.theory.models.cells import U, W, bias
from rnnbounds.theory.models.system import CONTRACTIVE

lam, S_0, B_h = symbols("lam S_0 B_h")

h, x_next = network(x, j), entry(x, j + 1)
preactivation_term = W * h + U * x_next + bias

NETWORK = assume("network", "h_t = ρ(W h_{t−1} + U x_t + b)", forall=(j,)).that(
    eq(network(x, 0), start), eq(network(x, j + 1), activation(preactivation_term))
)
RELU = assume("relu", "ρ is ReLU, entry by entry", forall=(v, i)).that(
    eq(part(activation(v), i), Max(part(v, i), 0))
)
NORM = assume("norm of W", "λ bounds ‖W‖₂").that(le(norm(W), lam))
BOUNDED_INPUTS = assume(
    "bounded inputs", "S_0 = ‖U‖B + ‖b‖ and ‖x_t‖ ≤ B, so that ‖U x_t + b‖ ≤ S_0", forall=(j,)
).that(le(norm(U * x_next + bias), S_0))
START = assume(
    "start", "B_h = max(‖h_0‖, S_0/(1 − λ)): the bound on the states knows where they start"
).that(le(norm(start), B_h), le(S_0 / (1 - lam), B_h))
# A contractive ReLU network, and all that bounds its states.
BOUNDED_NETWORK = (CONTRACTIVE, NETWORK, RELU, NORM, BOUNDED_INPUTS, START)
BLOCKS = assume(
    "blocks",
    "the vectors J a + J₂ c have the blocks a and c, and ρ acts on each by itself",
    forall=(a, b),
).that(eq(activation(J * a + J_2 * b), J * activation(a) + J_2 * activation(b)))
EMBEDDING = assume("embedding", "J embeds the first n units: Jᵀ J a = a", forall=(a,)).that(
    eq(transpose(J) * J * a, a)
)
DILATION = assume("dilation", "V has W above W₃ in its first n columns").that(
    eq(V * J, J * W + J_2 * W_3)
)


@dataclass(frozen=True)
class EquivalentNetwork:
    """An equivalent of the network, and what is read of it."""

    law: str
    functions: tuple[Callable[..., Expr], ...]
    biased: tuple[Expr, ...] = ()

    def state_terms(self, time: Expr | int) -> Iterator[Expr]:
        """(state, next pre-activation, output) at the time."""
        return (of(*self.biased, x, time) for of in self.functions)

    def law_at(self, time: Expr | int) -> Instance:
        """Use of the equivalent's law at a time."""
        return at(self.law, *self.biased, time)

    def run_assumption(self, added_bias: Expr, text: str) -> Assumption:
        """The law, with the bias `added_bias` of the added units."""
        (first, *_), (state, preactivation, output), (next_state, *_) = map(
            self.state_terms, (0, j, j + 1)
        )
        drive = J * U * x_next + J * bias + J_2 * added_bias
        return assume(self.law, text, forall=(*self.biased, j)).that(
            eq(first, J * start),
            eq(next_state, activation(preactivation)),
            eq(preactivation, V * state + drive),
            eq(output, transpose(J) * state),
        )


PLAIN = EquivalentNetwork("unitary equivalent", (urnn, preactivation, upper), (b,))
EQUIVALENT = PLAIN.run_assumption(
    b, "s_t = ρ(V s_{t−1} + (U x_t + b, b₂)) from s_0 = (h_0, 0); the first n units are read"
)
BELOW = assume(
    "bias below",
    "the added units have the bias b₂, of which no entry is above −B_h times the length of the row "
    "that reads the states",
    forall=(z, A, i),
).that(le(part(below(z, A), i), -z * norm(line(A, i))))
