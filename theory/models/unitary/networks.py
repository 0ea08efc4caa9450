"""What the claims presuppose of a ReLU network and of its unitary equivalent."""

from sympy import Max

from theory.language.law import Assumption, law
from theory.language.statement import eq, le
from theory.language.terms.unitary import (
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
from theory.language.terms.vectors import (
    A,
    a,
    activation,
    b,
    entry,
    i,
    inner,
    j,
    norm,
    transpose,
    v,
    x,
    z,
)
from theory.language.vocabulary import symbols
from theory.models.cells import U, W, bias
from theory.models.system import CONTRACTIVE

lam, S_0, B_h = symbols("lam S_0 B_h")

h, x_next = network(x, j), entry(x, j + 1)
inside = W * h + U * x_next + bias

NETWORK = Assumption(
    "network",
    "h_t = ρ(W h_{t−1} + U x_t + b)",
    law=law(
        "network",
        (j,),
        eq(network(x, 0), start),
        eq(network(x, j + 1), activation(inside)),
    ),
)
RELU = Assumption(
    "relu",
    "ρ is ReLU, entry by entry",
    law=law("relu", (v, i), eq(part(activation(v), i), Max(part(v, i), 0))),
    ties=True,
)
NORM = Assumption("norm of W", "λ bounds ‖W‖₂", law=law("norm of W", (), le(norm(W), lam)))
BOUNDED_INPUTS = Assumption(
    "bounded inputs",
    "S_0 = ‖U‖B + ‖b‖ and ‖x_t‖ ≤ B, so that ‖U x_t + b‖ ≤ S_0",
    law=law("bounded inputs", (j,), le(norm(U * x_next + bias), S_0)),
)
START = Assumption(
    "start",
    "B_h = max(‖h_0‖, S_0/(1 − λ)): the bound on the states knows where they start",
    law=law("start", (), le(norm(start), B_h), le(S_0 / (1 - lam), B_h)),
)
# A contractive ReLU network, and all that bounds its states.
BOUNDED_NETWORK = (CONTRACTIVE, NETWORK, RELU, NORM, BOUNDED_INPUTS, START)
BLOCKS = Assumption(
    "blocks",
    "the vectors J a + J₂ c have the blocks a and c, and ρ acts on each by itself",
    law=law(
        "blocks",
        (a, b),
        eq(activation(J * a + J_2 * b), J * activation(a) + J_2 * activation(b)),
    ),
)
EMBEDDING = Assumption(
    "embedding",
    "J embeds the first n units: Jᵀ J a = a",
    law=law("embedding", (a,), eq(transpose(J) * J * a, a)),
)
DILATION = Assumption(
    "dilation",
    "V has W above W₃ in its first n columns",
    law=law("dilation", (), eq(V * J, J * W + J_2 * W_3)),
)
EQUIVALENT = Assumption(
    "unitary equivalent",
    "s_t = ρ(V s_{t−1} + (U x_t + b, b₂)) from s_0 = (h_0, 0); the first n units are read",
    law=law(
        "unitary equivalent",
        (b, j),
        eq(urnn(b, x, 0), J * start),
        eq(urnn(b, x, j + 1), activation(preactivation(b, x, j))),
        eq(
            preactivation(b, x, j),
            V * urnn(b, x, j) + J * U * x_next + J * bias + J_2 * b,
        ),
        eq(upper(b, x, j), transpose(J) * urnn(b, x, j)),
    ),
)

ENTRIES = law(
    "entries",
    (A, a, b, v, i),
    eq(part(a + b, i), part(a, i) + part(b, i)),
    eq(part(A * v, i), inner(line(A, i), v)),
)
BELOW = law("bias below", (z, A, i), le(part(below(z, A), i), -z * norm(line(A, i))))
