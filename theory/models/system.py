"""Assumptions of claims on a model: the recursion, its contraction and its drive."""

from sympy import Integer

from rnnbounds.theory.language import ONE, ZERO, Assumption, assume, eq, le, lt, symbols
from rnnbounds.theory.language.terms.networks import differentiable
from rnnbounds.theory.language.terms.variables import a, b, c, j, s, x
from rnnbounds.theory.language.terms.vectors import entry, gain, norm, phi, readout, state
from rnnbounds.theory.models.geometry import EUCLIDEAN

lam, S_0, L_x, L_f, epsilon, T, k, t = symbols("lam S_0 L_x L_f epsilon T k t")

CONTRACTION, CONTRACTIVE = EUCLIDEAN.contraction, EUCLIDEAN.contractive
DRIVE = EUCLIDEAN.drive
LIPSCHITZ_INPUT = assume(
    "lipschitz input",
    "φ is L_x-Lipschitz in the input: ‖φ(h, x) − φ(h, x′)‖ ≤ L_x‖x − x′‖",
    forall=(a, b, c),
).that(le(norm(phi(c, a) - phi(c, b)), L_x * norm(a - b)))
LIPSCHITZ_READOUT, READOUT_OF_CELLS = (
    assume(
        "lipschitz readout",
        "y = f(h), and f is L_f-Lipschitz: ‖f(h) − f(h′)‖ ≤ L_f‖h − h′‖",
        forall=(a, b),
    ).that(le(norm(readout(a) - readout(b)), L_f * size(a - b)))
    for size in (norm, gain)
)
DIFFERENTIABLE = assume(
    "differentiable",
    "φ is differentiable along the run, and along those that start from zero at any time s",
    forall=(s, j),
).that(eq(differentiable(state(x, s, j), entry(x, s + j + 1)), ONE))

WINDOW = Assumption("window", "the window is no longer than the sequence: k ≤ T", le(k, T))
SHORT_WINDOW = Assumption(
    "short window", "the window is shorter than the sequence: k < T", lt(k, T)
)
SOME_WINDOW = Assumption("some window", "the window is not empty: k ≥ 1", le(ONE, k))
INDEX = Assumption("index", "the input is one of the sequence: t ≥ 1", le(ONE, t))
PAST_INDEX = Assumption("past", "the input comes no later than the state: t ≤ T", le(t, T))
TWO_STEPS = Assumption("two steps", "T ≥ 2", le(Integer(2), T))
MEMORY = Assumption("memory", "λ > 0", lt(ZERO, lam))
DRIVEN = Assumption("driven", "S_0 > 0", lt(ZERO, S_0))
ACCURACY = Assumption("accuracy", "ε > 0", lt(ZERO, epsilon))
