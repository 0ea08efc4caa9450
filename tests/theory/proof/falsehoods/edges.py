"""Attacks at edges: 0⁰, negative bases, integers that are no naturals, equal arguments.

Each goal, or the step before it, is false at one value that a rule for all others forgets.
"""

from sympy import (
    Abs,
    Catalan,
    Dummy,
    E,
    Integer,
    Max,
    Min,
    Mod,
    Pow,
    Rational,
    Symbol,
    ceiling,
    conjugate,
    cos,
    factorial,
    floor,
    log,
    pi,
    re,
    sin,
    sqrt,
    tan,
    tanh,
)

from falsehoods.attack import CUT, Attack, Forgery, alone, assume, ends, every, through
from rnnbounds.theory.language import eq, le, lt, symbols
from rnnbounds.theory.language.terms.variables import j, m, operator, v, y, z
from rnnbounds.theory.language.terms.vectors import Scalar, function, norm
from rnnbounds.theory.proof import Step
from rnnbounds.theory.proof.methods import HYPOTHESIS, Elementary, Exact, Identity, Induction, Smt

lam, S_0, h_norm, T, k = symbols("lam S_0 h_norm T k")
W, V = operator("W"), operator("V")
values = function("values", Scalar)
f = function("counted", Scalar, __name__, defined=True)
real_j, other_y = Symbol("j", real=True), Symbol("y", integer=True)
dummy = Dummy("y", real=True)
by_given = Identity("given 1")


def inductive(
    conclusion: object, *given: object, base: tuple[object, ...] = (), reason: str = CUT
) -> Attack:
    """By induction over j, from the hypothesis."""
    uses = tuple(f"given {n}" for n, _ in enumerate(given, start=1))
    method = Induction(j, Smt(*base, *uses), Smt(HYPOTHESIS, *uses), tuple(given))  # type: ignore[arg-type]
    return alone(Step("s", conclusion, method, (j,), tuple(given)), reason)  # type: ignore[arg-type]


