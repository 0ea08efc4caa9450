"""Simplification of typed statements to equivalent ones."""

import numpy as np
import pytest
from msgspec.structs import replace
from sympy import Integer

from rnnbounds.properties.attacks.typed_statement import typed_assumptions
from rnnbounds.properties.judging.exact_decision import (
    decide_exactly,
    divide_common_factors,
    with_scalar_output,
)
from rnnbounds.properties.judging.judge import ExactBudget, Judgement, Verdict, judge
from rnnbounds.properties.judging.simplification import (
    positivity_assumptions,
    simplify_statement,
    statement_at_end,
)
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.theory.language.parse import parse_statement
from rnnbounds.theory.language.printing import statement_text

TANH = make_spec(kind="rnn", n=3, T=5, K=5, lam=0.75, seed=4, batch=4, sequences=2)
ONE = make_spec(kind="rnn", T=5, K=5, lam=0.75, seed=4, batch=4, sequences=2)


def verdicts(text: str, spec: SystemSpec, patience: int = 10**6) -> set[str]:
    """Judge a typed statement on a batch."""
    statement = parse_statement(text)
    found = judge(
        simplify_statement(statement),
        typed_assumptions(statement),
        build_batch(spec),
        ExactBudget(patience),
    )
    return {Verdict(int(code)).name for code in found.verdicts.ravel()}


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("exp(h_gap) <= exp(B_h*lam**k)", "h_gap <= B_h*lam**k"),
        ("exp(exp(h_gap)) < exp(exp(B_h))", "h_gap < B_h"),
        ("log(h_gap) <= log(B_h) + k*log(lam)", "h_gap <= B_h*lam**k"),
        ("log(h_gap) - log(B_h) <= 0", "h_gap/B_h <= 1"),
        ("2*log(h_gap) <= log(exp(2)*B_h)", None),
        ("exp(h_gap) <= 1 + B_h", None),
        ("log(h_gap) <= B_h", None),
        ("lam*log(h_gap) <= lam*log(B_h)", None),  # λ may be any real
        ("h_gap <= 1e400*(1 + B_h)", f"h_gap/{10**400} <= B_h + 1"),
        ("1e-399*h_gap <= 1e-400*B_h", "h_gap <= B_h/10"),
        ("h_gap <= 1e3*B_h", None),
        ("0 <= 0*h_gap", None),
        ("sqrt(h_gap) <= sqrt(B_h*lam**k)", "h_gap <= B_h*lam**k"),
        ("sqrt(h_gap) <= B_h", "h_gap <= B_h**2"),
        ("2*sqrt(h_gap*B_h) < 3*sqrt(h_norm)", "4*B_h*h_gap < 9*h_norm"),
        ("sqrt(h_gap) <= 1 + sqrt(h_norm)", None),
        ("sqrt(h_gap) <= sqrt(B_h - 1)", None),  # without a value below 1
        ("sqrt(h_gap) <= B_h - 1", None),
        ("sqrt(h_gap - 1) <= 3", None),
        ("-sqrt(h_gap) <= B_h", None),
        ("h_gap <= sqrt(B_h)", None),
    ],
)
def test_plainer(text: str, plain: str | None) -> None:
    """An increasing function, or a positive factor, of both sides; all else stays as it is."""
    statement = parse_statement(text)
    told = simplify_statement(statement)
    if text.startswith("2*log"):
        assert told != statement  # the square, of the same
    elif plain is None:
        assert told == statement
    else:
        assert statement_text(told) == plain


def test_logarithms_have_no_value_at_zero() -> None:
    """A vanishing gap, or one not separated from 0, makes the statement vacuous."""
    statement = parse_statement("log(h_gap) <= log(2) + log(B_h)")
    told = [statement_text(a.condition) for a in positivity_assumptions(statement) if a.condition]
    assert told == ["0 < B_h", "0 < h_gap"]
    assert verdicts("log(h_gap) <= log(B_h)", TANH) == {"HOLDS", "VACUOUS"}
    assert verdicts("log(h_gap) <= log(h_gap)/1 - 1", TANH) <= {"VIOLATED", "VACUOUS"}


def test_the_ends() -> None:
    """At k = 0 all is forgotten, at k = T nothing."""
    statement = parse_statement("h_gap <= h_start*lam**k")
    assert statement_text(statement_at_end(statement, "first")) == "h_norm <= h_norm"
    assert statement_text(statement_at_end(statement, "last")) == "0 <= 0"
    assert verdicts("h_gap <= h_start*lam**k", TANH, patience=0) == {"HOLDS"}
    assert "VIOLATED" in verdicts("h_gap < h_start*lam**k", TANH, patience=0)
    assert verdicts("1/h_gap <= 1/h_start", TANH, patience=0) != {"HOLDS"}


def test_what_both_sides_share() -> None:
    """A measured factor is not negative, so that the rest decides; a constant may be."""
    rest, common = divide_common_factors(parse_statement("h_gap*h_start <= 2*h_gap"))
    assert (statement_text(rest), [str(symbol) for symbol in common]) == ("h_start <= 2", ["h_gap"])
    assert divide_common_factors(parse_statement("B_h*h_gap <= B_h*2"))[1] == ()
    pair = build_batch(TANH.select_pair(0, 0))
    for text, verdict in (
        ("h_gap*lam <= h_gap", "HOLDS"),
        ("h_gap < h_gap*lam", "VIOLATED"),
        ("h_gap <= h_gap*lam", "VIOLATED"),
    ):
        assert decide_exactly(parse_statement(text), pair, [2])[0].verdict == verdict


def test_one_unit_with_one_output() -> None:
    """y = c h: an equality of irrational numbers is decided."""
    statement = parse_statement("y_gap <= L_f*h_gap")
    assert with_scalar_output(statement, -0.5).lhs == Integer(1) / 2 * statement.rhs.args[1]
    assert verdicts("y_gap <= L_f*h_gap", ONE) == {"HOLDS"}
    assert "VIOLATED" in verdicts("y_gap <= L_f*h_gap*(1 - 2e-16)", ONE)


def test_a_bounded_activation_caps_the_state() -> None:
    """erf rounds to 1 in any precision; ‖h‖ ≤ √n all the same."""
    spec = make_spec(kind="rnn", activation="erf", inputs="saturating", scale=64.0, n=4, d=2, T=2)
    assert verdicts("h_norm <= sqrt(n)*M_rho", spec) == {"HOLDS"}
    assert verdicts("h_norm <= 2*M_rho", spec) == {"HOLDS"}
    assert verdicts("h_norm < 2*M_rho", spec) == {"UNDECIDED"}


def test_patience_ends() -> None:
    """Exact arithmetic has a budget; what is beyond it stays open, and is counted."""
    patience = ExactBudget(1)
    equality = parse_statement("(h_norm + 1)*(h_norm + 1) <= h_norm**2 + 2*h_norm + 1")
    seen = judge(equality, (), build_batch(replace(TANH, n=1)), patience)
    assert isinstance(seen, Judgement)
    open_checks = int(np.sum(seen.verdicts == Verdict.UNDECIDED))
    assert patience.remaining_work < 0
    assert open_checks >= patience.skipped > 0
