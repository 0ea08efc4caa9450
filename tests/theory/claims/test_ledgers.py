"""Every claim is proved from assumptions that it needs, and every false variant's ledger fails."""

from dataclasses import replace

import pytest

from rnnbounds import theory
from rnnbounds.theory import CLAIMS
from rnnbounds.theory.axioms.activations import ACTIVATIONS
from rnnbounds.theory.axioms.base import AXIOMS
from rnnbounds.theory.language import Axiom, Instance, Law
from rnnbounds.theory.language.definitions import REGISTRY, Definition
from rnnbounds.theory.proof import Claim, Form, Proof, accept, check, proof, prove, prove_variant
from rnnbounds.theory.proof.methods import Smt
from rnnbounds.theory.proof.proof import law_instances
from rnnbounds.theory.proof.records import Lemma
from rnnbounds.theory.registry import check_claims

EACH = pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
CARRYING = (
    *(f"contraction-{name}" for name in ("linear", "rnn", "weighted")),
    *("cell-constants", "loss-constants"),
    *("gradient-gap", "tbptt-gap", "gradient-lipschitz"),
)
INDEPENDENCE = {
    "Ax's theorem", "algebraic elements", "free abelian groups", "poles",
    "Bolzano-Weierstrass theorem",
}  # fmt: skip
PROOFS = {form.proof for claim in CLAIMS for form in claim.forms}
AXIOM_NAMES, DEFINITION_NAMES = (
    {
        each: {use.law.id for use in law_instances(each) if isinstance(use.law, kind)}
        for each in PROOFS
    }
    for kind in (Axiom, Definition)
)


@pytest.mark.slow
@EACH
def test_every_form_is_proved(claim: Claim) -> None:
    """All steps by machine, the last is the statement itself, no assumption is unused."""
    for form, ledger in zip(claim.forms, prove(claim), strict=True):
        assert not ledger.failures, (form.name, ledger.failures)
        assert form.proof.conclusion == form.statement
        assert len(ledger.steps) == len(form.proof.steps)
        assert ledger.proved
        assert ledger.unused == (), form.name
        assert set(ledger.axioms) == AXIOM_NAMES[form.proof]
        assert set(ledger.definitions) == DEFINITION_NAMES[form.proof]
        carries_the_last(form)


def carries_the_last(form: Form) -> None:
    """Each step is used by a later one; lemmas are forms of claims."""
    carrying = {form.proof.steps[-1].id}
    for step in reversed(form.proof.steps):
        assert step.id in carrying, form.name
        for use in step.method.uses:
            law = use.law if isinstance(use, Instance) else use
            if isinstance(law, Lemma):
                assert law.proof in PROOFS
            carrying.add(law.id if isinstance(law, Law) else law)


@pytest.mark.parametrize("id", CARRYING)
def test_what_carries_the_others_rests_on_textbook_lemmas(id: str) -> None:
    """Each ledger uses at least one axiom."""
    assert all(AXIOM_NAMES[form.proof] for form in theory.claim(id).forms)


@pytest.mark.slow
@EACH
def test_every_false_variant_fails(claim: Claim) -> None:
    """The ledger fails by a counter-model, or since the variant drops an assumption it needs."""
    for variant in claim.false_variants:
        ledger = prove_variant(claim, variant)
        assert not ledger.proved, variant.id
        first = ledger.failures[0].detail
        form = claim.form(variant.form)
        dropped = {a.id for a in form.assumptions} - {a.id for a in variant.assumptions}
        missing = any(f"'{id}' is neither granted nor proved" in first for id in dropped)
        assert "counter-model" in first or missing, (variant.id, first)


def test_claims_speak_the_vocabulary() -> None:
    """Each by a name of its own, as are forms, variants and assumptions; of quantities alone."""
    check_claims(CLAIMS)


def test_claims_are_complete() -> None:
    """Two variants at least, each other than its form."""
    for claim in CLAIMS:
        assert len(claim.false_variants) >= 2, claim.id
        for variant in claim.false_variants:
            form = claim.form(variant.form)
            assert (variant.statement, variant.assumptions) != (form.statement, form.assumptions)
        assert all((claim.title, claim.extremal, claim.source.text)), claim.id


def test_few_theorems() -> None:
    """Textbook laws, each with its source, of 23 theorems, and no claim among them."""
    used = set().union(*AXIOM_NAMES.values())
    sources = {axiom.id: axiom.source for axiom in AXIOMS}
    assert used <= set(sources)
    assert len(sources) <= 23
    assert all(sources.values())
    assert not set(sources) & {claim.id for claim in CLAIMS}


def test_every_definition_is_of_use() -> None:
    """A law that is no axiom, no assumption and no step is a definition of the registry."""
    assert set().union(*DEFINITION_NAMES.values()) == set(REGISTRY)


@pytest.mark.slow
def test_ledgers_are_deterministic() -> None:
    """A second run gives the same ledger, counter-models included."""
    claim = theory.claim("truncation")
    variant = claim.false_variants[0]
    first = prove(claim)[0], prove_variant(claim, variant)
    for kept in (proof.checked, accept.outcomes, accept.scopes_of):
        kept.cache_clear()
    assert (prove(claim)[0], prove_variant(claim, variant)) == first


@pytest.mark.slow
def test_the_rnn_ledger_uses_the_table() -> None:
    """It proves the slope of each activation, and a claim of slope 1 for all fails there."""
    (ledger,) = prove(theory.claim("contraction-rnn"))
    assert all(name in ledger.steps[0].detail for name in ACTIVATIONS)


def test_limits_of_unitary_networks_rest_on_theorems_of_textbooks() -> None:
    """Ranks alone for ReLU; for sigmoids units are independent by Ax's theorem, and U returns."""
    tight, sigmoid = (theory.claim(f"urnn-{name}").forms for name in ("tight", "sigmoid"))
    assert all(AXIOM_NAMES[form.proof] == {"rank-nullity", "norm"} for form in tight)
    assert all(AXIOM_NAMES[form.proof] >= INDEPENDENCE for form in sigmoid)


def test_no_set_is_assumed() -> None:
    """What remains of an LSTM's are hypotheses on single operations."""
    assert theory.claim("contraction-lstm").form("per-unit").inclusions == ()


@pytest.mark.parametrize("id", ["contraction-lstm", "contraction-gru"])
def test_gates_lie_between_their_ends(id: str) -> None:
    """Of a gated cell no interval of an activation is assumed: σ and tanh increase."""
    form = theory.claim(id).form("per-unit")
    assert "images" not in {assumption.id for assumption in form.assumptions}
    assert "images" in {step.id for step in form.proof.steps}


def test_a_derivative_is_no_shorter_only_where_the_map_is() -> None:
    """The lower bound on a derivative is refused unless the step names that φ is no shorter."""
    equal = theory.claim("deep-gradient").form("equality")
    bare = [
        replace(step, method=Smt(*(use for use in step.method.uses if use != "no less")))
        if step.id == "one step more, at least"
        else step
        for step in equal.proof.steps
    ]
    ledger = check(Proof(tuple(bare)), equal.statement, equal.assumptions)
    assert "nothing used states what it requires" in ledger.failures[0].detail
