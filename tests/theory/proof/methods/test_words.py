"""Words proves identities of operators, and no false one."""

import numpy as np
import pytest
from numpy.typing import NDArray
from sympy import Add, Expr, Mul, Symbol, sqrt

from theory.language import Assumption, Clause, Statement, eq, law, le, symbols
from theory.language.terms.gradients import activation
from theory.language.terms.unitary import rank
from theory.language.terms.variables import operator, v
from theory.language.terms.vectors import frobenius, least, norm, transpose
from theory.proof.methods import Gap, Words
from theory.proof.methods.words import normal_form, word_rules
from theory.proof.scope import Known

A, B, C, V, P = (operator(name) for name in "ABCVP")
n, k, lam = symbols("n k lam")
COUNTER = "counter-model: by the rules the sides differ"


def proves(goal: Statement, *rules: Statement) -> str:
    """Prove the goal from equations."""
    names = [f"h{index}" for index in range(len(rules))]
    granted = (Assumption(name, "", rule) for name, rule in zip(names, rules, strict=True))
    return Words(*names).prove(goal, Known({part.id: part for part in granted}))


ISOMETRY = eq(transpose(V) * V * A, A)


@pytest.mark.parametrize(
    ("goal", "rules"),
    [
        (eq((A + B) * C, A * C + B * C), ()),
        (eq((A + B) ** 2, A * A + A * B + B * A + B * B), ()),
        (eq(transpose(A * B + lam * C), transpose(B) * transpose(A) + lam * transpose(C)), ()),
        (eq(transpose(transpose(A) * B) * A, transpose(B) * A * A), ()),
        (eq(A - A, 0), ()),
        (eq(transpose(V * A) * V * A, transpose(A) * A), (ISOMETRY,)),
        (eq(transpose(A) * A, transpose(C) * transpose(B) * B * C), (eq(A, B * C),)),
        (eq(A * C, 2 * B - P), (eq(A * C, B + B - P),)),
        (eq(norm(V * V * A), norm(C)), (eq(V * V * A, -C),)),
        (eq(rank(B - A), rank(C)), (eq(A, B - C),)),
        (eq(least(A * A - B) ** 2, least(0) ** 2), (eq(A * A, B),)),
        (eq(frobenius(A * B), 0), (eq(A * B, 0),)),
        (eq(A, 0), (eq(A, B), eq(B, 0), le(lam, 1))),
    ],
    ids=str,
)
def test_what_follows(goal: Statement, rules: tuple[Statement, ...]) -> None:
    """Sums of words that the rules make the same."""
    assert proves(goal, *rules).startswith("the same words")


@pytest.mark.parametrize(
    ("goal", "rules", "reason"),
    [
        (eq(A * B, B * A), (), COUNTER),
        (eq(transpose(A * B), transpose(A) * transpose(B)), (), COUNTER),
        (eq(transpose(A), A), (), COUNTER),
        (eq(A * A, B * B), (eq(transpose(A) * A, transpose(B) * B),), COUNTER),
        (eq(V * transpose(V) * A, A), (ISOMETRY,), COUNTER),
        (eq(transpose(V) * V * B, B), (ISOMETRY,), COUNTER),
        (eq(B, C), (eq(A * B, A * C),), COUNTER),
        (eq(activation(A * v), activation(C * v)), (eq(A * v, C * v),), COUNTER),
        (eq(norm(A * B), norm(A) * norm(B)), (), COUNTER),
        (eq(rank(A), rank(B)), (eq(rank(A), rank(B)),), COUNTER),
        (eq(2 * A, A), (), COUNTER),
        (le(norm(A), norm(A)), (), "no identity"),
        (eq(A, B), (eq(A + B, C),), "no single word"),
        (eq(A, B), (eq(2 * A, C),), "no single word"),
        (eq(A, B), (eq(0, A),), "no single word"),
        (eq(A, B), (le(A, C),), "compares no numbers"),
        (eq(A + 1, B), (), "the number 1 stands where an operator is needed"),
        (eq(A, B), (eq(A, 1),), r"A \(operator\) and 1 \(number\) are compared"),
        (eq(A * B, A * B * B), (eq(A * B, A * B * B),), "does not end"),
        (eq(A / lam, A), (), "stands in no sum of words"),
        (eq(sqrt(frobenius(A)), 0), (), "stands in no sum of words"),
        (eq(A**k, A), (), "stands in no sum of words"),
        (eq(A**-1 * B, B), (), "stands in no sum of words"),
        (eq(A, B), (eq(A, B / lam),), "stands in no sum of words"),
    ],
    ids=str,
)
def test_what_does_not_follow(goal: Statement, rules: tuple[Statement, ...], reason: str) -> None:
    """False identities, and what is no identity of words."""
    with pytest.raises(Gap, match=reason):
        proves(goal, *rules)


