"""Sums of words of operators and vectors, each with a number before it.

Words are products of letters; a rule, used left to right, replaces a part of a word by a sum of
words, and its transpose by theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from rnnbounds.theory.kernel.algebra import (
    apply,
    build,
    expanded,
    fully_expanded,
    parts_of,
    plus,
    power,
    times,
)
from rnnbounds.theory.kernel.rewriting import is_vector_equation, partial_powers
from rnnbounds.theory.kernel.statements import Clause, Statement
from rnnbounds.theory.kernel.terms import ONE, POWER, PRODUCT, SUM, TRANSPOSE, ZERO, Gap, Term

MOST = 1_000  # rewritings of one expression
Word: TypeAlias = tuple[Term, ...]
Words: TypeAlias = dict[Word, Term]  # the number before each word


def _factors(term: Term) -> tuple[Term, ...]:
    return term.args if term.head is PRODUCT else (term,)


def word_rules(clauses: tuple[Clause, ...]) -> dict[Word, Words]:
    """The equations between operators whose left side is one word."""
    rules: dict[Word, Words] = {}
    stated = {clause.conclusion for clause in clauses if not clause.given}
    for clause in clauses:
        statement = clause.conclusion
        if not is_vector_equation(statement):
            continue
        if statement.relation != "==" or not all(premise in stated for premise in clause.given):
            raise Gap(f"{statement} cannot be used: no granted equation")
        require_polynomial(statement)
        left = words(statement.lhs)
        if list(left.values()) != [ONE]:
            raise Gap(f"{statement} cannot be used: its left side is no single word")
        (word,) = left
        rules[word] = words(statement.rhs)
    for word, right in tuple(rules.items()):
        if len(word) > 1 or word[0].head != TRANSPOSE:
            rules.setdefault(tuple(map(_transposed, reversed(word))), _reversed(right))
    return rules


def word_form(term: Term, rules: Mapping[Word, Words]) -> Term:
    """The term with every operator in it as a sum of words that no rule rewrites."""
    if not term.commutes:
        return _written(_rewritten(words(term), rules))
    if term.head is not POWER and term.args:
        return build(term.head, tuple(word_form(arg, rules) for arg in term.args))
    if term.head is POWER:
        return power(word_form(term.args[0], rules), term.args[1])
    return term


def require_polynomial(statement: Statement) -> None:
    """Raise Gap for quotients, roots and symbolic powers, which may have no value."""
    for one in partial_powers(statement.sides):
        raise Gap(f"{one} stands in no sum of words")


def words(term: Term) -> Words:
    """The term as a sum of words; raises Gap where a number is added to an operator."""
    found: Words = {}
    for part in parts_of(fully_expanded(term)):
        if part is ZERO:
            continue
        factors = _factors(part)
        numbers = [one for one in factors if one.commutes]
        letters = [one for one in factors if not one.commutes]
        if not letters:
            raise Gap(f"the number {part} stands where an operator is needed")
        product: Words = {(): times(*numbers)}
        for letter in letters:
            product = _times(product, _factor(letter))
        found = _plus(found, product)
    return found


def _factor(letter: Term) -> Words:
    if letter.head is POWER:
        product = base = _factor(letter.args[0])
        for _ in range(int(letter.args[1].value) - 1):
            product = _times(product, base)
        return product
    if letter.head is SUM:
        return words(letter)
    if letter.head == TRANSPOSE:
        return _reversed(words(letter.args[0]))
    return {(letter,): ONE}


def _reversed(found: Words) -> Words:
    """The transpose."""
    return {tuple(map(_transposed, reversed(word))): factor for word, factor in found.items()}


def _transposed(letter: Term) -> Term:
    if letter.head == TRANSPOSE:
        return letter.args[0]
    return apply(TRANSPOSE, letter)


def _times(first: Words, second: Words) -> Words:
    total: Words = {}
    for left, p in first.items():
        for right, q in second.items():
            total = _plus(total, {left + right: times(p, q)})
    return total


def _plus(first: Words, second: Words) -> Words:
    total = dict(first)
    for word, factor in second.items():
        total[word] = expanded(plus(total.get(word, ZERO), factor))
    return {word: factor for word, factor in total.items() if factor is not ZERO}


def _rewritten(found: Words, rules: Mapping[Word, Words]) -> Words:
    """Apply the rules until none does; raises Gap if that does not end."""
    for _ in range(MOST):
        step = next(((w, *at) for w in found if (at := _match(w, rules))), None)
        if step is None:
            return found
        word, start, pattern = step
        rest = {other: factor for other, factor in found.items() if other != word}
        before: Words = {word[:start]: found[word]}
        after: Words = {word[start + len(pattern) :]: ONE}
        found = _plus(rest, _times(_times(before, rules[pattern]), after))
    raise Gap("rewriting the words does not end")


def _match(word: Word, rules: Iterable[Word]) -> tuple[int, Word] | None:
    """Find the first position in the word at which a rule applies: (position, rule) or None."""
    for start in range(len(word)):
        for pattern in rules:
            if word[start : start + len(pattern)] == pattern:
                return start, pattern
    return None


def _written(found: Words) -> Term:
    return plus(*(times(factor, *word) for word, factor in found.items()))
