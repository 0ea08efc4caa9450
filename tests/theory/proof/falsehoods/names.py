"""Attacks through names, words, sizes 0 and 1, and premises of definitions and inductions.

Each goal, or the step before it, is false at one value that a rule for all others forgets.
"""

from sympy import Add, Dummy, Integer, Rational, Symbol, log, oo, tanh

from falsehoods.attack import CUT, Attack, Forgery, alone, assume, ends, every, through
from rnnbounds.theory.axioms.base import EXPONENTIAL, HOMOGENEITY, LOGARITHM, TRIANGLE
from rnnbounds.theory.axioms.powers import GELFAND
from rnnbounds.theory.axioms.ranks import RANK_IDENTITY, RANK_WHOLE
from rnnbounds.theory.language import Clause, at, define, eq, le, lt, ne, symbols
from rnnbounds.theory.language.functions import REAL_POWER, STEP_PRODUCT, RealPower, StepProduct
from rnnbounds.theory.language.terms.unitary import identity, rank, rows
from rnnbounds.theory.language.terms.variables import (
    A,
    B,
    a,
    b,
    eye,
    j,
    m,
    operator,
    v,
    vector,
    x,
    y,
    z,
)
from rnnbounds.theory.language.terms.vectors import (
    RECURSION,
    Norm,
    Scalar,
    exponential,
    function,
    inner,
    least,
    max_norm,
    norm,
    state,
    trace,
    transpose,
)
from rnnbounds.theory.proof import Step
from rnnbounds.theory.proof.methods import (
    HYPOTHESIS,
    Elementary,
    Identity,
    Induction,
    Monotone,
    Smt,
    Words,
)

lam, S_0, h_norm, T, k = symbols("lam S_0 h_norm T k")
W, V = operator("W"), operator("V")
values = function("values", Scalar)
f = function("counted", Scalar, __name__, defined=True)
real_j, other_y = Symbol("j", real=True), Symbol("y", integer=True)
dummy = Dummy("y", real=True)
third = Dummy("z", real=True)
norm_named = function("values", Norm)
by_given = Identity("given 1")


def inductive(
    conclusion: object, *given: object, base: tuple[object, ...] = (), reason: str = CUT
) -> Attack:
    """By induction over j, from the hypothesis."""
    uses = tuple(f"given {n}" for n, _ in enumerate(given, start=1))
    method = Induction(j, Smt(*base, *uses), Smt(HYPOTHESIS, *uses), tuple(given))  # type: ignore[arg-type]
    return alone(Step("s", conclusion, method, (j,), tuple(given)), reason)  # type: ignore[arg-type]


