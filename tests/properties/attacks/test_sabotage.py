"""Sabotage: what a form's proof says of a false variant.

That every variant of every claim falls, again by its counter-example, and its ledger with it, and
that no attack brings down what is true and proved, is what `pytest --pyargs rnnbounds.properties`
asks.
"""

from rnnbounds.properties.attacks.sabotage import try_proof
from rnnbounds.theory import claim


def test_a_failing_proof_names_its_step() -> None:
    """Each failure begins with the step, in quotes, and says why."""
    entry = claim("state-bound")
    why = try_proof(entry, entry.false_variants[0])
    assert why.fails
    assert why.why.startswith("step 'claim': ")
