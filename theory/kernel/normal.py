"""Identities by normal forms: polynomials in atoms, and sums of words of operators.

The difference of both sides is written out as a polynomial, each quotient multiplied out by its
divisor, each square of a root as its radicand; it is the zero polynomial or the sides are not shown
equal. Words are products of letters; a rule, used left to right, replaces a part of a word by a sum
of words, and its transpose by theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import TypeAlias

from rnnbounds.theory.kernel.algebra import (
    apply,
    build,
    expanded,
    fully_expanded,
    minus,
    parts_of,
    plus,
    power,
    rebuilt,
    times,
)
from rnnbounds.theory.kernel.powers import Powers
from rnnbounds.theory.kernel.rewriting import is_vector_equation, partial_powers
from rnnbounds.theory.kernel.statements import Clause, Statement
from rnnbounds.theory.kernel.terms import (
    HALF,
    NUMBER,
    ONE,
    POWER,
    PRODUCT,
    SUM,
    TRANSPOSE,
    ZERO,
    Gap,
    Term,
    number,
    symbolic_powers,
    within,
)

MOST = 1_000  # rewritings of one expression
Word: TypeAlias = tuple[Term, ...]
Words: TypeAlias = dict[Word, Term]  # the number before each word


def difference(statement: Statement, powers: Powers) -> Term:
    """The difference of both sides, quotients multiplied out and roots squared: 0 if equal."""
    atoms = {
        one: times(_least(powers, key), power(key[0], number(more)))
        for one in symbolic_powers(statement.sides)
        for key, more in [powers.atom(one)]
    }
    left = fully_expanded(rebuilt(minus(*statement.sides), atoms))
    while (quotient := _quotient(left)) is not None:
        left = _cleared(left, quotient)
    return left


def divisors(statement: Statement) -> list[Term]:
    """Bases of negative powers in the statement, which must differ from 0."""
    return _bases(statement, lambda exponent: exponent < 0)


def radicands(statement: Statement) -> list[Term]:
    """Bases of fractional powers in the statement, which must be at least 0."""
    return _bases(statement, lambda exponent: exponent.denominator > 1)


def _bases(statement: Statement, wanted: Callable[[Fraction], bool]) -> list[Term]:
    """The bases of powers, at any depth, by numbers that are wanted."""
    found = {
        one.args[0]
        for side in statement.sides
        for one in within(side)
        if one.head is POWER and one.args[1].head is NUMBER and wanted(one.args[1].value)
    }
    return sorted(found, key=lambda one: one.key)


def _least(powers: Powers, key: tuple[Term, Term]) -> Term:
    return power(key[0], plus(key[1], number(powers.least[key])))


def _factors(term: Term) -> tuple[Term, ...]:
    return term.args if term.head is PRODUCT else (term,)


def _quotient(term: Term) -> Term | None:
    """A base of which a quotient, or the square of a root, is a factor of some part; the largest,
    so that none is put back that was cleared."""
    found = set()
    for part in parts_of(term):
        for one in _factors(part):
            if one.head is POWER and one.args[1].head is NUMBER:
                base, exponent = one.args
                rooted = base.head is POWER and base.args[1] is HALF
                if exponent.value < 0 or (rooted and exponent.value >= 2):
                    found.add(base)
    return max(found, key=lambda one: (len(one.key), one.key), default=None)


def _cleared(term: Term, base: Term) -> Term:
    """The term times a power of the base, without quotients by it; the square of a root as what is
    under it."""
    exponents = [_exponent(part, base) for part in parts_of(term)]
    shift = max(0, -min(exponents))
    rooted = base.head is POWER and base.args[1].head is NUMBER
    terms = []
    for part, exponent in zip(parts_of(term), exponents, strict=True):
        rest = times(*(one for one in _factors(part) if _of(one, base) is None))
        n = exponent + shift
        if rooted:
            whole = power(base.args[0], number(n // 2))
            terms.append(times(whole, power(base, number(n % 2)), rest))
        else:
            terms.append(times(power(base, number(n)), rest))
    return fully_expanded(plus(*terms))


def _of(factor: Term, base: Term) -> int | None:
    """The exponent if the factor is a whole power of the base."""
    if factor is base:
        return 1
    if factor.head is POWER and factor.args[0] is base and factor.args[1].head is NUMBER:
        exponent = factor.args[1].value
        return int(exponent) if exponent.denominator == 1 else None
    return None


def _exponent(part: Term, base: Term) -> int:
    return sum(n for one in _factors(part) if (n := _of(one, base)) is not None)


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
    if term.head in (SUM, PRODUCT) or (term.args and term.head.kind in ("norm", "scalar")):
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
