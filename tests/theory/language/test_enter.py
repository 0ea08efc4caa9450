"""A claim brings its own quantity: it is then a word like any other."""

from dataclasses import replace

import pytest

from rnnbounds.theory.errors import InputError
from rnnbounds.theory.language import enter, le, symbols, vocabulary
from rnnbounds.theory.language.parse import parse_statement
from rnnbounds.theory.language.quantity import measured
from rnnbounds.theory.language.terms.variables import x
from rnnbounds.theory.language.terms.vectors import norm, state
from rnnbounds.theory.registry import check_claims, faults

T, h_norm = symbols("T h_norm")
NEW = measured("news", "the state one step on", r"\lVert h_{T+1}\rVert", norm(state(x, 0, T + 1)))


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The vocabulary is as it was afterwards."""
    for table in (vocabulary.VOCABULARY, vocabulary.DEFINITIONS):
        for key, value in table.items():
            monkeypatch.setitem(table, key, value)
    yield
    vocabulary.VOCABULARY.pop("news", None)
    vocabulary.DEFINITIONS.pop(NEW.symbol, None)
    vocabulary.unfold.cache_clear()


@pytest.mark.usefixtures("words")
def test_a_quantity_is_entered() -> None:
    """It is read in typed statements and unfolded in ledgers; entering it again changes nothing."""
    (news,) = enter(NEW)
    assert enter(NEW) == (news,) == symbols("news")
    assert vocabulary.quantity("news") == NEW
    assert parse_statement("news <= h_norm") == le(news, h_norm)
    assert vocabulary.unfold(le(news, 1)).lhs == NEW.definition
    assert list(faults((), tuple(vocabulary.VOCABULARY.values()))) == []
    check_claims(())


@pytest.mark.usefixtures("words")
def test_a_name_is_taken_once() -> None:
    """Another quantity of a name that is in use is refused, and nothing is overwritten."""
    enter(NEW)
    for other in (replace(NEW, meaning="another"), replace(NEW, symbol=h_norm)):
        with pytest.raises(InputError, match="two quantities are named"):
            enter(other)
    assert vocabulary.quantity("news") == NEW


def test_a_brought_quantity_that_nothing_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused with where to measure it, and a measure of what is no quantity by its name."""
    from rnnbounds.properties.attacks import registry
    from rnnbounds.properties.measures.measure import FastPath
    from rnnbounds.theory import CLAIMS, claim

    one = claim("state-bound")
    form = replace(one.forms[0], statement=le(NEW.symbol, 1))
    monkeypatch.setitem(vocabulary.VOCABULARY, "news", NEW)
    with pytest.raises(registry.InputError, match="compute it in properties/measures"):
        registry.check_registry(CLAIMS, [replace(one, forms=(form,), false_variants=())])
    registry.missing_reason.cache_clear()
    monkeypatch.setattr(registry, "fast_paths", lambda: (FastPath("h_nrom"),))
    with pytest.raises(ValueError, match="unknown quantity 'h_nrom'; did you mean h_norm"):
        registry.check_registry(CLAIMS, [])
