"""Identities of sums of words of operators, modulo rules between words.

Products are words of letters: symbols and function terms.  A rule, used left to right, replaces a
part of a word by a sum of words, and its transpose by theirs.  Transposition is linear and reverses
words.  No other function is looked into, but for scalar ones, whose arguments
are brought to normal form.
"""

from typing import ClassVar, TypeAlias

from sympy import Add, Expr, Integer, Mul, Pow, expand_mul

from theory.language import Clause, Statement
from theory.language.printing import statement_text
from theory.language.terms.vectors import Norm, Scalar, transpose
from theory.proof.methods.base import Direct, Gap, Scope
from theory.proof.methods.meaning import partial, sides
from theory.proof.methods.rewriting import is_vector, is_vector_equation

MOST = 1_000  # rewritings of one expression

Word: TypeAlias = tuple[Expr, ...]
Sum: TypeAlias = dict[Word, Expr]  # the commutative coefficient of each word
Rules: TypeAlias = dict[Word, Sum]


class Words(Direct):
    """Both sides are the same sum of words, once no rule applies any more."""

    name: ClassVar[str] = "words"

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove an equation of operators, or of scalars that measure them."""
        if goal.relation != "==":
            raise Gap(f"a {goal.relation} is no identity")
        rules = word_rules(scope.clauses(self.hypotheses))
        _require_polynomial(goal)
        lhs, rhs = (normal_form(side, rules) for side in sides((goal,)))
        difference = expand_mul(lhs - rhs)
        if difference != 0:
            raise Gap(f"counter-model: by the rules the sides differ by {difference}")
        return f"the same words by {len(rules)} rules"


def normal_form(expression: Expr, rules: Rules) -> Expr:
    """The expression with every operator in it as a sum of words that no rule rewrites."""
    if is_vector(expression):
        return _written(_rewritten(_words(expression), rules))
    if isinstance(expression, Norm | Scalar) or expression.is_Add or expression.is_Mul:
        return expression.func(*(normal_form(argument, rules) for argument in expression.args))
    if isinstance(expression, Pow):
        return Pow(normal_form(expression.base, rules), expression.exp)
    return expression


def word_rules(clauses: tuple[Clause, ...]) -> Rules:
    """The equations between operators whose left side is one word."""
    rules: Rules = {}
    stated = {clause.conclusion for clause in clauses if not clause.given}
    for clause in clauses:
        statement = clause.conclusion
        if not is_vector_equation(statement):
            continue
        if statement.relation != "==" or not all(premise in stated for premise in clause.given):
            raise Gap(f"{statement_text(statement)} cannot be used: no granted equation")
        _require_polynomial(statement)
        left = _words(statement.lhs)
        if list(left.values()) != [1]:
            raise Gap(
                f"{statement_text(statement)} cannot be used: its left side is no single word"
            )
        (word,) = left
        rules[word] = _words(statement.rhs)
    for word, words in tuple(rules.items()):
        if len(word) > 1 or not isinstance(word[0], transpose):
            turned = tuple(_transposed(letter) for letter in reversed(word))
            rules.setdefault(turned, _reversed(words))
    return rules


def _require_polynomial(statement: Statement) -> None:
    """Raise Gap for quotients, roots and symbolic powers, which may have no value."""
    for power in partial(sides((statement,))):
        raise Gap(f"{power} stands in no sum of words")


def _words(expression: Expr) -> Sum:
    """The expression as a sum of words; raises Gap where a number is added to an operator."""
    found: Sum = {}
    for term in Add.make_args(expand_mul(expression)):
        if term == 0:
            continue
        scalars, factors = term.args_cnc()
        if not factors:
            raise Gap(f"the number {term} stands where an operator is needed")
        product: Sum = {(): Mul(*scalars)}
        for factor in factors:
            product = _times(product, _factor(factor))
        found = _plus(found, product)
    return found


def _factor(factor: Expr) -> Sum:
    if isinstance(factor, Pow):
        product = base = _factor(factor.base)
        for _ in range(int(factor.exp) - 1):
            product = _times(product, base)
        return product
    if factor.is_Add:
        return _words(factor)
    if isinstance(factor, transpose):
        return _reversed(_words(factor.args[0]))
    return {(factor,): Integer(1)}


def _reversed(words: Sum) -> Sum:
    """The transpose."""
    return {
        tuple(_transposed(letter) for letter in reversed(word)): coefficient
        for word, coefficient in words.items()
    }


def _transposed(letter: Expr) -> Expr:
    return letter.args[0] if isinstance(letter, transpose) else transpose(letter)


def _times(first: Sum, second: Sum) -> Sum:
    total: Sum = {}
    for left, p in first.items():
        for right, q in second.items():
            total = _plus(total, {left + right: p * q})
    return total


def _plus(first: Sum, second: Sum) -> Sum:
    total = dict(first)
    for word, coefficient in second.items():
        total[word] = expand_mul(total.get(word, Integer(0)) + coefficient)
    return {word: coefficient for word, coefficient in total.items() if coefficient != 0}


def _rewritten(words: Sum, rules: Rules) -> Sum:
    """Apply the rules until none does; raises Gap if that does not end."""
    for _ in range(MOST):
        step = next(((w, *found) for w in words if (found := _match(w, rules))), None)
        if step is None:
            return words
        word, start, pattern = step
        rest = {other: c for other, c in words.items() if other != word}
        before: Sum = {word[:start]: words[word]}
        after: Sum = {word[start + len(pattern) :]: Integer(1)}
        words = _plus(rest, _times(_times(before, rules[pattern]), after))
    raise Gap("rewriting the words does not end")


def _match(word: Word, rules: Rules) -> tuple[int, Word] | None:
    """Where a rule applies first, and which."""
    for start in range(len(word)):
        for pattern in rules:
            if word[start : start + len(pattern)] == pattern:
                return start, pattern
    return None


def _written(words: Sum) -> Expr:
    return Add(*(coefficient * Mul(*word) for word, coefficient in words.items()))
