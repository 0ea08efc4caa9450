"""Definitions at numbers: terms without variables, as nested tuples, and how they unfold.

A ground term is a number, or a head with its arguments: a symbol is a head alone, ``("x",)``, and
h_T at T = 5 is ``("state", ("x",), 0, 5)``. Terms unfold by the equations of theory: definitions
and the laws that give a function its values at 0 and at j + 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, lru_cache, reduce
from itertools import groupby
from operator import mul
from typing import Any

from sympy import Add, Expr, Function, Mul, Pow, Rational, Symbol

from rnnbounds.theory.axioms import base, gradients, unitary
from rnnbounds.theory.claims.table import discover_claims
from rnnbounds.theory.language.definitions import REGISTRY
from rnnbounds.theory.language.law import Clause, Law

Term = Any  # a number, or a tuple of a head and terms
Numbers = Mapping[Symbol, Term]
Builder = Callable[[Numbers], Term]
CACHED_TERMS = 2**18
# Laws that say what a function is worth at 0 and at j + 1, beside the definitions.
LAWS: tuple[Law | None, ...] = (
    base.CHAIN_RULE_START, base.CHAIN_RULE,
    gradients.WEIGHTS_START, gradients.CHAIN_RULE_WEIGHTS,
    gradients.WEIGHTS_START_OTHER, gradients.CHAIN_RULE_OTHER,
    unitary.STATES_START, unitary.CHAIN_RULE_STATES,
)  # fmt: skip


@cache
def term_builder(expression: Expr) -> Builder:
    """Build the function from variables' values to the ground term of an expression."""
    if isinstance(expression, Symbol):
        name: Term = (expression.name,)
        return lambda values: values.get(expression, name)
    if isinstance(expression, Rational):
        number = Fraction(int(expression.p), int(expression.q))
        value = number.numerator if number.denominator == 1 else number
        return lambda values: value
    parts = tuple(map(term_builder, expression.args))
    if isinstance(expression, Add):
        return lambda values: sum_terms([part(values) for part in parts])
    if isinstance(expression, Mul):
        return lambda values: multiply_terms([part(values) for part in parts])
    head = "^" if isinstance(expression, Pow) else expression.func.__name__
    return lambda values: (head, *(part(values) for part in parts))


def is_number(term: Term) -> bool:
    """True if the term is a number, not a tuple."""
    return not isinstance(term, tuple)


def sum_terms(terms: list[Term]) -> Term:
    """The sum of terms, numbers collected first."""
    number = sum(filter(is_number, terms))
    rest = [term for term in terms if not is_number(term)]
    if not rest:
        return number
    rest = [number, *rest] if number else rest
    return rest[0] if len(rest) == 1 else ("+", *rest)


def multiply_terms(factors: list[Term]) -> Term:
    """The product of factors, numbers collected first."""
    number = reduce(mul, filter(is_number, factors), 1)
    rest = [factor for factor in factors if not is_number(factor)]
    if not rest or number == 0:
        return number
    rest = rest if number == 1 else [number, *rest]
    return rest[0] if len(rest) == 1 else ("*", *rest)


class Rule:
    """An equation f(…) = value: the arguments name variables, at 0, at j or at j + 1."""

    def __init__(self, arguments: tuple[Expr, ...], value: Builder) -> None:
        self.value = value
        # The place of an argument, its variable that no argument before names, and what it adds.
        self.places: list[tuple[int, Symbol | None, Builder]] = []
        named_symbols: set[Symbol] = set()
        for i in sorted(range(len(arguments)), key=lambda i: len(arguments[i].free_symbols)):
            new = [symbol for symbol in arguments[i].free_symbols if symbol not in named_symbols]
            named_symbols.update(new)
            self.places.append((i, new[0] if new else None, term_builder(arguments[i])))

    def match(self, arguments: tuple[Term, ...]) -> dict[Symbol, Term] | None:
        """The variables' values at these arguments; None where the equation is of others."""
        values: dict[Symbol, Term] = {}
        for i, new, build in self.places:
            term = arguments[i]
            if new is None:
                if build(values) != term:
                    return None
                continue
            values[new] = 0
            offset = build(values)
            if is_number(term):
                values[new] = term - offset
                if term < offset:
                    return None
            elif offset == 0:
                values[new] = term
            else:
                return None
        return values


@cache
def rules() -> dict[tuple[str, int], list[Rule]]:
    """The equations by the function whose values they give, those that claims bring too."""
    discover_claims()
    by_head: dict[tuple[str, int], list[Rule]] = {}
    for law in (*REGISTRY.values(), *LAWS):
        clauses = filter(is_rule, () if law is None else law.clauses)
        for left, group in groupby(clauses, lambda clause: clause.conclusion.lhs):
            values = [term_builder(clause.conclusion.rhs) for clause in group]
            rule = Rule(left.args, values[0] if len(values) == 1 else largest_builder(values))
            by_head.setdefault((left.func.__name__, len(left.args)), []).append(rule)
    return by_head


def is_rule(clause: Clause) -> bool:
    """True if the clause equates a function of variables, integers and sums of these to a value."""
    left = clause.conclusion.lhs
    is_simple = all(part.is_Symbol or part.is_Integer or part.is_Add for part in left.args)
    return clause.conclusion.relation == "==" and isinstance(left, Function) and is_simple


def largest_builder(values: list[Builder]) -> Builder:
    """The largest: what `theory.language.definitions.larger` states case by case."""
    return lambda numbers: ("Max", *(value(numbers) for value in values))


@lru_cache(maxsize=CACHED_TERMS)
def unfold(term: Term) -> Term | None:
    """Rewrite a term by the first equation that applies to it; None if none does."""
    if is_number(term):
        return None
    head, *arguments = term
    for rule in rules().get((head, len(arguments)), ()):
        values = rule.match(tuple(arguments))
        if values is not None:
            return rule.value(values)
    return None
