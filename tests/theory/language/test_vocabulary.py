"""One name, one norm, one definition."""

from xml.dom.minidom import parseString

import pytest

from rnnbounds.theory.errors import InputError
from rnnbounds.theory.language import le, symbols
from rnnbounds.theory.language.mathml import latex_to_mathml
from rnnbounds.theory.language.quantity import INTEGER_NAMES
from rnnbounds.theory.language.terms.variables import x
from rnnbounds.theory.language.terms.vectors import norm, state
from rnnbounds.theory.language.vocabulary import (
    DEFINITIONS,
    QUANTITIES,
    VOCABULARY,
    quantity,
    unfold,
)


def test_every_name_is_bound_once() -> None:
    """No two quantities share a name or a notation."""
    assert len({q.name for q in QUANTITIES}) == len(QUANTITIES)
    assert len({q.notation for q in QUANTITIES}) == len(QUANTITIES)


def test_symbols_assume_no_sign() -> None:
    """Symbols are real, or integers, and may be zero: λ = 0 is a case."""
    for entry in QUANTITIES:
        assert entry.symbol.is_real, entry.name
        assert entry.symbol.is_positive is entry.symbol.is_nonzero is None, entry.name
        assert bool(entry.symbol.is_integer) == (entry.name in INTEGER_NAMES)
        assert quantity(entry.name) is entry


def test_notations_are_well_formed() -> None:
    """Every notation has MathML without entities."""
    for entry in QUANTITIES:
        found = latex_to_mathml(entry.notation)
        parseString(found)
        assert not set("&\\") & set(found), entry.name


def test_scripts() -> None:
    """Subscripts and superscripts, alone and together."""
    assert latex_to_mathml("x^{2}") == "<msup><mi>x</mi><mn>2</mn></msup>"
    assert latex_to_mathml("x_1") == "<msub><mi>x</mi><mn>1</mn></msub>"
    assert latex_to_mathml("x_1^2") == "<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>"


def test_measured_quantities_have_definitions() -> None:
    """A ledger can unfold whatever is measured, and nothing else."""
    assert set(DEFINITIONS) == {q.symbol for q in VOCABULARY.values() if q.role == "measured"}


def test_unfolding_replaces_a_quantity_by_its_term() -> None:
    """h_norm is the norm of the state after T steps."""
    h_norm, S_0, T = symbols("h_norm S_0 T")
    assert unfold(le(h_norm, S_0)) == le(norm(state(x, 0, T)), S_0)


def test_unknown_quantity() -> None:
    """A wrong name lists the close ones."""
    with pytest.raises(InputError, match="did you mean h_norm"):
        quantity("h_nrm")