NAMES: dict[str, Attack | Forgery] = {
    # Symbols of one name.
    "an integer of a real's name": through(
        every(le(0, j * (j - 1)), (j,), by=Induction(j, Smt(), Smt(HYPOTHESIS))),
        le(0, real_j * (real_j - 1)),
        (real_j,),
        "natural",
    ),
    "two of one name": alone(every(eq(y + other_y, 2 * y), (y, other_y), by=Identity()), CUT),
    "two of one name by smt": alone(every(eq(y, other_y), (y, other_y)), CUT),
    "functions of two of one name": alone(
        every(eq(tanh(y), tanh(other_y)), (y, other_y), by=Elementary()), CUT
    ),
    "functions of what is written as a second one": alone(
        every(eq(tanh(Symbol("z'1", real=True)), tanh(third)), (third,), by=Elementary()), CUT
    ),
    "functions of functions of one name": ends(
        eq(tanh(values(y)), tanh(norm_named(vector("y")))), Elementary(), CUT
    ),
    "two of one name, one hidden": alone(every(eq(y, dummy), (y, dummy)), CUT),
    "a quantity's name": alone(
        every(le(0, Symbol("lam", real=True)), (Symbol("lam", real=True),)), CUT
    ),
    "a vector of a real's name": alone(
        every(le(0, Symbol("y", commutative=False) * y), (y,)), "compares no numbers"
    ),
    "a variable that is a quantity": through(
        every(le(0, lam), (lam,)), le(1, 0), (-1,), "a constant of the claim"
    ),
    "an operator of a vector's name": alone(
        every(eq(W, vector("W")), (), by=Identity()), "are compared"
    ),
    "a function of the norm's name": ends(
        eq(norm(v), 5), Smt("five"), CUT, assume("five", eq(function("norm", Norm)(v), 5))
    ),
    # Words.
    "powers of products": alone(every(eq((A * B) ** 2, A**2 * B**2), (A, B), by=Words()), CUT),
    "powers of products by normal form": alone(
        every(eq((A * B) ** 2, A**2 * B**2), (A, B), by=Identity()), CUT
    ),
    "a binomial of operators": alone(
        every(eq((A + B) ** 2, A**2 + 2 * A * B + B**2), (A, B), by=Identity()), CUT
    ),
    "a root of an operator": alone(
        every(eq((A**2) ** Rational(1, 2), A), (A,), by=Identity()), CUT
    ),
    "a transpose keeps the order": alone(
        every(eq(transpose(A * B), transpose(A) * transpose(B)), (A, B), by=Words()), CUT
    ),
    "a transpose is the operator": alone(every(eq(transpose(A), A), (A,), by=Words()), CUT),
    "a transpose of a transposed word": alone(
        every(eq(transpose(transpose(A) * B), transpose(B) * transpose(A)), (A, B), by=Words()), CUT
    ),
    "a rule for a multiple": alone(
        every(eq(A, B), (A, B), eq(2 * A, 2 * B), by=Words("given 1")), "no single word"
    ),
    "a rule for nothing": alone(
        every(eq(A, 0), (A, B), eq(B - B, A), by=Words("given 1")), "cannot be used"
    ),
    "letters that commute": alone(every(eq(norm(A * B), norm(B * A)), (A, B), by=Words()), CUT),
    "a norm is odd": alone(every(eq(norm(-v), -norm(v)), (v,)), CUT),
    "a negative factor": ends(eq(norm(-2 * v), -2 * norm(v)), Smt(HOMOGENEITY.at(-2, v)), CUT),
    "a trace is signed": alone(every(eq(trace(A) + trace(-A), 0), (A,)), CUT),
    # Sizes 0 and 1.
    "the identity of no size": alone(
        every(eq(norm(identity(0)), 1), (), by=Smt(RANK_IDENTITY.at(0))), CUT
    ),
    "the rank of no matrix": ends(le(1, rank(identity(0))), Smt(RANK_IDENTITY.at(0)), CUT),
    "a rank between": alone(every(ne(rank(A), z), (A, z), by=Smt(RANK_WHOLE.at(A, 0, 0))), CUT),
    "matrices of one entry commute": alone(
        every(eq(A * B, B * A), (A, B), le(rows(A), 1), le(rows(B), 1), by=Words("given 1")), CUT
    ),
    # Definitions and inductions with premises.
    "a definition outside its premise": ends(
        eq(StepProduct(0, -lam), 1),
        Smt(STEP_PRODUCT.at(0, -lam), "one"),
        CUT,
        assume("one", eq(lam, 1)),
    ),
    "a real power of a negative number": ends(
        lt(0, RealPower(-1 - lam, 1)), Elementary(REAL_POWER.at(-1 - lam, 1)), CUT
    ),
    "a recursion after no step": ends(eq(norm(state(x, 0, T)), 0), Smt(RECURSION.at(x, 0, T)), CUT),
    "a recursion before the first step": ends(
        eq(norm(state(x, 0, k - 1)), 0), Smt(RECURSION.at(x, 0, k - 1)), "natural"
    ),
    "an induction that is never at 0": inductive(le(1, j), reason=CUT),
    "an induction below its premise": alone(
        Step("s", le(j, 0), Induction(j, Smt(), Smt(HYPOTHESIS), (le(j, 5),)), (j,), (le(j, 5),)),
        CUT,
    ),
    "an induction whose premise does not descend": alone(
        Step(
            "s",
            eq(j, 0),
            Induction(j, Smt(), Smt(HYPOTHESIS, "given 1"), (eq(j * (j - 2), 0),)),
            (j,),
            (eq(j * (j - 2), 0),),
        ),
        CUT,
    ),
    "an induction over a real": alone(
        Step("s", le(0, y), Induction(y, Smt(), Smt(HYPOTHESIS)), (y,)), "no natural number"
    ),
    "an induction with a moving constant": alone(
        Step("s", le(j, m), Induction(j, Smt(), Smt(HYPOTHESIS), (), (m,)), (j, m)), CUT
    ),
    "an induction by its own hypothesis": alone(
        Step("s", le(j, T), Induction(j, Smt(), Smt(at(HYPOTHESIS))), (j,)), CUT
    ),
    "a hypothesis of the next": alone(
        Step("s", le(j, 0), Induction(j, Smt(), Smt(at(HYPOTHESIS, j + 1)), (), (m,)), (j, m)),
        "counter-model",
    ),
    # Terms that name the variables of laws.
    "a law at its own variables, exchanged": ends(
        lt(norm(a - b), 0), Smt(TRIANGLE.at(b, a), TRIANGLE.at(b, -a), TRIANGLE.at(a, -b)), CUT
    ),
    "a step at its own variable": through(
        every(ne(z, y), (y,), lt(y, z), by=Smt("given 1")), eq(1, 2), (z,), "counter-model"
    ),
    "a law that captures a number": ends(
        eq(exponential(y + z), exponential(2 * z)), Smt(EXPONENTIAL.at(z, y)), CUT
    ),
    "the logarithm of 0": ends(eq(exponential(log(z)), z), Smt(LOGARITHM.at(z)), CUT),
    "a monotone function of another variable": alone(
        every(le(z, y + z), (y, z), by=Monotone(y, Integer(0), Smt(), Smt(), Smt())), "inside"
    ),
    "a monotone function from -oo": alone(
        every(le(0, y), (y,), by=Monotone(y, -oo, Smt(), Smt(), Smt())), "from a rational number"
    ),
    "an infinite sum of nothing": alone(
        every(eq(Add(y, -y, oo, evaluate=False), 0), (y,), by=Identity()), "no real number"
    ),
    "a bounded sequence fades": ends(lt(norm(v), 1), Smt(GELFAND.at(W, v, 0)), CUT),
    "the least eigenvalue of a square": ends(le(0, least(A * A)), Smt(), CUT),
    "an inner product is positive": ends(le(0, inner(a, b)), Smt(), CUT),
    "the norm of the identity": ends(eq(norm(eye * eye), norm(eye) + 1), Smt(), CUT),
    "one norm is another": ends(eq(norm(v), max_norm(v)), Smt(), CUT),
    "a definition with a premise on itself": Forgery(
        lambda: define("f if f", (j,), eq(f(0), 0), Clause(eq(f(j + 1), 1), (lt(f(j + 1), 1),))),
        "goes round in a circle",
    ),
}
