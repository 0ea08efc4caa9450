"""Shapes of false variants: a factor more on the right side, or one term taken for another."""

from sympy import Expr, Rational, sympify

from rnnbounds.theory.language import Assumption
from rnnbounds.theory.proof.claim import Form, Variant


def scale(form: Form, factor: Expr, id: str, text: str, *more: Assumption) -> Variant:
    """False variant with the right side times the factor, perhaps under more assumptions."""
    return form.variant(id, text, factor * form.statement.rhs, *more)


def swap(form: Form, old: Expr, new: Expr | int, id: str, text: str, *more: Assumption) -> Variant:
    """False variant with one term of the right side replaced by another."""
    return form.variant(id, text, form.statement.rhs.xreplace({old: sympify(new)}), *more)


def thousandth_less(
    form: Form,
    id: str = "a-thousandth-less",
    text: str = "the limit is never reached: 0.999 of it is enough",
) -> Variant:
    """False variant with 0.999 of the right side."""
    return scale(form, Rational(999, 1000), id, text)
