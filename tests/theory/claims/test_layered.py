"""Deep and stacked recurrences: what their ledgers rest on."""

from dataclasses import replace

from rnnbounds import theory
from rnnbounds.theory.proof import Proof, check
from rnnbounds.theory.proof.methods import Smt


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