LISTED = "is on no list"
EDGES: dict[str, Attack | Forgery] = {
    # 0⁰ = 1, and powers of what is negative.
    "every power of 0 is 0": inductive(eq(Integer(0) ** j, 0)),
    "the power 0 of 0": through(
        every(
            le(z**j, 1),
            (z, j),
            le(0, z),
            le(z, 1),
            by=Induction(j, Smt(), Smt(HYPOTHESIS, "given 1", "given 2"), (le(0, z), le(z, 1))),
        ),
        lt(lam**T, 1),
        (lam, T),
        CUT,
        assume("zero", eq(lam, 0)),
    ),
    "a power is at most its base": alone(every(le(z**j, z), (z, j), le(0, z), le(z, 1)), CUT),
    "an even root of a square": alone(
        every(eq((y**2) ** Rational(1, 2), y), (y,), by=Identity()), CUT
    ),
    "a cubic root of a cube": alone(
        every(eq((y**3) ** Rational(1, 3), y), (y,), by=Identity()), "no translation"
    ),
    "a cubic root of a cube by smt": alone(
        every(eq((y**3) ** Rational(1, 3), y), (y,)), "no translation"
    ),
    "the root of -8": ends(eq(Integer(-8) ** Rational(1, 3), -2), Exact(), "has no translation"),
    "a power of -1": inductive(eq(Integer(-1) ** j, 1)),
    "a real power of -1": alone(every(le(-1, Integer(-1) ** y), (y,)), "natural"),
    "a power of a power": alone(
        every(eq((y**2) ** (z / 2), y**z), (y, z), by=Identity()), "natural"
    ),
    "a power with a length": alone(
        every(eq(Integer(-1) ** (2 * norm(v)), 1), (v,), by=Identity()), "natural"
    ),
    "a power with a name": alone(
        every(eq(y ** values(0) * y ** (-values(0)) / y, 1 / y), (y,), by=Identity()), CUT
    ),
    "a power that vanishes": alone(
        every(eq(z**j * z ** (m - j), z**m), (z, j, m), by=Identity()), "natural"
    ),
    "e to the power of a logarithm": through(
        every(lt(0, Pow(E, y, evaluate=False)), (y,), by=Elementary()),
        lt(0, lam),
        (log(lam),),
        "natural",
    ),
    # Integers that are no naturals.
    "a natural that is negative": through(
        every(le(0, j), (j,)), le(S_0 + 1, S_0), (-1 - k,), "natural"
    ),
    "a natural that is a half": through(
        every(le(0, j * (2 * j - 1)), (j,), by=Induction(j, Smt(), Smt(HYPOTHESIS))),
        le(1, lam),
        (Rational(1, 4),),
        "natural",
    ),
    "a natural before the first": through(every(le(0, j), (j,)), le(k, T), (T - k,), "natural"),
    "a natural that is a floor": through(
        every(le(0, j), (j,)), le(0, floor(lam - 1)), (floor(lam - 1),), LISTED
    ),
    "a gap of one between reals": alone(every(le(j + 1, y), (j, y), lt(j, y)), CUT),
    "a gap of one between quotients": alone(
        every(le(j / 2 + 1, m / 2), (j, m), lt(j / 2, m / 2)), CUT
    ),
    "an integer between": alone(every(le(y, j), (y, j), lt(y, j + 1)), CUT),
    # Floors, ceilings, moduli, maxima.
    "floors are odd": alone(every(eq(floor(-y), -floor(y)), (y,), by=Identity()), LISTED),
    "a ceiling is one more": alone(
        every(eq(ceiling(y), floor(y) + 1), (y,), by=Identity()), LISTED
    ),
    "floors add": alone(
        every(eq(floor(y + z), floor(y) + floor(z)), (y, z), by=Identity()), LISTED
    ),
    "a floor of a sum with a whole": alone(
        every(eq(floor(y + j / 2), floor(y) + floor(j / 2)), (y, j), by=Identity()), LISTED
    ),
    "a modulus of one sign": alone(every(eq(Abs(y), y), (y,)), CUT),
    "a modulus of a sum": alone(every(eq(Abs(y + z), Abs(y) + Abs(z)), (y, z), by=Identity()), CUT),
    "a modulus of a complex number": alone(every(eq(Abs(conjugate(y) + re(y)), 2 * y), (y,)), CUT),
    "a maximum of equals is twice it": alone(every(eq(Max(y, z), y + z), (y, z), eq(y, z)), CUT),
    "a maximum is a minimum": alone(every(eq(Max(y, z), Min(y, z)), (y, z), by=Identity()), CUT),
    "a strict maximum": alone(every(lt(Min(y, z), Max(y, z)), (y, z)), CUT),
    "a remainder": alone(every(eq(Mod(y, 1), 0), (y,), by=Identity()), LISTED),
    "a factorial of a negative number": alone(
        every(eq(factorial(y), y * factorial(y - 1)), (y,), by=Identity()), LISTED
    ),
    "a quotient inside tanh": ends(lt(tanh(1 / lam), 1), Elementary(), CUT),
    "a root inside a sine": ends(le(sin(sqrt(lam - 1)), 1), Elementary(), CUT),
    "a quotient inside a norm, by smt": ends(le(0, norm(v / lam)), Smt(), CUT),
    "a quotient inside a modulus": ends(le(0, Abs(tanh(1 / lam))), Smt(), CUT),
    "a constant without a ball": ends(lt(2, Catalan), Exact(), "is on no list"),
    # Periods.
    "a sine after half a period": alone(every(eq(sin(y + pi), sin(y)), (y,), by=Identity()), CUT),
    "a cosine at whole multiples": alone(every(eq(cos(pi * j), 1), (j,), by=Identity()), CUT),
    "a sine at halves": alone(every(eq(sin(pi * j / 2), 0), (j,), by=Identity()), CUT),
    "a tangent at its pole": alone(every(eq(tan(y) * cos(y), sin(y)), (y,), by=Identity()), LISTED),
    "sine and cosine agree": alone(every(le(sin(y), cos(y)), (y,), by=Elementary()), CUT),
}
