"""Linear system and vanilla RNN: their definitions and bounds on their matrices."""

from rnnbounds.theory.axioms.activations import BOUNDS
from rnnbounds.theory.language import assume, eq, le, symbols
from rnnbounds.theory.language.terms.networks import activation
from rnnbounds.theory.language.terms.variables import a, c, operator, vector, z
from rnnbounds.theory.language.terms.vectors import norm, phi
from rnnbounds.theory.proof import Step
from rnnbounds.theory.proof.methods import Cases

(W_norm,) = symbols("W_norm")
W, U, bias = operator("W"), operator("U"), vector("bias")

LINEAR = assume("linear", "the model is linear: φ(h, x) = W h + U x + b", forall=(a, c)).that(
    eq(phi(a, c), W * a + U * c + bias)
)
RNN = assume(
    "rnn",
    "φ(h, x) = ρ(W h + U x + b), with ρ from the table of activations and L_ρ its constant",
    forall=(a, c),
).that(eq(phi(a, c), activation(W * a + U * c + bias)))
RECURRENT_NORM = assume("recurrent norm", "W_norm bounds ‖W‖₂").that(le(norm(W), W_norm))
SLOPES, CURVATURES = (
    Step(name, bound, Cases(order), forall=(z,))
    for order, (name, bound) in enumerate(zip(("slopes", "curvatures"), BOUNDS, strict=True), 1)
)
