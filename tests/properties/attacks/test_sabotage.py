"""Sabotage: what a form's proof says of a false variant.

That every variant of every claim falls, again by its counter-example, and its ledger with it, and
that no attack brings down what is true and proved, is what `pytest --pyargs rnnbounds.properties`
asks.
"""

from rnnbounds.properties.attacks.budget import Budget
from rnnbounds.properties.attacks.sabotage import attack_variants
from rnnbounds.theory import claim


def test_a_failing_proof_names_its_step(small: Budget) -> None:
    """Each failure begins with the step, in quotes, and says why."""
    for record in attack_variants(claim("state-bound"), budget=small, seed=0):
        assert record.convicted
        assert record.ledger_fails
        assert record.why.startswith("step 'claim': ")
