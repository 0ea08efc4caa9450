"""Falsehoods that an audit proved, each with the rule that refuses it now."""

from dataclasses import dataclass, replace

from sympy import Abs, Expr, Integer, Symbol, exp
from sympy.core.function import FunctionClass

from falsehoods.attack import TRUE, Attack, Forgery, alone, ends, every, formal, used
from falsehoods.sixty import CUT, MOVING, NEITHER, final, zero_norm
from rnnbounds.theory.axioms import base
from rnnbounds.theory.axioms.unitary import IDENTITY_NORM
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
    law,
    le,
    lt,
    symbols,
)
from rnnbounds.theory.language.definitions import REGISTRY
from rnnbounds.theory.language.functions import RealPower
from rnnbounds.theory.language.quantity import Quantity, measured
from rnnbounds.theory.language.terms.networks import curvature
from rnnbounds.theory.language.terms.variables import a, b, j, m, operator, v, y, z
from rnnbounds.theory.language.terms.vectors import Scalar, function, norm, transpose
from rnnbounds.theory.language.terms.vectors import inner as inner_product
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof import Form, Proof, Step
from rnnbounds.theory.proof.methods import Cases, Gap, Induction, Method, Smt, Words

h_norm, L_rho, beta_rho, T = symbols("h_norm L_rho beta_rho T")
W, V = operator("W"), operator("V")
NO_RECORD, NO_PART = "no record that the engine knows", "is no direct method"


class Granting(Axiom):
    """An axiom that answers for itself: it equals every other."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash(base.TRIANGLE)


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


class Kin(type):
    """A class of classes that equal the statements'."""

    def __eq__(cls, other: object) -> bool:
        return other is Statement

    def __hash__(cls) -> int:
        return hash(Statement)


class Twin(Statement, metaclass=Kin):
    """A statement whose class equals the one of the list."""


class Swift(RealPower):
    """Printed as y^z, and worth what its definition says."""

    defined = True


class Answering(dict[str, object]):
    """What a record keeps, told otherwise."""

    def get(self, name: str, default: object = None) -> object:
        """The sides are 0."""
        return Integer(0) if name != "relation" else "=="


class Softened(Form):
    """A form that means what it likes."""

    def meant(self, statement: Statement) -> Statement:
        """Nothing."""
        return TRUE


