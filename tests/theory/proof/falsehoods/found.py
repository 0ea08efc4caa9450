"""Falsehoods that an audit proved, each with the rule that refuses it now."""

from dataclasses import dataclass, replace

from sympy import Abs, Expr, Integer, Symbol, exp

from falsehoods.attack import Attack, Forgery, alone, assume, ends, every, used
from falsehoods.sixty import CUT, MOVING, final, values, zero_norm
from rnnbounds.theory.axioms import base
from rnnbounds.theory.axioms.unitary import IDENTITY_NORM
from rnnbounds.theory.kernel.statements import Law as Kept
from rnnbounds.theory.language import (
    Assumption,
    Axiom,
    Clause,
    Instance,
    Law,
    Statement,
    at,
    define,
    enter,
    eq,
    exists,
    le,
    lt,
    symbols,
)
from rnnbounds.theory.language.definitions import REGISTRY
from rnnbounds.theory.language.quantity import Quantity, measured
from rnnbounds.theory.language.terms.networks import curvature, steepness
from rnnbounds.theory.language.terms.variables import j, m, operator, v, y, z
from rnnbounds.theory.language.terms.vectors import Scalar, function, norm, transpose
from rnnbounds.theory.proof import Proof, Step
from rnnbounds.theory.proof.methods import HYPOTHESIS, Cases, Induction, Method, Smt, Words
from rnnbounds.theory.proof.records import Lemma

h_norm, L_rho, beta_rho, T = symbols("h_norm L_rho beta_rho T")
W, V = operator("W"), operator("V")
NO_RECORD, NO_PART = "no record that the engine knows", "is no direct method"


class Granting(Axiom):
    """An axiom that answers for itself: it equals every other."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash(base.TRIANGLE)


class Named(Law):
    """A law that says nothing against its use, and names its clauses itself."""

    def objection(self, *_: object) -> str:
        """None."""
        return ""

    @property
    def kernel_law(self) -> Kept:
        """Whatever it likes."""
        raise AssertionError


class Forged(Lemma):
    """A lemma with a ledger of its own."""

    @property
    def ledger(self) -> object:
        """Proved."""
        raise AssertionError


@dataclass(frozen=True)
class Sworn(Method):
    """A method that proves what it is asked."""

    name = "sworn"

    @property
    def uses(self) -> tuple[str, ...]:
        """Nothing."""
        return ()

    def prove(self, *_: object) -> str:
        """Nothing is looked at."""
        return "by my word"


class Swayed(Smt):
    """The solver's method, but for its answer."""

    def prove(self, *_: object) -> str:
        """Nothing is looked at."""
        return "by my word"


class Grown(Quantity):
    """A quantity that answers for itself."""


class Lying(Integer):
    """The number 1, which is printed as 0."""

    __slots__ = ()
    p = q = 1

    def __new__(cls) -> "Lying":
        """Of no number at all."""
        return Expr.__new__(cls)

    def _sympystr(self, _: object) -> str:
        return "0"


class grand(norm):  # noqa: N801
    """A norm that equals every other, so that an axiom with it is on the list."""

    func = property(lambda _: norm)

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


class nought(Scalar):  # noqa: N801
    """A function with the value 1, which is printed as 0."""

    defined = True

    def _sympystr(self, _: object) -> str:
        return "0"


def any_number() -> None:
    """f(y) = m for every m: the statement says of itself that it has no symbols."""
    told = eq(function("f_of_any", Scalar, defined=True)(y), m)
    vars(told)["symbols"] = frozenset()
    define("any number", (y, m), told)


