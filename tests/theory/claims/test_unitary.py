"""The claims on unitary equivalents: sorts of their terms, axioms in numbers, a small instance."""

from collections.abc import Iterator

import pytest
from sympy import Expr

from rnnbounds import theory
from rnnbounds.theory.axioms import unitary as unitary_axioms
from rnnbounds.theory.language import Clause, Instance, Statement
from rnnbounds.theory.language.printing import statement_text
from rnnbounds.theory.language.terms import unitary as unitary_terms
from rnnbounds.theory.language.terms.variables import eye, i, operator
from rnnbounds.theory.language.terms.vectors import Norm, Scalar, transpose
from rnnbounds.theory.language.vocabulary import unfold
from rnnbounds.theory.proof import Form

CLAIMS = tuple(theory.claim(f"urnn-{name}") for name in ("equivalence", "defect", "gradient"))
FORMS = [pytest.param(form, id=f"{c.id}/{form.name}") for c in CLAIMS for form in c.forms]

Shape = tuple[str, str]
FREE = ("?", "?")  # of a variable that stands for anything
SYMBOLS: dict[str, Shape] = {
    "W": ("n", "n"), "U": ("n", "d"), "bias": ("n", "1"), "h_start": ("n", "1"),
    "V": ("m", "m"), "J": ("m", "n"), "J_2": ("m", "q"),
    "W_2": ("n", "q"), "W_3": ("q", "n"), "W_4": ("q", "q"), "I_m": ("m", "m"),
    "T_similar": ("n", "n"), "T_inverse": ("n", "n"),
}  # fmt: skip
FUNCTIONS: dict[str, Shape] = {
    "network": ("n", "1"), "upper": ("n", "1"), "entry": ("d", "1"),
    "urnn": ("m", "1"), "preactivation": ("m", "1"), "readout": ("p", "1"),
    "linear_network": ("n", "1"), "similar_network": ("n", "1"),
    "left": ("n", "n"), "right": ("n", "n"), "singular": ("n", "n"),
    "d_weights": FREE, "lift": FREE, "kept": ("n", "q"), "low": ("q", "q"), "cosine": ("q", "q"),
}  # fmt: skip


class Sorts:
    """The shape of every operator; the states of a form's model and its identity have one size."""

    def __init__(self, size: str) -> None:
        self.size = size

    def statement(self, statement: Statement) -> None:
        """Both sides have one shape, if they are operators."""
        for side in (statement.lhs, statement.rhs):
            if side.is_commutative:
                self.scalar(side)
        if not (statement.lhs.is_commutative or statement.rhs.is_commutative):
            sides = (self.shape(statement.lhs), self.shape(statement.rhs))
            self.same(*sides, statement_text(statement))

    def scalar(self, expression: Expr) -> None:
        """Every operator inside has a shape."""
        for node in expression.atoms(Norm, Scalar):
            for argument in node.args:
                if not argument.is_commutative:
                    self.shape(argument)

    def same(self, first: Shape, second: Shape, where: str) -> Shape:
        """The shape, if there is one."""
        pairs = tuple(zip(first, second, strict=True))
        assert all(p == q or "?" in (p, q) for p, q in pairs), (first, second, where)
        return tuple(q if p == "?" else p for p, q in pairs)  # type: ignore[return-value]

    def shape(self, expression: Expr) -> Shape:
        """Rows and columns."""
        if expression == 0:
            return FREE
        if expression.is_Add:
            shape = FREE
            for term in expression.args:
                shape = self.same(shape, self.shape(term), str(expression))
            return shape
        if expression.is_Mul:
            shape = None
            for factor in expression.args_cnc()[1]:
                right = self.shape(factor)
                if shape is not None:
                    self.same(("1", shape[1]), ("1", right[0]), str(expression))
                shape = right if shape is None else (shape[0], right[1])
            assert shape is not None
            return shape
        if expression.is_Pow:
            return self.shape(expression.base)
        if expression == eye:
            return (self.size, self.size)
        if expression.is_Symbol:
            return SYMBOLS.get(expression.name, FREE)
        return self.function(expression)

    def function(self, expression: Expr) -> Shape:
        """The shape of a function's value."""
        name = expression.func.__name__
        if name in FUNCTIONS:
            return FUNCTIONS[name]
        if name in ("state", "d_run", "d_state"):
            return (self.size, "1" if name == "state" else self.size)
        first = self.shape(expression.args[-1 if name == "below" else 0])
        return {
            "transpose": (first[1], first[0]),
            "line": (first[1], "1"),
            "below": (first[0], "1"),
            "activation": first,
            "phi": first,
            "slopes": (first[0], first[0]),
        }[name]


def clauses(form: Form) -> Iterator[Clause]:
    """All that is concluded, assumed, or used at terms."""
    laws = {part.id: part.law for part in form.assumptions if part.law is not None}
    for step in form.proof.steps:
        yield Clause(unfold(step.conclusion), step.given)
        for use in step.method.uses:
            if isinstance(use, Instance):
                law = laws.get(use.law) if isinstance(use.law, str) else use.law
                if law is not None:
                    values = dict(zip(law.variables, use.terms, strict=True))
                    yield from (clause.replace(values) for clause in law.clauses)
            elif use in laws:
                yield from laws[use].clauses
        laws[step.id] = step.law


@pytest.mark.parametrize("form", FORMS)
def test_every_product_and_sum_has_a_shape(form: Form) -> None:
    """In each form the identity, the model's states and W, V have one size each."""
    sorts = Sorts("n")
    found = list(clauses(form))
    assert len(found) > 3
    for clause in found:
        for statement in (clause.conclusion, *clause.given):
            sorts.statement(statement)


def test_the_sorts_see_what_does_not_fit() -> None:
    """V W, W + V and JᵀJ = I of the larger size."""
    J, V, W = unitary_terms.J, unitary_terms.V, operator("W")
    for bad in (V * W, W + V, J * V, transpose(J) * J + V):
        with pytest.raises(AssertionError):
            Sorts("n").shape(bad)
    with pytest.raises(AssertionError):
        Sorts("m").statement(Statement(transpose(J) * J, "==", eye))


def test_monotone_and_extensional_need_all_entries() -> None:
    """The axioms ask for every entry, by a law for all i."""
    for axiom in (unitary_axioms.EXTENSIONAL, unitary_axioms.MONOTONE_NORM):
        (requirement,) = axiom.requires
        assert requirement.variables == (i,)