class Alike(str):
    """A name that equals no other, and is printed as it is."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return 7


def renamed() -> Expr:
    """A function of two, worth 0, that takes the name of the inner product."""
    found = function("no_product", Scalar, defined=True)
    found.__name__ = "inner"
    return found(final, final)


def form(cls: type[Form] = Form, about: str = "rnn", **kept: object) -> Form:
    """That ‖h_T‖ ≤ 0, from nothing."""
    found = cls("false", nothing, (), about, Proof((Step("claim", nothing, Smt()),)))
    vars(found).update(kept)
    return found


def told_otherwise() -> Statement:
    """‖h_T‖ ≤ 0, with a `__dict__` that answers 0 == 0."""
    found = le(h_norm, 0)
    object.__setattr__(found, "__dict__", Answering(vars(found)))
    return found


def premise_hidden() -> Assumption:
    """‖v‖ ≤ 0 where 1 ≤ 0, whose instance lists no premise among its fields."""
    clause = Clause(le(norm(v), 0), (le(1, 0),))
    listed = dict(Clause.__dataclass_fields__)
    del listed["given"]
    vars(clause)["__dataclass_fields__"] = listed
    return Assumption("vacuous", "", law=Law("vacuous", (v,), (clause,)))


def written(told: Law, *terms: Expr | int) -> None:
    """‖h_T‖ ≤ 0, by a law into which it is written for as long as this is tried."""
    kept = vars(told)["clauses"]
    first = told.variables[0]
    vars(told)["clauses"] = law("", (first,), le(norm(first), 0)).clauses
    try:
        if reason := used(NEITHER, nothing, told.at(*terms)).refusal():
            raise Gap(reason)
    finally:
        vars(told)["clauses"] = kept


def spare() -> None:
    """‖v‖ ≤ 0, written into a definition that was entered."""
    found = define("spare", (v,), eq(function("spare", Scalar, defined=True)(v), 0))
    try:
        written(found, final)
    finally:
        del REGISTRY[found.id]  # it is of no claim


def named_again() -> None:
    """The quantity that was entered, with another value written into the record."""
    one = measured("q_written", "", "q_written", None)
    enter(one)
    try:
        vars(one)["definition"] = -norm(final)
        enter(one)
    finally:
        del VOCABULARY["q_written"]


def inner_is_new() -> None:
    """⟨a, b⟩ = 0, of an inner product that says that it is to be defined."""
    inner_product.defined = True
    try:
        define("no inner product", (a, b), eq(inner_product(a, b), 0))
    finally:
        inner_product.defined = False


def any_number() -> None:
    """f(y) = m for every m: the statement says of itself that it has no symbols."""
    told = eq(function("f_of_any", Scalar, defined=True)(y), m)
    vars(told)["symbols"] = frozenset()
    define("any number", (y, m), told)


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
    "a method that swears": ends(NO_RECORD, nothing, Sworn()),
    "a part that swears": alone(NO_PART, every(le(j, 0), (j,), by=Induction(j, Smt(), Sworn()))),
    "the curvature by the slopes": alone(
        "is not the bound on", every(le(Abs(curvature(z)), beta_rho), (z,), by=Cases())
    ),
    # Records are read, and nothing of theirs is called.
    "an axiom that equals all": used(
        NO_RECORD, nothing, Instance(Granting("norm", (), none), ())
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
        "no record", lambda: enter(
            type("Of", (Quantity,), {})(**vars(measured("q_grown", "", "q", None)))
        )
    ),
    "a number that is printed as another": ends(NO_RECORD, eq(Lying(), 1), Smt()),
    "an axiom with a term that equals all": used(NO_RECORD, eq(norm(V), 1), GRAND.at()),
    "a value that names nothing, it says": Forgery("uses on the right", any_number),
    # One system has it, and not all.
    "a witness for all": used(
        "no fact of all systems", nothing, "witness",
        granted=(Assumption("witness", "", exists(h_norm, 0)),),
    ),
    # What is kept of a record is what its class lists, and no more is asked.
    "a class that equals a record's": ends(NO_RECORD, Twin(h_norm, "<=", Integer(0)), Smt()),
    "a record that tells otherwise what it keeps": ends(CUT, told_otherwise(), Smt()),
    "a premise that is no field": used(
        CUT, nothing, at("vacuous", final), granted=(premise_hidden(),)
    ),
    "a form that means what it likes": formal(NO_RECORD, form(Softened)),
    "a form with a meaning of its own": formal(CUT, form(meant=lambda _: TRUE)),
    "a form about what equals cells": formal(NO_RECORD, form(about=Alike("cell"))),
    "an axiom that was written into": Forgery(
        "no axiom of the list", lambda: written(base.TRIANGLE, final, 0)
    ),
    "a definition that was written into": Forgery(NEITHER, spare),
    "a quantity that was written into": Forgery("two quantities are named", named_again),
    "an inner product that is to be defined": Forgery("is no new function", inner_is_new),
    # Names tell what they name apart, and are printed as one.
    "a function by another's name": ends(NO_RECORD, eq(renamed(), 0), Smt()),
    "a power of another value": ends(NO_RECORD, le(Swift(y, z), -1), Smt()),
    "a name that is a product": Forgery("is no name", lambda: function("h_norm*exp", Scalar)),
    "a name that equals no other": Forgery(
        "is no name", lambda: FunctionClass(Alike("norm"), (Scalar,), {})
    ),
    "a symbol that equals no other": ends(NO_RECORD, le(Symbol(Alike("y"), real=True), 0), Smt()),
    "a quantity in letters that look alike": Forgery(
        "no plain name", lambda: enter(measured("h_n\u043erm", "", "q", Integer(-1)))
    ),
    "a least value that is a text": Forgery(
        "no plain name", lambda: enter(replace(measured("q_least", "", "q"), lower=True))
    ),
    "a quantity of cells that is printed as another number": Forgery(
        "no plain term",
        lambda: enter(replace(measured("q_of_cells", "", "q_of_cells"), of_cells=Lying())),
    ),
    "a quantity in another's notation": Forgery(
        "the notation of another",
        lambda: enter(measured("q_like", "", VOCABULARY["h_norm"].notation, Integer(0))),
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
