"""Equations as rules, used left to right: between vectors, between atoms, and on words.

A rule between vectors or atoms replaces a term wherever it stands.  Words are products of letters,
operators and vectors; a rule replaces a part of a word by a sum of words, each with a number before
it, and its transpose by theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from rnnbounds.theory.kernel import heads
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
from rnnbounds.theory.kernel.statements import Clause, Statement, domains, eq
from rnnbounds.theory.kernel.terms import ONE, ZERO, Gap, Term, within

ROUNDS = 100
MOST = 1_000  # rewritings of one expression

Rules: TypeAlias = Mapping[Term, Term]
Word: TypeAlias = tuple[Term, ...]
Words: TypeAlias = dict[Word, Term]  # the number before each word


def is_vector_equation(statement: Statement) -> bool:
    """True if the statement equates vectors or operators (0 may be on the right)."""
    return not all(side.commutes for side in statement.sides)


def prepare(goal: Statement, clauses: tuple[Clause, ...]) -> tuple[Statement, tuple[Clause, ...]]:
    """The goal and the clauses between numbers, rewritten by the equations that are rules.

    The rules are those between vectors and between atoms. A clause that they change becomes
    conditional on what gave it, and the rules, a meaning before. The same is asked for the goal,
    rewritten or not, by equations p = p, to be translated with the clauses: what stands in a
    function must have a value too.
    """
    rules = _rules(clauses)
    rewritten = rewrite(goal, rules)
    partial = partial_powers((*goal.sides, *(rules.values() if rewritten != goal else ())))
    meant = (Clause(rewrite(eq(one, one), rules)) for one in partial if one.commutes)
    scalars = (_rewritten(c, rules) for c in clauses if not is_vector_equation(c.conclusion))
    return rewritten, (*scalars, *meant)


def partial_powers(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """The quotients, roots and symbolic powers, at any depth."""
    found = {
        one
        for term in terms
        for one in within(term)
        if one.head is heads.POWER and not (one.args[1].whole and one.args[1].value > 0)
    }
    return tuple(sorted(found, key=lambda one: one.key))


def _rules(clauses: tuple[Clause, ...]) -> dict[Term, Term]:
    rules: dict[Term, Term] = {}
    stated = {clause.conclusion for clause in clauses if not clause.given}
    for clause in clauses:
        statement = clause.conclusion
        if is_vector_equation(statement):
            granted = all(premise in stated for premise in clause.given)
            if statement.relation != "==" or not granted or not is_atom(statement.lhs):
                raise Gap(f"{statement} cannot be used: no granted equation for one term")
            rules[statement.lhs] = statement.rhs
        elif _renames(clause):
            rules[statement.lhs] = statement.rhs
    return rules


def _rewritten(clause: Clause, rules: Rules) -> Clause:
    result = Clause(
        rewrite(clause.conclusion, rules), tuple(rewrite(given, rules) for given in clause.given)
    )
    if result == clause:
        return clause
    meant = domains((*clause.sides, *rules.values()))
    return Clause(result.conclusion, (*result.given, *(rewrite(s, rules) for s in meant)))


def _renames(clause: Clause) -> bool:
    """True if the clause equates a function term to an atom or a number: needed inside powers."""
    statement = clause.conclusion
    equation = statement.relation == "==" and not clause.given
    simple = statement.rhs.head is heads.NUMBER or is_atom(statement.rhs)
    return equation and simple and statement.lhs.head.is_formal and bool(statement.lhs.args)


def is_atom(term: Term) -> bool:
    """True if the term is one variable or one function term, which a rule can replace."""
    return term.head not in (heads.NUMBER, heads.SUM, heads.PRODUCT, heads.POWER)


def rewrite(statement: Statement, rules: Rules) -> Statement:
    """Apply the rules to a fixed point; raises Gap if there is none."""
    for _ in range(ROUNDS if rules else 0):
        rewritten = statement.replace(rules)
        if rewritten == statement:
            return statement
        statement = rewritten
    if rules:
        raise Gap(f"rewriting {statement} does not end")
    return statement


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
        if len(word) > 1 or word[0].head != heads.TRANSPOSE:
            rules.setdefault(tuple(map(_transposed, reversed(word))), _reversed(right))
    return rules


def word_form(term: Term, rules: Mapping[Word, Words]) -> Term:
    """The term with every operator in it as a sum of words that no rule rewrites."""
    if not term.commutes:
        found = _reduced(words(term), rules)
        return plus(*(times(factor, *word) for word, factor in found.items()))
    if term.head is not heads.POWER and term.args:
        return build(term.head, tuple(word_form(arg, rules) for arg in term.args))
    if term.head is heads.POWER:
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
        factors = part.args if part.head is heads.PRODUCT else (part,)
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
    if letter.head is heads.POWER:
        product = base = _factor(letter.args[0])
        for _ in range(int(letter.args[1].value) - 1):
            product = _times(product, base)
        return product
    if letter.head is heads.SUM:
        return words(letter)
    if letter.head == heads.TRANSPOSE:
        return _reversed(words(letter.args[0]))
    return {(letter,): ONE}


def _reversed(found: Words) -> Words:
    """The transpose."""
    return {tuple(map(_transposed, reversed(word))): factor for word, factor in found.items()}


def _transposed(letter: Term) -> Term:
    if letter.head == heads.TRANSPOSE:
        return letter.args[0]
    return apply(heads.TRANSPOSE, letter)


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


def _reduced(found: Words, rules: Mapping[Word, Words]) -> Words:
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
