"""Sorts of terms: each has one or is refused, and every law is about terms that have one."""

import pytest
from sympy import Expr, default_sort_key

from rnnbounds.theory import CLAIMS
from rnnbounds.theory.axioms.base import AXIOMS
from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.statements import require_fitting
from rnnbounds.theory.kernel.terms import TermError
from rnnbounds.theory.language import Statement, eq, le, ne
from rnnbounds.theory.language.terms import vectors
from rnnbounds.theory.language.terms.networks import d_state, slopes
from rnnbounds.theory.language.terms.variables import (
    A,
    B,
    X,
    Y,
    a,
    b,
    eye,
    operator,
    v,
    vector,
    x,
    z,
)
from rnnbounds.theory.language.terms.vectors import inner, norm

SORTS = {
    "number": (z * norm(a) + 1, inner(a, A * b)),
    "vector": (
        vectors.state(x, 0, 3), z * a - A * B * b, vectors.transpose(A) * (a + B * b),
        d_state(a, b) * v,
    ),
    "operator": (d_state(a, b), A * vectors.diagonal(a) - z * eye + B**2, slopes(a, b) * A),
    "either": (X, A * Y + z * Y),
}  # fmt: skip


@pytest.mark.parametrize(
    ("term", "sort"), [(term, sort) for sort, terms in SORTS.items() for term in terms], ids=str
)
def test_a_term_has_one_sort(term: Expr, sort: str) -> None:
    """By its symbols and functions."""
    assert door.term(term).sort == sort


@pytest.mark.parametrize(
    ("term", "reason"),
    [
        (A + a, "adds operator and vector"),
        (a + 1, "adds number and vector"),
        (A - z, "adds number and operator"),
        (X + a, "adds either and vector"),
        (a * b, "a in a\\*b is no operator"),
        (norm(a * A), "no operator"),
        (X * a, "no operator"),
        (a**2, "a power of a vector"),
    ],
    ids=str,
)
def test_what_has_none(term: Expr, reason: str) -> None:
    """In one line."""
    with pytest.raises(TermError, match=reason):
        _ = door.term(term).sort


def test_what_a_variable_ranges_over() -> None:
    """A variable of either sort takes both, and what is of either sort stands for no other."""

    def fits(term: Expr, over: Expr) -> bool:
        try:
            require_fitting(door.term(term), door.term(over))
        except TermError:
            return False
        return True

    terms = (norm(a), a, A, X)
    assert [[fits(term, w) for term in terms] for w in (z, a, A, X)] == [
        [True, False, False, False],
        [False, True, False, False],
        [False, False, True, False],
        [False, True, True, True],
    ]
    assert all(fits(eye * 0, w) for w in (z, a, A, X))


@pytest.mark.parametrize(
    "statement", [eq(A, a), eq(a, 1), le(a, b), ne(A, B), le(0, a), le(norm(a * b), 1)], ids=str
)
def test_what_is_compared_is_of_one_sort(statement: Statement) -> None:
    """Vectors and operators are equal or not; they have no order."""
    with pytest.raises(TermError):
        door.statement(statement)


def test_zero_is_of_every_sort() -> None:
    """On either side of an equation."""
    for statement in (eq(A, 0), eq(0, a), le(0, norm(a)), eq(A * a, b)):
        door.statement(statement)


def test_operators_are_ordered_among_vectors() -> None:
    """Sums read the same whatever sorts their symbols have, and no two sorts are equal."""
    names = [vector("a"), operator("b"), vector("c"), operator("d")]
    assert sorted({*names}, key=default_sort_key) == names
    assert operator("a") != vector("a")


def test_every_law_is_about_terms_of_one_sort() -> None:
    """Axioms, what they require, and the assumptions of all forms; what ranges over both sorts is a
    variable."""
    required = {law for axiom in AXIOMS for law in axiom.requires}
    forms = (form for claim in CLAIMS for form in claim.forms)
    granted = {part.law for form in forms for part in form.assumptions if part.law is not None}
    for law in {*AXIOMS, *required, *granted}:
        found = door.law(law)  # refuses all others
        assert law in required or "either" not in {one.sort for one in found.constants}
    assert len(granted) > 100
