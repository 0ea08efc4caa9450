"""Sorts of terms: each has one or is refused, and every law is about terms that have one."""

from collections.abc import Iterator

import pytest
from sympy import Expr, default_sort_key

from rnnbounds.theory import CLAIMS
from rnnbounds.theory.axioms.base import AXIOMS
from rnnbounds.theory.errors import InputError
from rnnbounds.theory.language import Law, Statement, eq, le, ne
from rnnbounds.theory.language.sorts import (
    EITHER,
    NUMBER,
    OPERATOR,
    VECTOR,
    Sort,
    SortError,
    fits,
    require_sorted,
    sort_of,
)
from rnnbounds.theory.language.terms.gradients import d_state, slopes
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
from rnnbounds.theory.language.terms.vectors import (
    absolute,
    computed,
    diagonal,
    entry,
    inner,
    library,
    norm,
    rounded_step,
    state,
    transpose,
)


@pytest.mark.parametrize(
    ("term", "sort"),
    [
        (z * norm(a) + 1, NUMBER),
        (inner(a, A * b), NUMBER),
        (state(x, 0, 3), VECTOR),
        (z * a - A * B * b, VECTOR),
        (transpose(A) * (a + B * b), VECTOR),
        (d_state(a, b) * v, VECTOR),
        (d_state(a, b), OPERATOR),
        (A * diagonal(a) - z * eye + B**2, OPERATOR),
        (slopes(a, b) * A, OPERATOR),
        (X, EITHER),
        (A * Y + z * Y, EITHER),
    ],
    ids=str,
)
def test_a_term_has_one_sort(term: Expr, sort: Sort) -> None:
    """By its symbols and functions."""
    assert sort_of(term) == sort


@pytest.mark.parametrize(
    ("term", "reason"),
    [
        (A + a, "adds operator and vector"),
        (a + 1, "adds number and vector"),
        (A - z, "adds number and operator"),
        (X + a, "adds vector and vector or operator"),
        (a * b, "a in a\\*b is no operator"),
        (norm(a * A), "no operator"),
        (X * a, "no operator"),
        (a**2, "a power of a vector"),
        (absolute(A * B), "computed, not stored"),
        (library(A * a + b), "computed, not stored"),
        (library(2 * a), "computed, not stored"),
        (rounded_step(A, a + b, B, b, v), "computed, not stored"),
    ],
    ids=str,
)
def test_what_has_none(term: Expr, reason: str) -> None:
    """In one line."""
    with pytest.raises(SortError, match=reason) as raised:
        sort_of(term)
    assert isinstance(raised.value, InputError)


def test_stored_values_have_names() -> None:
    """Symbols, numbers, and values of functions."""
    step = rounded_step(A, computed(x, 0), B, entry(x, 1), 0)
    assert (sort_of(step), sort_of(library(step))) == (VECTOR, VECTOR)


def test_what_a_variable_ranges_over() -> None:
    """A variable of either sort takes both, and what is of either sort stands for no other."""
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
    with pytest.raises(SortError):
        require_sorted(statement)


def test_zero_is_of_every_sort() -> None:
    """On either side of an equation."""
    for statement in (eq(A, 0), eq(0, a), le(0, norm(a)), eq(A * a, b)):
        require_sorted(statement)


def test_operators_are_ordered_among_vectors() -> None:
    """Sums read the same whatever sorts their symbols have, and no two sorts are equal."""
    names = [vector("a"), operator("b"), vector("c"), operator("d")]
    assert sorted({*names}, key=default_sort_key) == names
    assert operator("a") != vector("a")


def laws() -> Iterator[Law]:
    """All that ledgers may use without proof but the engine's own arithmetic."""
    yield from AXIOMS
    for axiom in AXIOMS:
        yield from axiom.requires
    for claim in CLAIMS:
        for form in claim.forms:
            yield from (part.law for part in form.assumptions if part.law is not None)


def test_every_law_is_about_terms_of_one_sort() -> None:
    """Axioms, what they require, and the assumptions of all forms."""
    count = 0
    for law in laws():
        for clause in law.clauses:
            for statement in (clause.conclusion, *clause.given):
                require_sorted(statement)
                count += 1
    assert count > 500


def test_constants_are_of_a_known_sort() -> None:
    """What ranges over both sorts is a variable."""
    required = {law for axiom in AXIOMS for law in axiom.requires}
    for law in laws():
        assert law in required or EITHER not in map(sort_of, law.constants)
