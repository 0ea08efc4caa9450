"""Typed statements: what is read, and that hostile text gets one clear line at once."""

import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Integer, Max, Min, Rational, exp, log, sqrt

from rnnbounds.theory.errors import InputError, StatementError
from rnnbounds.theory.language import Statement, le, lt, symbols
from rnnbounds.theory.language.parse import MAX_DEPTH, parse_statement
from rnnbounds.theory.language.printing import statement_text
from rnnbounds.theory.language.vocabulary import VOCABULARY

lam, S_0, T, k, h_gap, h_norm = symbols("lam S_0 T k h_gap h_norm")


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("h_gap <= S_0*lam**k/(1-lam)", le(h_gap, S_0 * lam**k / (1 - lam))),
        (
            "  h_gap<=\n S_0 * lam ** (k + 1) / (1 - lam)\t",
            le(h_gap, S_0 * lam ** (k + 1) / (1 - lam)),
        ),
        ("0.999*S_0/(1-lam) >= h_norm", le(h_norm, Rational(999, 1000) * S_0 / (1 - lam))),
        ("h_norm < 1e-9", lt(h_norm, Rational(1, 10**9))),
        ("S_0 > h_norm", lt(h_norm, S_0)),
        ("h_gap <= -.5e-3*+lam", le(h_gap, -lam / 2000)),
        ("h_gap <= lam**k**2", le(h_gap, lam ** (k**2))),
        ("h_gap <= sqrt(lam) + log(T)/exp(-k)", le(h_gap, sqrt(lam) + log(T) / exp(-k))),
        ("h_gap <= 2**-3 - 1./4", le(h_gap, Rational(-1, 8))),
        ("h_gap <= (-2)**3", le(h_gap, Integer(-8))),
        ("h_gap <= max(lam, min(S_0, T, 1))", le(h_gap, Max(lam, Min(S_0, T, 1)))),
        ("h_gap <= min(lam)", le(h_gap, lam)),
        ("h_gap <= 0**k", le(h_gap, Integer(0) ** k)),
    ],
)
def test_statements_are_read_exactly(text: str, statement: Statement) -> None:
    """Decimals become rationals, >= swaps the sides, and precedence is Python's."""
    parsed = parse_statement(text)
    assert parsed.relation == statement.relation
    assert parsed.lhs.doit() == statement.lhs.doit()
    assert parsed.rhs.doit() == statement.rhs.doit()


def test_every_quantity_can_be_typed() -> None:
    """All names of the vocabulary are known."""
    for name, quantity in VOCABULARY.items():
        assert parse_statement(f"{name} <= 1").lhs == quantity.symbol


@pytest.mark.parametrize("name", ["h_gap <= S_0*lam**k/(1-lam)", "min(lam, 2*k) <= sqrt(1.5)"])
def test_printed_text_reads_back(name: str) -> None:
    """A statement's own text is a typed statement."""
    statement = parse_statement(name)
    assert parse_statement(statement_text(statement).lower().replace("s_0", "S_0")) == statement


