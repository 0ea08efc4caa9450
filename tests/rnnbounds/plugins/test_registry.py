"""A claim that cannot be attacked is refused before any work, in one line with its remedy."""

from dataclasses import replace

import pytest

from rnnbounds import theory
from rnnbounds.properties.attacks import registry
from rnnbounds.properties.attacks.search import visit_random_specs
from rnnbounds.properties.errors import InputError
from rnnbounds.properties.measures.measure import FastPath, Measure
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.theory import CLAIMS
from rnnbounds.theory.language.quantity import certified, measured, parameter
from rnnbounds.theory.language.statement import le
from rnnbounds.theory.language.vocabulary import QUANTITIES, VOCABULARY, symbols
from rnnbounds.theory.proof.claim import Claim
from rnnbounds.theory.registry import RegistrationError, check_claims

STATE_BOUND = theory.claim("state-bound")
MAIN = STATE_BOUND.forms[0]
h_norm, S_0, gate_gap, v_top, lam = symbols("h_norm S_0 gate_gap v_top lam")
NEW = {
    "delta": parameter("delta", "forgotten", "d"),
    "seen": measured("seen", "never measured", "s"),
    "given": certified("given", "never supplied", "number", "g"),
}


def new(statement=MAIN.statement, about=MAIN.about, **fields) -> Claim:
    """A claim of one form beside those of the table."""
    form = replace(MAIN, statement=statement, about=about)
    given = {"id": "amnesia", "forms": (form,), "false_variants": ()}
    return replace(STATE_BOUND, **(given | fields))


@pytest.fixture
def enter(monkeypatch):
    """Enters a claim into the table."""

    def entered(*claims: Claim) -> None:
        for module in ("rnnbounds.properties.runs.parts", "rnnbounds.theory"):
            monkeypatch.setattr(f"{module}.CLAIMS", (*CLAIMS, *claims))

    return entered


@pytest.fixture
def words(monkeypatch):
    """A vocabulary with quantities that no system has."""
    for name, quantity in NEW.items():
        monkeypatch.setitem(VOCABULARY, name, quantity)
    monkeypatch.setattr("rnnbounds.theory.registry.QUANTITIES", (*QUANTITIES, *NEW.values()))
    registry.missing_reason.cache_clear()
    yield
    registry.missing_reason.cache_clear()


@pytest.mark.parametrize("name", NEW)
def test_a_quantity_that_no_system_has(call, enter, words, monkeypatch, name):
    """A forgotten parameter, measure or constant: named, with the claim and the remedy."""
    monkeypatch.setattr("rnnbounds.properties.runs.parts.run_part", pytest.fail)
    enter(new(le(h_norm, S_0 * NEW[name].symbol)))
    outcome = call("verify", "amnesia")
    assert (outcome.code, outcome.out) == (2, "")
    (line,) = outcome.err.splitlines()
    assert line.startswith(f"rnnbounds: amnesia (finite) speaks of '{name}', which no system of ")
    assert line.endswith("or state the bound without it")


def test_a_reading_that_fails_is_told(words, monkeypatch):
    """With the place and the length at which it did: not as if nobody had written it."""

    def early(batch):
        return [][batch.spec.T]

    path = FastPath("seen", enclosure=early)
    defined = replace(NEW["seen"], definition=VOCABULARY["h_norm"].definition)
    monkeypatch.setitem(VOCABULARY, "seen", defined)
    monkeypatch.setitem(MEASURES.cache, "seen", Measure("seen", (path,)))
    with pytest.raises(registry.InputError) as refused:
        registry.check_registry(CLAIMS, [new(le(h_norm, S_0 * NEW["seen"].symbol))])
    line = str(refused.value)
    assert "'seen', which no system of the kind rnn has (reading it off one with T = " in line
    raised = "raised IndexError: list index out of range at"
    assert f"{raised} rnnbounds/plugins/test_registry.py:" in line


@pytest.mark.parametrize("condition", [True, False])
def test_a_name_outside_the_vocabulary(call, enter, condition):
    """In a statement or in a condition: its symbol is no quantity's."""
    other = type(lam)("detla", real=True)
    claim = new(le(h_norm, S_0 * other))
    if condition:
        first, *rest = MAIN.assumptions
        form = replace(MAIN, assumptions=(replace(first, condition=le(other, 1)), *rest))
        claim = new(forms=(form,))
    enter(claim)
    outcome = call("verify", "amnesia")
    assert outcome.code == 2
    assert "amnesia (finite) speaks of 'detla', which is no quantity's symbol" in outcome.err


def test_no_kind_of_system(call, enter):
    """A misspelt kind is not taken for linear systems."""
    enter(new(about="rnm"))
    outcome = call("verify", "amnesia")
    assert (outcome.code, outcome.out) == (2, "")
    assert "amnesia (finite) is about 'rnm', which is not a kind of system; choose" in outcome.err
    with pytest.raises(InputError, match="unknown kind of system 'rnm'"):
        visit_random_specs("rnm", lambda spec: None, batch=1, sequences=1, seed=0, examples=1)


@pytest.mark.parametrize(
    ("claims", "fault"),
    [
        ((STATE_BOUND, STATE_BOUND), "two claims have the id 'state-bound'"),
        ((new(forms=(MAIN, MAIN)),), "two forms of amnesia are named 'finite'"),
        (
            (new(false_variants=(MAIN.variant("one", ""), MAIN.variant("one", ""))),),
            "two forms or false variants of amnesia are 'one'",
        ),
        (
            (new(false_variants=(MAIN.variant("finite", ""),)),),
            "two forms or false variants of amnesia are 'finite'",
        ),
        ((new(false_variants=(replace(MAIN.variant("one", ""), form="other"),)),), "of no form"),
        ((new(forms=()),), "has no form"),
        (
            (new(forms=(replace(MAIN, assumptions=MAIN.assumptions[:1] * 2),)),),
            "has two assumptions",
        ),
    ],
)
def test_a_name_is_given_once(call, monkeypatch, claims, fault):
    """Of claims, forms, variants and assumptions."""
    for module in ("rnnbounds.properties.runs.parts", "rnnbounds.theory"):
        monkeypatch.setattr(f"{module}.CLAIMS", claims)
    outcome = call("verify")
    assert (outcome.code, outcome.out) == (2, "")
    (line,) = outcome.err.splitlines()
    assert fault in line


@pytest.mark.parametrize("name", ["lam", "lambda", "exp", "max", "a b", "h'", "λ", ""])
def test_a_quantity_has_a_name_of_its_own(name):
    """One that statements can be typed with."""
    added = (*QUANTITIES, replace(QUANTITIES[0], symbol=type(lam)(name, real=True)))
    with pytest.raises(RegistrationError, match=r"named 'lam'|no statement can name"):
        check_claims(CLAIMS, added)
