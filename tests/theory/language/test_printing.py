"""How statements are shown."""

import re
from xml.dom.minidom import parseString

import pytest
from sympy import (
    Abs,
    E,
    Expr,
    Integer,
    Max,
    Min,
    Mul,
    Pow,
    Rational,
    Symbol,
    ceiling,
    exp,
    floor,
    log,
    oo,
    pi,
    sqrt,
)

from rnnbounds.theory import CLAIMS
from rnnbounds.theory.language import Statement, exists, le, symbols
from rnnbounds.theory.language.parse import parse_statement
from rnnbounds.theory.language.printing import (
    plain_text,
    statement_latex,
    statement_mathml,
    statement_text,
)

lam, S_0, B_x, h_gap, T, k, t = symbols("lam S_0 B_x h_gap T k t")
BOUND = le(h_gap, S_0 * (lam**k - lam**T) / (1 - lam))

PARTS = [part for claim in CLAIMS for part in (*claim.forms, *claim.false_variants)]
CONDITIONS = [one.condition for part in PARTS for one in part.assumptions if one.condition]
STATEMENTS = dict.fromkeys([*(part.statement for part in PARTS), *CONDITIONS])


def words(statement: Statement) -> str:
    """What a reader sees of the MathML, without its structure."""
    return re.sub(r"<[^>]*>", "", statement_mathml(statement))


def show(expression: Expr) -> str:
    """The right side of a statement, as a reader sees it."""
    return words(le(Symbol("y"), expression)).removeprefix("y≤")


def test_a_tree_is_printed_as_what_it_is_worth() -> None:
    """−3 (1/2)⁻¹, left as it is, is −6 and no −3/2."""
    half = Pow(Rational(1, 2), -1, evaluate=False)
    for factor, number in ((3, -6), (1, -2)):
        product = Mul(-1, factor, half, lam, evaluate=False)
        assert parse_statement(statement_text(le(product, 0))) == le(number * lam, 0)


def test_lemma_one() -> None:
    """Lemma 1 reads as in the paper, in all three notations."""
    assert statement_text(BOUND) == "h_gap <= S_0*(lam**k - lam**T)/(1 - lam)"
    assert words(BOUND) == "‖hT−hT(k)‖≤S0(λk−λT)1−λ"
    lhs, rhs = statement_latex(BOUND).split(r" \le ")
    assert lhs == r"\lVert h_T-h_T^{(k)}\rVert"
    assert rhs == r"\frac{S_0 \left(\lambda^{k} - \lambda^{T}\right)}{1 - \lambda}"
    assert statement_mathml(BOUND).startswith("<math><mrow><mrow><mo fence")
    for part in ("<msub><mi>S</mi><mn>0</mn></msub>", "<msup><mi>λ</mi><mi>k</mi></msup>"):
        assert part in statement_mathml(BOUND)


@pytest.mark.parametrize(
    ("expression", "seen"),
    [
        (sqrt(1 - lam**2), "1−λ2"),
        (log(1 / lam), "ln(1λ)"),
        (log(S_0) / log(1 / lam), "ln(S0)ln(1λ)"),
        (ceiling(S_0), "⌈S0⌉"),
        (floor(S_0), "⌊S0⌋"),
        (Abs(lam), "|λ|"),
        (Max(lam, S_0), "max(S0,λ)"),
        (Min(lam, S_0), "min(S0,λ)"),
        (exp(lam), "eλ"),
        (E, "e"),
        (pi, "π"),
        (-lam, "−λ"),
        (-sqrt(2) * (1 + lam) * S_0, "−2S0(λ+1)"),
        (Rational(-1, 2), "−12"),
        (Rational(3, 4), "34"),
        (Rational(999, 1000) * S_0, "999S01000"),
        (Rational(999, 1000) * S_0 / lam, "999S01000λ"),
        (S_0 / 2, "S02"),
        (2 * S_0, "2S0"),
        (1 / sqrt(lam), "1λ"),
        (lam ** (T - t + 1), "λT−t+1"),
        ((lam * S_0) ** k, "(S0λ)k"),
        (Integer(2) ** k, "2k"),
        (-lam - S_0, "−S0−λ"),
        (oo, "∞"),
    ],
)
def test_expressions(expression: Expr, seen: str) -> None:
    """Each kind of node has its own form."""
    assert show(expression) == seen


def test_the_witness_is_named() -> None:
    """An existence statement says that it speaks of the witness."""
    assert words(exists(Integer(1), h_gap)) == "1≤‖hT−hT(k)‖\u00a0on the witness"
    assert statement_latex(exists(Integer(1), h_gap)).endswith(r"\text{on the witness}")


def test_plain_text_begins_with_a_positive_term() -> None:
    """A difference reads as it is written."""
    assert plain_text(lam**k - lam**T) == "lam**k - lam**T"
    assert plain_text(T - t + 1) == "T - t + 1"


@pytest.mark.slow
def test_every_statement_is_well_formed() -> None:
    """Statements, variants and conditions give XML without named entities or leftovers."""
    for statement in STATEMENTS:
        markup = statement_mathml(statement)
        parseString(markup)
        assert not re.search(r"&(?!lt;|gt;|amp;)", markup)
        assert "<mtext>" not in markup or statement.relation == "exists", statement
        assert statement_latex(statement)
