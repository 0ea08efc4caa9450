"""What a ledger binds has a namespace of its own: no quantity's name can reach it."""

from collections.abc import Iterator

import pytest
from sympy import Dummy, Expr, Symbol

from rnnbounds import theory
from rnnbounds.theory import CLAIMS
from rnnbounds.theory.kernel import door
from rnnbounds.theory.language import Instance, at, le, symbols
from rnnbounds.theory.language.printing import statement_latex, statement_text
from rnnbounds.theory.language.quantity import parameter
from rnnbounds.theory.language.terms.variables import x
from rnnbounds.theory.language.terms.vectors import norm, state
from rnnbounds.theory.language.vocabulary import DEFINITIONS, VOCABULARY
from rnnbounds.theory.proof import Form, Proof, Step, accept, check, proof
from rnnbounds.theory.proof.methods import Smt

T, k, lam = symbols("T k lam")


def bound(form: Form) -> set[Symbol]:
    """The symbols of a form's ledger that are no quantities."""
    expressions: list[Expr] = []
    for step in form.proof.steps:
        for statement in (step.conclusion, *step.given):
            expressions += [statement.lhs, statement.rhs]
        expressions += list(step.forall)
        expressions += [
            term for use in step.method.uses if isinstance(use, Instance) for term in use.terms
        ]
    found = {symbol for expression in expressions for symbol in expression.free_symbols}
    return {symbol for symbol in found if symbol not in quantities()}


def quantities() -> set[Symbol]:
    """The symbols of the vocabulary."""
    return {quantity.symbol for quantity in VOCABULARY.values()}


def forget() -> None:
    """No ledger is kept."""
    for kept in (proof.checked, accept.outcomes, accept.scopes_of):
        kept.cache_clear()


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """A vocabulary in which every name that some ledger binds is that of a quantity above 5."""
    names = {symbol.name for claim in CLAIMS for form in claim.forms for symbol in bound(form)}
    for name in sorted(names - set(VOCABULARY)):
        monkeypatch.setitem(VOCABULARY, name, parameter(name, "new", name, lower=5))
    forget()
    yield names
    forget()


@pytest.mark.slow
def test_a_quantity_may_have_the_name_of_anything_bound(taken: set[str]) -> None:
    """`moves_h` is bound by the ledgers of contraction-gru, which stay proved, on other terms."""
    assert {"moves_h", "x", "P_c", "I"} <= taken
    for id, name in (("contraction-gru", "torch"), ("truncation", "finite")):
        form = theory.claim(id).form(name)
        assert check(form.proof, form.statement, form.assumptions).proved


def test_a_range_goes_by_symbol(taken: set[str]) -> None:
    """What is bound does not inherit the range of the quantity of its name."""
    assert door.term(VOCABULARY["moves_h"].symbol).head.least == 5
    assert door.term(Symbol("moves_h", real=True)).head.least is None


@pytest.mark.parametrize("name", sorted(VOCABULARY))
def test_no_plain_symbol_is_a_quantity(name: str) -> None:
    """Nor a dummy; and a quantity equals itself, however it was made."""
    symbol = VOCABULARY[name].symbol
    plain = Symbol(name, **symbol._assumptions_orig)
    assert plain != symbol
    assert plain.assumptions0 == symbol.assumptions0
    assert symbol - plain != 0
    assert symbol + plain == plain + symbol
    assert type(symbol)(name, **symbol._assumptions_orig) == symbol
    assert Dummy(name) != symbol


def test_nothing_is_captured() -> None:
    """A law for all bound T bounds every number that it is put at."""
    other = Symbol("T", integer=True)
    every = Step("every", le(other, other + k), Smt(), (other,))
    put = Step("claim", le(T, T + k), Smt(at("every", T)))
    assert check(Proof((every, put)), put.conclusion, ()).proved


def test_a_definition_speaks_of_the_quantities() -> None:
    """A plain symbol of a quantity's name would be another number."""
    for definition in DEFINITIONS.values():
        for symbol in definition.free_symbols:
            if symbol.name in VOCABULARY and symbol.is_commutative:
                assert symbol in quantities()


def test_the_two_are_printed_apart() -> None:
    """A reader sees which of them a step speaks of."""
    other = Symbol("lam", real=True)
    assert statement_text(le(lam, other)) == "lam <= lam'"
    assert statement_latex(le(lam, other)) == r"\lambda \le lam'"
    stranger = state(x, 0, Symbol("T", integer=True))
    assert statement_text(le(norm(stranger), 1)) == "norm(state(x, 0, T')) <= 1"
