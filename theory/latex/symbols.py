"""The symbols that a claim uses, with their meanings, for its section in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rnnbounds.theory.language.quantity import Quantity
from rnnbounds.theory.language.statement import Statement
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof import Form

# What texts and notations name beside the quantities: a pattern in LaTeX, the symbol, its meaning.
LETTERS = (
    (r"\\varphi", "φ", "one step of the model: h_t = φ(h_{t−1}, x_t), and h_0 = 0"),
    (r"(?<![A-Za-z\\])h(?=[_,']|\))|\\partial h", "h_t", "the state after t inputs"),
    (r"(?<![A-Za-z\\])x(?=[_,\)])", "x_t", "the input at time t"),
    (r"y_T", "y_T", "the output at time T"),
    (
        r"\^\{\(k\)\}", "h_T^{(k)}",
        "the state of the truncated model, which starts from zero at time T − k and sees the last "
        "k inputs; a gradient or an output with this mark is that model's",
    ),
    (r"\\partial w|(?<![A-Za-z\\])w(?![A-Za-z])", "w", "the trained weights, as one vector"),
    (r"\\nabla p|(?<![A-Za-z\\])p(?=[_(])", "p", "the loss of a state; p_T = p(h_T)"),
    (r"(?<![A-Za-z\\])M(?![A-Za-z_])", "M", "the comparison matrix: |∂φ/∂s| ≤ M, entry by entry"),
    (r"/v_", "v", "positive weights of the units, from the certificate"),
    (r"(?<![A-Za-z\\])P\^", "P", "a positive definite matrix, from the certificate"),
    (r"(?<![A-Za-z\\])s(?=[,'])", "s", "the state of a cell, of which h is a part"),
)  # fmt: skip


def quantities(forms: Iterable[Form]) -> Iterator[Quantity]:
    """Those in the statements and the assumptions of the forms, in the vocabulary's order."""
    names = {symbol.name for form in forms for part in formal(form) for symbol in part.symbols}
    return (quantity for name, quantity in VOCABULARY.items() if name in names)


def formal(form: Form) -> Iterator[Statement]:
    """The statement of a form, and the formal parts of its assumptions."""
    yield form.statement
    for assumption in form.assumptions:
        if assumption.condition is not None:
            yield assumption.condition
        if assumption.law is not None:
            for clause in assumption.law.clauses:
                yield clause.conclusion


def letters(latex: str) -> Iterator[tuple[str, str]]:
    """The other symbols of a text in LaTeX, and their meanings in prose."""
    for pattern, letter, meaning in LETTERS:
        if re.search(pattern, latex):
            yield letter, meaning
