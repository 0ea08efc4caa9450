"""Requirements of attacks on quantities, assumptions and claims are fields of their records."""

import pytest

from rnnbounds.properties.attacks.attack import Case, measures_single_steps
from rnnbounds.properties.attacks.budget import batch_size, profile
from rnnbounds.properties.judging.judge import form_quantities, has_windows
from rnnbounds.properties.measures.measure import NEEDS, Needs
from rnnbounds.theory import claim
from rnnbounds.theory.language.parse import parse_statement
from rnnbounds.theory.language.quantity import measured, parameter, tag
from rnnbounds.theory.language.terms.variables import x
from rnnbounds.theory.language.terms.vectors import norm, state
from rnnbounds.theory.language.vocabulary import VOCABULARY, symbols

T, k = symbols("T k")
FORM = claim("state-bound").forms[0]


def test_windows_follow_from_the_definition() -> None:
    """A term that speaks of k or t has windows; one that hides them says so."""
    assert measured("a", "", "a", norm(state(x, T - k, k))).windowed
    assert not measured("a", "", "a", norm(state(x, 0, T))).windowed
    assert measured("a", "", "a", norm(state(x, 0, T)), windowed=True).windowed
    assert [parameter(name, "", name).windowed for name in "ktT"] == [True, True, False]
    assert has_windows(parse_statement("h_norm <= k"))


def test_single_steps_follow_from_the_definition() -> None:
    """No run of T steps is measured; where nothing is, none is either."""
    assert measures_single_steps(parse_statement("step_gap <= lam*state_gap"))
    assert not measures_single_steps(parse_statement("h_gap <= lam*state_gap"))
    assert not measures_single_steps(parse_statement("lam <= 1"))
    assert tag("lstm", *tag("cell", VOCABULARY["h_norm"]))[0].about == ("lstm",)


def test_needs_are_the_measures_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A field is enough: smaller batches, room for more systems, wider draws."""
    budget = profile("ci")
    assert batch_size(budget, form_quantities(FORM)) == (budget.batch, budget.sequences)
    monkeypatch.setitem(NEEDS, "h_norm", Needs(max_size=(3, 2), wide=True))
    assert batch_size(budget, form_quantities(FORM)) == (3, 2)
    assert any(one.wide for one in Case("rnn", [FORM.statement], budget, (1, 1), 0).needs)
    monkeypatch.setitem(NEEDS, "h_norm", Needs(efficient_size=(500, 1)))
    assert batch_size(budget, form_quantities(FORM)) == (500, 1)
