"""What a proved form is worth: derived, derived from an assumed inclusion, or a restatement."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from sympy import Expr

from rnnbounds.theory import CLAIMS
from rnnbounds.theory.kernel.terms import within
from rnnbounds.theory.language import Assumption, Use, assume, at, le, symbols
from rnnbounds.theory.language.terms.gates import GATED_RUN, gated_run
from rnnbounds.theory.language.terms.variables import a, j, m, x
from rnnbounds.theory.language.terms.vectors import RECURSION, entry, norm, phi, state
from rnnbounds.theory.models.system import CONTRACTIVE, DRIVE
from rnnbounds.theory.proof import Form, Step, check, step, theorem
from rnnbounds.theory.proof.foundations.basis import Basis, basis
from rnnbounds.theory.proof.scope import assumption_law

FORMS = {f"{claim.id}/{form.name}": form for claim in CLAIMS for form in claim.forms}
T, S_0, h_norm, B_h, lam, kappa = symbols("T S_0 h_norm B_h lam kappa")
# The bound on the states under another name, and with other letters.
CALM = assume("calm", "the run is calm", forall=(m,)).that(le(norm(state(x, 0, m)), B_h))
ROOM = Assumption("room", "there is room", le(B_h, S_0))
SPARE = Assumption("spare", "λ ≤ 1", le(lam, 1))


def planted(
    *steps: Step, uses: tuple[Use, ...], bound: Expr = B_h, also: tuple[Assumption, ...] = ()
) -> Form:
    """A form that a bound on the states is assumed for; its ledger proves it."""
    form = theorem("planted", le(h_norm, bound), (CALM, *also), "rnn", steps).by(*uses)
    assert check(form.proof, form.statement, form.assumptions).proved
    return form


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("truncation/finite", Basis("derived")),
        ("contraction-lstm/one-step", Basis("derived")),
        ("contraction-gru/invariant", Basis("derived")),
        ("projection/non-expansive", Basis("derived")),
        ("truncation/box", Basis("inclusion assumed", ("invariant box",))),
        ("certificate/radius", Basis("inclusion assumed", ("invariant box",))),
        ("certificate/first", Basis("restates", ("first step",))),
        ("certificate/constants", Basis("restates", ("shares",))),
        ("certificate/unitary-defect", Basis("restates", ("printed defect",))),
        ("certificate/unitary-float64", Basis("restates", ("drifts",))),
        ("certificate/unitary-own", Basis("restates", ("drifts",))),
        ("certificate/unitary-computed", Basis("restates", ("drifts",))),
    ],
)
def test_examples(name: str, wanted: Basis) -> None:
    """Of each kind some forms by name, with the assumptions that make it so."""
    assert basis(FORMS[name]) == wanted


def test_no_other_form_restates() -> None:
    """Six forms of the certificate, and none beside."""
    found = [name for name, form in FORMS.items() if basis(form).kind == "restates"]
    assert {name.split("/")[0] for name in found} == {"certificate"}
    assert len(found) == 6


def test_the_plain_restatement() -> None:
    """The assumption, read off at T."""
    assert basis(planted(uses=(at("calm", T),))) == Basis("restates", ("calm",))


@pytest.mark.parametrize("depth", [1, 3])
def test_steps_in_between_hide_nothing(depth: int) -> None:
    """Each step says the same of all m."""
    calm = le(norm(state(x, 0, j)), B_h)
    names = ["calm", *(f"step {index}" for index in range(depth))]
    steps = [step(name, calm, forall=(j,)).by(at(before, j)) for before, name in pairwise(names)]
    assert basis(planted(*steps, uses=(at(names[-1], T),))).kind == "restates"


def test_more_uses_hide_nothing() -> None:
    """Further assumptions, of numbers or of the model, and the recursion of the states."""
    uses = (at("calm", T), "room", "spare", at("drive", T), RECURSION.at(x, 0, T))
    form = planted(uses=uses, bound=S_0, also=(ROOM, SPARE, DRIVE))
    assert basis(form) == Basis("restates", ("calm",))


def test_a_definition_hides_nothing() -> None:
    """The assumption speaks of a run of no steps, which by definition is where it starts."""
    small = assume("small", "it is small", forall=(m,)).that(le(norm(gated_run(a, x, 0)), B_h))
    form = theorem("planted", le(norm(a), B_h), (small,), "rnn").by(
        at("small", T), GATED_RUN.at(a, x, 0)
    )
    assert check(form.proof, form.statement, form.assumptions).proved
    assert basis(form) == Basis("restates", ("small",))


def test_a_lemma_hides_nothing() -> None:
    """A corollary of a restatement is one."""
    first = planted(uses=(at("calm", T),))
    form = theorem("corollary", le(h_norm, S_0), (CALM, ROOM), "rnn").by(
        first.lemma("planted").at(), "room"
    )
    assert check(form.proof, form.statement, form.assumptions).proved
    assert basis(form) == Basis("restates", ("calm",))


def test_an_inclusion_that_is_restated_is_named_so() -> None:
    """The mark of the assumption does not make it a derivation."""
    form = planted(uses=(at("calm", T),))
    marked = replace(form, assumptions=(replace(CALM, inclusion=True),))
    assert basis(marked) == Basis("restates", ("calm",))


def test_two_assumptions_on_the_model_are_a_derivation() -> None:
    """Half of the bound is in each."""
    steady = assume("steady", "a step moves little", forall=(m,)).that(
        le(norm(phi(state(x, 0, m), entry(x, m + 1))), S_0 * norm(state(x, 0, m)))
    )
    later = le(norm(state(x, 0, T + 1)), S_0 * B_h)
    form = theorem("later", later, (CALM, steady), "rnn").by(
        at("calm", T), at("steady", T), RECURSION.at(x, 0, T), at("calm", 0)
    )
    assert basis(form) == Basis("derived")


def test_numbers_alone_restate_no_assumption_on_the_model() -> None:
    """What follows from two conditions on numbers is no restatement of a third assumption."""
    less = Assumption("less", "S_0 ≤ κ", le(S_0, kappa))
    form = theorem("numbers", le(B_h, kappa), (CALM, ROOM, less), "rnn").by(
        "room", "less", at("calm", T)
    )
    assert basis(form) == Basis("derived")
    assert basis(theorem("same", le(lam, 1), (CONTRACTIVE,), "rnn").by("contractive")) == Basis(
        "restates", ("contractive",)
    )


def test_marks_are_kept() -> None:
    """An assumption of all weights, or of the other ones, is an inclusion where it was one."""
    assert basis(FORMS["weight-gap/box"]).assumptions == ("invariant box",)
    names = ("invariant box", "invariant box, other weights")
    assert basis(FORMS["gradient-lipschitz/box"]).assumptions == names


def test_an_assumption_is_marked_everywhere_or_nowhere() -> None:
    """No form can lose the mark by stating the assumption anew."""
    marks = Counter(
        (name, assumption.inclusion)
        for form in FORMS.values()
        for name, assumption in {(a.law or a.condition, a) for a in form.assumptions}
    )
    assert [name for name, marked in marks if marked and (name, False) in marks] == []


def test_what_concludes_that_a_state_is_in_the_box_is_an_inclusion() -> None:
    """All but the premise that runs start in it."""
    for name, form in FORMS.items():
        for assumption in form.assumptions:
            sides = [
                side for c in assumption_law(assumption).clauses for side in c.conclusion.sides
            ]
            heads = {term.head.name for side in sides for term in within(side)}
            if "in_box" in heads:
                assert assumption.inclusion or assumption.id == "starts", (name, assumption.id)
