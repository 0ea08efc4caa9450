"""Statements in the notation of pages and papers: read as what they say, or refused in a line."""

import pytest
from sympy import exp

from rnnbounds.theory import CLAIMS
from rnnbounds.theory.errors import StatementError
from rnnbounds.theory.language import le, symbols
from rnnbounds.theory.language.parse import parse_statement
from rnnbounds.theory.language.printing import statement_latex, statement_text
from rnnbounds.theory.language.spelling import tokenize, typed_notation
from rnnbounds.theory.language.vocabulary import VOCABULARY

lam, S_0, k, h_gap, h_norm, y_gap = symbols("lam S_0 k h_gap h_norm y_gap")


@pytest.mark.parametrize(
    "text",
    [
        "‖h_T − h_T^(k)‖ ≤ S_0 λ^k/(1 − λ)",
        "‖h_T-h_T⁽ᵏ⁾‖ ≤ S₀·λᵏ/(1-λ)",
        "||h_T - h_T^{(k)}|| <= S_0 lam^k/(1 - lam)",
        r"\lVert h_T - h_T^{(k)}\rVert \le \frac{S_0 \lambda^{k}}{1 - \lambda}",
        r"\frac{S_0\lambda^k}{\left(1-\lambda\right)} \geq \|h_T-h_T^{(k)}\|",
        "h_gap ≤ S_0*λ**k/(1 − λ)",
    ],
)
def test_one_statement_in_many_spellings(text):
    """Mathematical characters, ASCII and LaTeX, mixed with names as one likes."""
    assert parse_statement(text) == le(h_gap, S_0 * lam**k / (1 - lam))


def test_every_quantity_as_it_is_printed():
    """Its notation in LaTeX, and as the vocabulary lists it, is that quantity and no other."""
    for quantity in VOCABULARY.values():
        for text in (quantity.notation, typed_notation(quantity.notation)):
            assert parse_statement(f"{text} ≤ 1") == le(quantity.symbol, 1)


def test_no_spelling_means_two_quantities():
    """Notations differ as they are read, and no name spells another quantity's notation."""
    notations = {tuple(tokenize(q.notation)): name for name, q in VOCABULARY.items()}
    assert len(notations) == len(VOCABULARY)
    assert all(notations.get(tuple(tokenize(name)), name) == name for name in VOCABULARY)


@pytest.mark.slow
def test_printed_latex_reads_back():
    """The LaTeX of each form and false variant that can be typed is the statement."""
    read = 0
    for claim in CLAIMS:
        for part in (*claim.forms, *claim.false_variants):
            try:
                typed = parse_statement(statement_text(part.statement))
            except StatementError:  # =, ≠, floor, a witness: no bound that one types
                continue
            assert parse_statement(statement_latex(part.statement)) == typed
            read += 1
    assert read > 150


@pytest.mark.parametrize(
    ("text", "rhs"),
    [
        ("2λ^{k+1}", 2 * lam ** (k + 1)),
        ("λ^-k", lam**-k),
        ("-λ^k + 3 S_0", 3 * S_0 - lam**k),
        ("S_0(1 − λ)(1 + λ)", S_0 * (1 - lam) * (1 + lam)),
        (r"\frac{1}{2} λ", lam / 2),
        ("e^λ^2", exp(lam**2)),
        ("e^-λ^2", exp(-(lam**2))),
        ("e^{-λ}S_0", exp(-lam) * S_0),
    ],
)
def test_products_and_powers(text, rhs):
    """What stands side by side is multiplied; a power binds its next factor alone."""
    assert parse_statement(f"h_gap ≤ {text}").rhs.equals(rhs)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("λ ≤ 1/2λ", "divides by a product without brackets"),
        ("h_gap ≤ S_0/(1-λ) λ^k", "divides by a product without brackets"),
        ("h_gap ≤ λ 2", "write * between them"),
        (
            "‖5+6+7+8+9‖ ≤ 1",
            "'‖5+6+7+8+9‖' is the notation of no quantity; `rnnbounds claims --vocabulary`",
        ),
        (
            r"\|h_T-h_T^k\| ≤ 1",
            "is the notation of no quantity; did you mean ‖h_T-h_T^(k)‖ (h_gap) or ",
        ),
        ("λ_k ≤ 1", "has '_' where a quantity"),
        ("‖h_T‖_3 ≤ 1", "has '_' where a quantity"),
        ("h_gap ≤ foo_bar λ", "unknown quantity 'foo_bar'; did you mean"),
        ("√2 ≤ h_gap", "has sqrt without brackets"),
        ("λ^ ≤ 1", "raises to no power"),
        (r"h_gap ≤ \input{λ}", r"has the command '\\input'"),
        ("__import__('ö') ≤ 1", "unknown quantity '__import__'"),
        ("ｈ_gap ≤ 1", "unknown quantity 'ｈ_gap'"),
        ("h\u0303_gap ≤ 1", "unknown quantity 'h'"),
        ("h_gap ≤ λ̃", "where a quantity or a number is needed"),
        ("λ" * 5_000 + " ≤ 1", "at most 1000 names and signs"),
        (r"h_gap ≤ \frac{1}{0}", "divides by zero"),
        (r"h_gap ≤ \frac{S_0} λ", "with one group"),
        (r"h_gap ≤ \frac{S_0}(λ)", "with one group"),
    ],
)
def test_what_is_no_statement(text, fault):
    """Two readings, none, or hostile text: one line, and never a guess."""
    with pytest.raises(StatementError) as raised:
        parse_statement(text)
    line = str(raised.value)
    assert fault in line
    assert len(line) < 2_100
    assert line.isprintable()
