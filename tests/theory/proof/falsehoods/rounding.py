"""Attacks on rounding: what float64 makes of an expression depends on how it is written."""

from falsehoods.attack import CUT, Attack, Forgery, ends
from rnnbounds.theory.axioms.base import (
    CHOLESKY,
    DIAGONAL_NORM,
    MEAN_VALUE,
    ROUNDED_GRAM,
    ROUNDED_STEP,
    SUBMULTIPLICATIVE,
    TRIANGLE,
    gamma,
)
from rnnbounds.theory.claims.rounding.certified_norm import FORM, exact_gram, gram, s_gate, shift
from rnnbounds.theory.claims.rounding.rounding_state import STATE, L_rho, d, e_rho, n, u
from rnnbounds.theory.kernel import door
from rnnbounds.theory.language import Statement, at, eq, le
from rnnbounds.theory.language.terms.gradients import activation, slopes
from rnnbounds.theory.language.terms.variables import a, x
from rnnbounds.theory.language.terms.vectors import (
    RECURSION,
    absolute,
    computed,
    entry,
    frobenius,
    in_range,
    least,
    library,
    norm,
    rounded_step,
    state,
    trace,
)
from rnnbounds.theory.models.activation.slopes import SLOPES
from rnnbounds.theory.models.cells import U, W, bias
from rnnbounds.theory.proof import step
from rnnbounds.theory.proof.methods import Identity, Smt

x_1 = entry(x, 1)
plain = U * x_1 + bias  # what is left of the first pre-activation, as h_0 = 0
first = rounded_step(W, computed(x, 0), U, x_1, bias)
operands = in_range(W, computed(x, 0), U, x_1, bias)
short = rounded_step(W, 0, U, x_1, bias)
moved = norm(activation(short) - activation(plain))
one_vector = ROUNDED_STEP.at(0, 0, 0, 0, plain, 0, 0)
# U x_1 + b may vanish though its rounding does not: W = 0, U = (1 + 2⁻⁵², −(1 + 2⁻⁵¹), −2⁻¹⁰⁴)
FALSE = le(norm(computed(x, 1) - state(x, 0, 1)), L_rho * gamma(n + d + 2) * norm(plain) + e_rho)
STEPS = (
    SLOPES,
    step("zero", eq(computed(x, 0), 0)).by(at("floating point", 0), method=Identity),
    step("same", eq(first, short)).by("zero", method=Identity),
    step("same range", eq(operands, in_range(W, 0, U, x_1, bias))).by("zero", method=Identity),
    step("in range", eq(in_range(W, 0, U, x_1, bias), 1)).by("same range", at("floating point", 0)),
    step("rounding", le(norm(short - plain), gamma(n + d + 2) * norm(plain))).by(
        "in range", one_vector, "shapes", "size"
    ),
    step("secants", le(moved, L_rho * norm(short - plain))).by(
        "slopes",
        DIAGONAL_NORM.at(short, plain),
        MEAN_VALUE.at(short, plain),
        SUBMULTIPLICATIVE.at(slopes(short, plain), short - plain),
    ),
    step("claim", FALSE).by(
        at("floating point", 0),
        *("zero", "same", "rounding", "secants", "size"),
        at("library", 0),
        at("states", 0),
        RECURSION.at(x, 0, 0),
        at("rnn", 0, x_1),
        TRIANGLE.at(library(short) - activation(short), activation(short) - activation(plain)),
    ),
)
STORED = "computed, not stored"
granted = STATE.assumptions
h = computed(x, 1)
x_2 = entry(x, 2)
exact = W * h + U * x_2 + bias
error = norm(rounded_step(W, h, U, x_2, bias) - exact)
sizes = norm(absolute(W)) * norm(h) + norm(absolute(U)) * norm(x_2) + norm(bias)
facts = (at("floating point", 1), "shapes", "size")


def of_step(goal: Statement, *terms: object, reason: str = STORED) -> Attack:
    """By the rounding of a step, at the terms."""
    return ends(goal, Smt(ROUNDED_STEP.at(*terms), *facts), reason, *granted)  # type: ignore[arg-type]


def of_gram(goal: Statement, *uses: object, reason: str = CUT) -> Attack:
    """From what the certificate of the norm presupposes."""
    return ends(goal, Smt(*uses, "gate", "shapes", "size"), reason, *FORM.assumptions)  # type: ignore[arg-type]


few = gamma(2)
off_by = norm(gram - exact_gram)
ROUNDING: dict[str, Attack | Forgery] = {
    "a sum is one vector": Attack(STEPS, FALSE, granted, STORED),
    "a sum of states is one": of_step(le(error, 0), W, h + a, U, x_2, bias, n, d),
    "a product of matrices is one": of_step(le(error, 0), W * W, h, U, x_2, bias, n, d),
    "a multiple is a bias": of_step(le(error, 0), W, h, U, x_2, 2 * bias, n, d),
    # One product and one sum are not all of a row.
    "products of one term": of_step(
        le(error, gamma(4) * sizes), W, h, U, x_2, bias, 1, 1, reason=CUT
    ),
    "products of no term": of_step(le(error, few * sizes), W, h, U, x_2, bias, 0, 0, reason=CUT),
    "inputs and states change places": of_step(
        le(error, gamma(d + 3) * sizes), W, h, U, x_2, bias, 1, d, reason=CUT
    ),
    "nobody stored the operands": ends(
        le(norm(rounded_step(W, a, U, x_2, bias) - W * a - U * x_2 - bias), 0),
        Smt(ROUNDED_STEP.at(W, a, U, x_2, bias, n, d), *facts),
        CUT,
        *granted,
    ),
    "a Gram matrix of one row": of_gram(
        le(off_by, gamma(1) * frobenius(W) + 4 * u * s_gate**2),
        ROUNDED_GRAM.at(W, s_gate, shift, 1),
    ),
    "a Gram matrix of a sum": of_gram(
        le(off_by, 0), ROUNDED_GRAM.at(W + W, s_gate, shift, n), reason=STORED
    ),
    "a computed scale": of_gram(
        le(off_by, 0), ROUNDED_GRAM.at(W, s_gate + 1, shift, n), reason=STORED
    ),
    "a Cholesky factorisation of one row": of_gram(
        le(-gamma(3) * trace(gram), (1 - gamma(3)) * least(gram)), CHOLESKY.at(gram, 1)
    ),
    # The factorisation is of the computed matrix.
    "a factorisation of the true matrix": of_gram(
        le(-gamma(n + 2) * trace(exact_gram), (1 - gamma(n + 2)) * least(exact_gram)),
        CHOLESKY.at(exact_gram, n),
        reason=STORED,
    ),
    "a library's value of a sum": Forgery(lambda: door.term(library(a + bias)), STORED),
    "a library's value of a third": Forgery(lambda: door.term(library(a / 3)), STORED),
}