def test_premises_must_be_granted() -> None:
    """A conditional equation counts where its premise is a fact."""
    small = le(norm(A), 1)
    rule = Assumption("rule", "", law=law("rule", (), Clause(eq(A, B), (small,))))
    goal = eq(A * C, B * C)
    with pytest.raises(Gap, match="no granted equation"):
        Words("rule").prove(goal, Known({"rule": rule}))
    granted = {"rule": rule, "small": Assumption("small", "", small)}
    assert Words("rule", "small").prove(goal, Known(granted))


def test_a_redundant_rule_is_found() -> None:
    """Each use is left out in turn."""
    names = [name for name, _ in Words("h0", "h1").reduced()]
    assert names == ["h0", "h1"]


Values = dict[Expr, NDArray[np.float64]]


def value(expression: Expr, values: Values) -> NDArray[np.float64]:
    """The operator as a 3 × 3 matrix."""
    if expression in values:
        return values[expression]
    parts = [value(part, values) for part in expression.args_cnc()[1] if part != expression]
    if expression.is_Add:
        return np.sum([value(term, values) for term in expression.args], axis=0)
    if expression.is_Mul:
        scalar = float(Mul(*expression.args_cnc()[0]))
        return scalar * np.linalg.multi_dot([np.eye(3), np.eye(3), *parts])
    if expression.is_Pow:
        return np.linalg.matrix_power(value(expression.base, values), int(expression.exp))
    assert isinstance(expression, transpose)
    return value(expression.args[0], values).T


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_normal_forms_keep_the_value(seed: int) -> None:
    """Whatever is rewritten stays the same matrix, where the rules hold."""
    generator = np.random.default_rng(seed)
    orthogonal = np.linalg.qr(generator.normal(size=(3, 3)))[0]
    values = {symbol: generator.normal(size=(3, 3)) for symbol in (A, B)}
    values[V] = orthogonal
    values[P] = orthogonal[:, :2] @ orthogonal[:, :2].T
    values[C] = values[P] @ values[A] - values[B].T
    rules = word_rules(
        law(
            "",
            (),
            eq(transpose(V) * V * A, A),
            eq(P * P, P),
            eq(transpose(P), P),
            eq(C, P * A - transpose(B)),
        ).clauses
    )
    letters = [A, B, C, V, P, *map(transpose, (A, B, C, V, P)), transpose(V * A), V * A, P * P]

    def word() -> Expr:
        product = Mul(*(letters[i] for i in generator.integers(len(letters), size=4)))
        return int(generator.choice([-3, -2, -1, 1, 2])) * product

    expression = Add(*(word() for _ in range(4))) * (A - transpose(C)) ** 2 + transpose(word())
    normal = normal_form(expression, rules)
    before, after = value(expression, values), value(normal, values)
    assert np.allclose(before, after, rtol=1e-9, atol=1e-9 * np.abs(before).max())
    assert C not in normal.atoms(Symbol)
