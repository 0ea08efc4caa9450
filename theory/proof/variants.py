"""Shapes of false variants: a factor more on the right side, or one term taken for another."""

from sympy import Expr, Rational, sympify

from rnnbounds.theory.language import Assumption
from rnnbounds.theory.proof.claim import Form, Variant


def scaled(form: Form, factor: Expr, id: str, text: str, *more: Assumption) -> Variant:
    """The right side times the factor; under more assumptions, where there are any."""
    return form.variant(id, text, factor * form.statement.rhs, *more)


def instead(
    form: Form, old: Expr, new: Expr | int, id: str, text: str, *more: Assumption
) -> Variant:
    """One term taken for another on the right side."""
    return form.variant(id, text, form.statement.rhs.xreplace({old: sympify(new)}), *more)


def thousandth_less(
    form: Form,
    id: str = "a-thousandth-less",
    text: str = "the limit is never reached: 0.999 of it is enough",
) -> Variant:
    """0.999 of the right side."""
    return scaled(form, Rational(999, 1000), id, text)
