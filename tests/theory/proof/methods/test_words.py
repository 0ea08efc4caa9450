"""Words proves identities of operators, and no false one."""

import numpy as np
import pytest
from numpy.typing import NDArray
from proving import prove
from sympy import Add, Expr, Mul, sqrt

from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.normal import word_form, word_rules
from rnnbounds.theory.kernel.terms import NUMBER, POWER, PRODUCT, SUM, Term
from rnnbounds.theory.language import Assumption, Clause, Statement, eq, law, le, symbols
from rnnbounds.theory.language.terms.gradients import activation
from rnnbounds.theory.language.terms.unitary import rank
from rnnbounds.theory.language.terms.variables import operator, v
from rnnbounds.theory.language.terms.vectors import frobenius, least, norm, transpose
from rnnbounds.theory.proof.methods import Gap, Words
from rnnbounds.theory.proof.scope import StepScope

A, B, C, V, P = (operator(name) for name in "ABCVP")
n, k, lam = symbols("n k lam")
COUNTER = "counter-model: by the rules the sides differ"


def proves(goal: Statement, *rules: Statement) -> str:
    """Prove the goal from equations."""
    names = [f"h{index}" for index in range(len(rules))]
    granted = (Assumption(name, "", rule) for name, rule in zip(names, rules, strict=True))
    return prove(Words(*names), goal, StepScope({part.id: part for part in granted}))


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
        (eq(A + 1, B), (), "adds number and operator"),
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
        prove(Words("rule"), goal, StepScope({"rule": rule}))
    granted = {"rule": rule, "small": Assumption("small", "", small)}
    assert prove(Words("rule", "small"), goal, StepScope(granted))


Values = dict[Term, NDArray[np.float64]]


def value(term: Term, values: Values) -> NDArray[np.float64]:
    """The operator as a 3 × 3 matrix."""
    if term in values:
        return values[term]
    if term.head is NUMBER:
        return float(term.value) * np.eye(3)
    if term.head is POWER:
        return np.linalg.matrix_power(value(term.args[0], values), int(term.args[1].value))
    parts = [value(part, values) for part in term.args]
    if term.head is SUM:
        return np.sum(parts, axis=0)
    if term.head is PRODUCT:
        return np.linalg.multi_dot([np.eye(3), np.eye(3), *parts])
    assert term.head.name == "transpose"
    return parts[0].T


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_normal_forms_keep_the_value(seed: int) -> None:
    """Whatever is rewritten stays the same matrix, where the rules hold."""
    generator = np.random.default_rng(seed)
    orthogonal = np.linalg.qr(generator.normal(size=(3, 3)))[0]
    a, b, c, v, p = map(door.term, (A, B, C, V, P))
    values = {symbol: generator.normal(size=(3, 3)) for symbol in (a, b)}
    values[v] = orthogonal
    values[p] = orthogonal[:, :2] @ orthogonal[:, :2].T
    values[c] = values[p] @ values[a] - values[b].T
    told = law(
        "",
        (),
        eq(transpose(V) * V * A, A),
        eq(P * P, P),
        eq(transpose(P), P),
        eq(C, P * A - transpose(B)),
    )
    rules = word_rules(door.law(told).clauses)
    letters = [A, B, C, V, P, *map(transpose, (A, B, C, V, P)), transpose(V * A), V * A, P * P]

    def word() -> Expr:
        product = Mul(*(letters[i] for i in generator.integers(len(letters), size=4)))
        return int(generator.choice([-3, -2, -1, 1, 2])) * product

    expression = Add(*(word() for _ in range(4))) * (A - transpose(C)) ** 2 + transpose(word())
    plain = door.term(expression)
    normal = word_form(plain, rules)
    before, after = value(plain, values), value(normal, values)
    assert np.allclose(before, after, rtol=1e-9, atol=1e-9 * np.abs(before).max())
    assert c not in normal.variables