HOSTILE = {
    "__import__('os').system('ls') <= 1": "unknown quantity '__import__'",
    "(" * 10**6: "1000000 characters",
    "(" * 9_000: "nested",
    "h_gap <= " + "(" * 3_000 + "lam" + ")" * 3_000: "nested",
    "h_gap <= " + "-" * 900 + "lam": f"at most {MAX_DEPTH} levels",
    "h_gap <= " + "-" * 9_900 + "lam": "names and signs",
    "h_gap <= " + "lam**" * 900 + "lam": "names and signs",
    "h_gap <= " + "sqrt(" * 61 + "lam" + ")" * 61: "nested",
    "9**9**9**9 <= lam": "constant power",
    "h_gap <= (2*lam)**(10**9)": "constant power",
    "h_gap <= ((2*lam)**1000)**1000": "constant power",
    "h_gap <= 2**(-9999999)": "constant power",
    "h_gap <= " + "9" * 5_000: "too long",
    "h_gap <= 1e999999999": "too long",
    "h_gap <= 1e-5000": "too long",
    "": "empty",
    "\0": "contains",
    "h_gap": "compares nothing",
    "h_gap <= lam, 2": "has ','",
    "h_gap <= lam <= 1": "more than one comparison",
    "h_gap = lam": "an equality is two bounds",
    "h_gap == S_0": "is no bound; write one <= or >=",
    "h_gap => S_0": "is no bound; write one <= or >=",
    "h_gap != S_0": "is no bound; write one <= or >=",
    "gap <= S_0": "unknown quantity 'gap'; did you mean x_gap or h_gap",
    "h_gap <= (S_0": "has a bracket open at 'its end'; close it",
    "h_gap <= S_0)": "has a bracket that closes nothing",
    "h_gap <= )S_0(": "has a bracket that closes nothing",
    "h_gap <= (S_0))*lam": "has a bracket that closes nothing",
    "h_gap <= ()": "or not enough before it",
    "h_gap <= S_0 +": "ends too early; write it as lhs <= rhs",
    "h_gap <= S_0*(": "ends too early; write it as lhs <= rhs",
    "<= S_0": "has '<=' where a quantity or a number is needed",
    "h_gap <= S_0**": "raises to no power",
    "h_gap <= S_0 S_0": "write * between them",
    "h_gap <= 1.2.3": "write * between them",
    "h_gap <= S_0; k >= 1": "contains ';'",
    "h_gap <= S_0 where k >= 1": "write side conditions behind commas",
    "h_gap <= S_0 and k >= 1": "write side conditions behind commas",
    "not h_gap <= S_0": "write side conditions behind commas",
    "h_gap <= inf": "unknown quantity 'inf'",
    "h_gap <= \N{RIGHT-TO-LEFT OVERRIDE}S_0": "where a quantity or a number is needed",
    "|h_gap| <= S_0": "is the notation of no quantity",
    "h_gap <= lam.real": "contains '.'",
    "h_gap <= (lam := 2)": "contains ':'",
    "h_gap <= lam // 2": "has '/'",
    "h_gap <= (lam, 2)": "cannot be read",
    "h_gap <= sqrt()": "or not enough before it",
    "h_gap <= sqrt": "without brackets",
    "h_gap <= lam(2)": "write * between",
    "h_gap <= min(*lam)": "has '*'",
    "(h_gap <= lam) <= 2": "has a bracket open at '<='; close it",
    "h_gap <= 3 lam": "write * between",
    "h_gap <=": "ends too early; write it as lhs <= rhs",
    "h_gap <= 012": "without the first 0",
    "h_gap <= 0x10": "unknown quantity 'x10'",
    "h_gap <= lam if k else T": "write side conditions behind commas",
    "h_gap <= lambda**k": "did you mean lam",
    "h_gap <= 1/0": "divides by zero",
    "h_gap <= 1/(lam - lam)": "divides by zero",
    "h_gap <= 0**-1": "divides by zero",
    "h_gap <= sqrt(-1)": "not real",
    "h_gap <= log(0)": "not real",
    "h_gap <= (-8)**(1/3)": "negative number",
    "h_gap <= sqrt(1, 2)": "gives sqrt 2 arguments",
}


@pytest.mark.parametrize(("text", "message"), HOSTILE.items(), ids=range(len(HOSTILE)))
def test_bad_text_gets_one_clear_line(text: str, message: str) -> None:
    """The error is named, says what is wrong in one short line, and comes at once."""
    start = time.process_time()
    with pytest.raises(StatementError) as raised:
        parse_statement(text)
    line = str(raised.value)
    assert message in line
    assert "\n" not in line
    assert "\0" not in line
    assert len(line) < 1_000
    assert isinstance(raised.value, InputError)
    assert time.process_time() - start < 1


@pytest.mark.slow
@given(st.text(max_size=60) | st.text("hgaplmTkS_0()*+-/<=.,e19 \n'\"", max_size=60))
@settings(deadline=None, derandomize=True, max_examples=500)
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text does anything else than give a statement or the named error."""
    with suppress(StatementError):
        assert parse_statement(text).relation in ("<=", "<")