NOUGHT = define("nought", (y,), eq(nought(y), 1))
del REGISTRY[NOUGHT.id]  # it is of no claim
GRAND = replace(IDENTITY_NORM, clauses=(Clause(eq(grand(V), 1)), *IDENTITY_NORM.clauses[1:]))
inner = Induction(m, Smt("given 1"), Smt("given 1"), (eq(1, 0),))
nothing = le(h_norm, 0)
lemma = replace(MOVING, proof=Proof((Step("s", nothing, Smt()),)), statement=nothing).lemma("l")
none = zero_norm.clauses
FOUND: dict[str, Attack | Forgery] = {
    # 1/q² of q = y² is 1/y⁴.
    "a square is taken for a root": alone(
        CUT, every(eq(1 / z**2, 1 / y), (y, z), eq(z, y**2), lt(0, y))
    ),
    # Parts of a composite method.
    "an induction within an induction supposes what it likes": alone(
        NO_PART, every(eq(j, m), (j, m), by=Induction(j, inner, inner))  # type: ignore[arg-type]
    ),
    "an induction within itself over a real": alone(
        NO_PART,
        every(le(j, y), (j, y), by=Induction(j, Induction(y, Smt(), Smt()), Smt(HYPOTHESIS))),  # type: ignore[arg-type]
    ),
    "a method that swears": ends(NO_RECORD, nothing, Sworn()),
    "a solver that is swayed": ends(NO_RECORD, nothing, Swayed()),
    "a part that is swayed": alone(
        NO_PART, every(le(j, 0), (j,), by=Induction(j, Smt(), Swayed()))
    ),
    # One method is of one table.
    "a slope of half of what it is": alone(
        "is not the bound on", every(le(Abs(steepness(z)), L_rho / 2), (z,), by=Cases())
    ),
    "another function's slope": alone(
        "is not the bound on", every(le(Abs(values(z)), L_rho), (z,), by=Cases())
    ),
    "the curvature by the slopes": alone(
        "is not the bound on", every(le(Abs(curvature(z)), beta_rho), (z,), by=Cases())
    ),
    # No operator has an inverse by its making.
    "V W⁻¹ of V = W is the identity": used(
        "the power of an operator is none", le(norm(v), norm(V * W**-1 * v)), "same",
        granted=(assume("same", eq(V, W)),),
    ),
    # Records are read, and nothing of theirs is called.
    "an axiom that equals all": used(
        NO_RECORD, nothing, Instance(Granting("norm", (), none), ())
    ),
    "a law without an objection": used(NO_RECORD, nothing, Named("zero", (v,), none).at(final)),
    "a lemma with a ledger of its own": used(
        NO_RECORD, nothing, Forged("l", (), (), (), nothing, MOVING.proof).at()
    ),
    "an instance of more": used(NO_RECORD, nothing, type("Of", (Instance,), {})("zero", ())),
    "a statement of more": Attack(
        NO_RECORD, (Step("claim", type("Of", (Statement,), {})(h_norm, "<=", 0), Smt()),)
    ),
    "an assumption of more": Attack(
        NO_RECORD, (Step("claim", eq(1, 1), Smt()),), (type("Of", (Assumption,), {})("a", ""),)
    ),
    "an assumption that is a lemma": used(
        "assumes what is to be proved", nothing, "l", granted=(Assumption("l", "", law=lemma),)
    ),
    "an assumption that is an axiom": used(
        "assumes what is to be proved", nothing, at("n", final),
        granted=(Assumption("n", "", law=Axiom("n", (v,), none)),),
    ),
    "a symbol of more": ends(
        NO_RECORD, le(0, type("Of", (Symbol,), {})("y", real=True) ** 2), Smt()
    ),
    "a quantity of more": Forgery(
        "no record", lambda: enter(Grown(**vars(measured("q_grown", "", "q", None))))
    ),
    "a number that is printed as another": ends(NO_RECORD, eq(Lying(), 1), Smt()),
    "an axiom with a term that equals all": used(NO_RECORD, eq(norm(V), 1), GRAND.at()),
    "a function that is printed as a number": used(NO_RECORD, eq(nought(0), 1), NOUGHT.at(0)),
    "a value that names nothing, it says": Forgery("uses on the right", any_number),
    # One system has it, and not all.
    "a witness for all": used(
        "no fact of all systems", nothing, "witness",
        granted=(Assumption("witness", "", exists(h_norm, 0)),),
    ),
    # Terms without a meaning.
    "a transpose of two": ends("of one term", eq(transpose(W, V), transpose(W)), Words()),
    "the exponential of an operator is a number": ends(
        "of a number", eq(exp(W) * V, V * exp(W)), Words()
    ),
    # 0 <= q of a natural variable q, before q was said to be k - 5.
    "a variable that becomes a quantity": Forgery(
        "is a variable",
        lambda: enter(replace(measured("q_later", "", "q", T - 5), symbol=Symbol("q_later"))),
    ),
    "a number of 15052 digits": ends("too long to be written", le(1, Integer(2) ** 50_000), Smt()),
}  # fmt: skip
