"""The second checker: it accepts every shipped proof, and refuses what is false or made wrong."""

import json
from itertools import islice
from typing import Any

import pytest
from falsehoods.attack import Attack, Claimed
from made_wrong import (
    FORMS,
    Json,
    constant,
    document,
    domain,
    ending,
    index,
    laws,
    order,
    relation,
    sign,
    sort,
    use_dropped,
)
from test_falsehoods import ATTACKS

from rnnbounds.theory import CLAIMS
from rnnbounds.theory.errors import InputError
from rnnbounds.theory.language import ONE, ZERO, Assumption, at, eq, law, le, symbols
from rnnbounds.theory.language.terms.variables import z
from rnnbounds.theory.proof import Claim, Proof, Step
from rnnbounds.theory.proof.export import proof_document
from rnnbounds.theory.proof.methods import Gap, Smt
from rnnbounds.theory.recheck import (
    check_document,
    instances,
    is_accepted,
    reading,
    solver,
    terms,
    unsettled,
)

pytest.importorskip("cvc5")


# The forms whose last step the second checker settles: another last step is then refused.
SETTLED = [name for name in sorted(FORMS) if "claim" not in unsettled()[name]]


def refused(name: str, changed: Json) -> bool:
    """Whether the changed document of a shipped form is refused, or leaves open what that did
    not."""
    return not is_accepted(check_document(changed, laws()), unsettled()[name])


@pytest.mark.slow
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_shipped_proof_is_accepted(claim: Claim) -> None:
    """And what is open is listed, step by step; what is listed beside that is a step on which cvc5
    is ended by the clock, and a quicker machine has an answer."""
    for form in claim.forms:
        name = f"{claim.id}/{form.name}"
        verdict = check_document(json.loads(json.dumps(document(name))), laws())
        assert not verdict.refusal
        found = {part.step: part.rests_on for part in verdict.open_steps}
        assert found.items() <= unsettled()[name].items()
        assert {rests for step, rests in unsettled()[name].items() if step not in found} <= {
            "z3 alone"
        }


def test_the_shipped_forms_are_listed() -> None:
    """A form that goes takes its steps with it, and a new one is to be checked."""
    assert unsettled().keys() == FORMS.keys()


# How many are tried of a form, and of all; and whether the solver is asked. Where it is not, what
# is refused is so though all that would be asked is granted.
OPERATORS = {
    use_dropped: (1, 45, True), sign: (2, 95, False), relation: (1, 50, False),
    sort: (1, 48, False), index: (5, 30, True), domain: (3, 65, False),
    constant: (2, 50, False), order: (2, 60, False), ending: (3, 145, False),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.__name__)
def test_proofs_that_are_made_wrong_are_refused(
    operator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each change makes the proof wrong, for the reason that its operator gives."""
    most, least, asked = OPERATORS[operator]
    if not asked:
        monkeypatch.setattr(solver, "solve_script", lambda script: "unsat")
    by_size = sorted(FORMS, key=lambda name: len(document(name)["terms"]))
    changed = {
        (name, place): refused(name, new)
        for name in by_size[: 2 * len(FORMS) // 3 : 2]  # long proofs are made wrong no other way
        for place, new in enumerate(islice(operator(name, document(name)), most))
    }
    assert [at for at, is_refused in changed.items() if not is_refused] == []
    assert len(changed) >= least


def test_there_are_many_of_these() -> None:
    """At least 500."""
    assert sum(least for _, least, _ in OPERATORS.values()) >= 500


# What the format does not say: that assumptions agree, and what ‖·‖ measures.
ELSEWHERE = ("contradict", "measures there is none")


WRITTEN = {
    name: attack for name, attack in ATTACKS.items()
    if isinstance(attack, Attack | Claimed) and attack.reason not in ELSEWHERE
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITTEN)
def test_no_falsehood_is_accepted(name: str) -> None:
    """None of those that can be written down: what the kernel makes no term of has no document."""
    attack = WRITTEN[name]
    try:
        found = exported(attack)
    except (Gap, InputError):
        return
    assert not is_accepted(check_document(found, laws()), {})


def exported(attack: Attack | Claimed) -> Json:
    """The attack's proof."""
    if isinstance(attack, Claimed):
        form = attack.form
        return proof_document(form.proof, form.statement, form.assumptions)
    return proof_document(Proof(attack.steps), attack.goal, attack.granted)


def accepted(name: str) -> bool:
    """Whether the falsehood stands."""
    attack = ATTACKS[name]
    assert isinstance(attack, Attack)
    return is_accepted(check_document(exported(attack), laws()), {})


# Faults of the checker, and a falsehood that it accepts with each.
FAULTS = {
    "no index is natural": (
        instances, "require_natural", lambda *_: None, "a natural that is a half",
    ),
    "all has a value": (
        solver.Question, "meanings", lambda self, _: [d for _, d in self._definitions],
        "a quotient inside tanh",
    ),
    "nothing is assumed": (reading.Law, "constants", frozenset(), "a law hides what varies"),
    "all may vary": (
        reading.Document, "bound",
        lambda self, indices: tuple(terms.single_atom(self.term(index)) for index in indices),
        "a variable that is a quantity",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_checker_is_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A falsehood is refused, but for the fault."""
    owner, name, value, falsehood = FAULTS[fault]
    assert not accepted(falsehood)
    monkeypatch.setattr(owner, name, value)
    assert accepted(falsehood)


def test_a_law_is_used_where_it_has_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """z (1 + z)/(z + z²) = 1 is granted of all z for which it has one; at 0 it would be 0 = 1."""
    granted = Assumption("one", "", law=law("one", (z,), eq(z * (1 + z) / (z + z**2), 1)))
    goal = le(ONE, ZERO)
    proof = Proof((Step("claim", goal, Smt(at("one", 0))),))
    found = proof_document(proof, goal, (granted,))
    assert check_document(found, laws()).refusal
    monkeypatch.setattr(instances, "domain_conditions", lambda *_: [])
    assert not check_document(found, laws()).refusal


def test_a_power_is_asked_to_be_natural(monkeypatch: pytest.MonkeyPatch) -> None:
    """λ^{T − k} of T < k is no power, for which λ^{T − k + 1} is λ λ^{T − k}."""
    lam, T, k = symbols("lam T k")
    goal = eq(lam ** (T - k + 1), lam * lam ** (T - k))
    found = proof_document(Proof((Step("claim", goal, Smt()),)), goal, ())
    assert check_document(found, laws()).refusal
    monkeypatch.setattr(solver, "require_natural", lambda *_: None)
    assert not check_document(found, laws()).refusal


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTLED[::10])
def test_no_false_variant_is_accepted(name: str) -> None:
    """A form's proof, re-targeted at the false variants near it."""
    claim, form = FORMS[name]
    for variant in claim.false_variants:
        if variant.form == form.name:
            found = proof_document(form.proof, variant.statement, variant.assumptions)
            assert refused(name, found), variant.id


def test_only_documents_of_the_format_are_read() -> None:
    """Another version, a term before its use, and no proof at all are refused."""
    old = document("truncation/box")
    for part in ({"version": 2}, {"terms": [[0, 1]]}, {"proofs": []}, {"heads": [{}]}):
        assert check_document({**old, **part}, laws()).refusal
    row = {**old["heads"][0], "interval": ["1", "0"]}  # no constant is in there
    assert check_document({**old, "heads": [*old["heads"], row]}, laws()).refusal
