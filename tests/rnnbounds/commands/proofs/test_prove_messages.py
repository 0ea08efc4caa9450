"""``prove``: where a step fails and why, and what nothing used."""

from dataclasses import replace

from rnnbounds.theory import claim
from rnnbounds.theory.language.statement import lt
from rnnbounds.theory.language.vocabulary import symbols
from rnnbounds.theory.models.system import CONTRACTIVE, WINDOW
from rnnbounds.theory.proof.claim import Claim
from rnnbounds.theory.proof.methods import Smt
from rnnbounds.theory.proof.proof import Proof, Step

STATE_BOUND = claim("state-bound")
(lam,) = symbols("lam")
BELOW_TWO = Step("below two", lt(lam, 2), Smt("contractive"))


def of_one_form(id: str, *steps: Step) -> Claim:
    """A claim that λ < 2, proved by these steps."""
    form = replace(STATE_BOUND.forms[0], statement=lt(lam, 2), assumptions=(CONTRACTIVE, WINDOW))
    forms = (replace(form, proof=Proof(steps)),)
    return replace(STATE_BOUND, id=id, forms=forms, false_variants=())


def test_prove_prints_what_is_wrong(call, monkeypatch):
    """Where a step fails, what no step used, and a form without a proof."""
    bad = Step("below two", lt(lam, 2), Smt("contractiv"))
    table = (of_one_form("bad", bad), of_one_form("spare", BELOW_TWO), of_one_form("bare"))
    for module in ("rnnbounds.properties.runs.parts", "rnnbounds.theory"):
        monkeypatch.setattr(f"{module}.CLAIMS", table)
    outcome = call("prove")
    assert outcome.code == 1
    told = " ".join(outcome.out.split())  # lines are broken where a path is long
    assert "test_prove_messages.py:" in told
    assert "did you mean 'contractive'?" in told
    assert " assumed, but used by no step: window; remove it, unless" in told
    assert " no steps: a statement without a proof is not proved" in told
    _, spare, bare = call("prove", "--format", "json").json
    assert spare["unused"] == {"finite": ["window"]}
    assert not bare["proved"]
