"""What a linear system and a vanilla RNN are, and what is known of their matrices."""

from theory.language.law import Assumption, law
from theory.language.statement import eq, le
from theory.language.terms.vectors import a, activation, c, norm, phi, vector
from theory.language.vocabulary import symbols

(W_norm,) = symbols("W_norm")
W, U, bias = vector("W"), vector("U"), vector("bias")

LINEAR = Assumption(
    "linear",
    "the model is linear: φ(h, x) = W h + U x + b",
    law=law("linear", (a, c), eq(phi(a, c), W * a + U * c + bias)),
    ties=True,
)
RNN = Assumption(
    "rnn",
    "φ(h, x) = ρ(W h + U x + b), with ρ from the table of activations and L_ρ its constant",
    law=law("rnn", (a, c), eq(phi(a, c), activation(W * a + U * c + bias))),
    ties=True,
)
RECURRENT_NORM = Assumption(
    "recurrent norm",
    "W_norm bounds ‖W‖₂",
    law=law("recurrent norm", (), le(norm(W), W_norm)),
)
