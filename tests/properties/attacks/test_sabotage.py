"""Sabotage: what a form's proof says of a false variant.

That every variant of every claim falls, again by its counter-example, and its ledger with it, and
that no attack brings down what is true and proved, is what `pytest --pyargs rnnbounds.properties`
asks.
"""

from rnnbounds.properties.attacks.budget import Budget
from rnnbounds.properties.attacks.sabotage import record_variant, variant_target
from rnnbounds.theory import claim


def test_a_failing_proof_names_its_step(small: Budget) -> None:
    """Each failure begins with the step, in quotes, and says why."""
    entry = claim("state-bound")
    for variant in entry.false_variants:
        target = variant_target(entry.form(variant.form), variant, small)
        record = record_variant(entry, variant, target)
        assert (record.convicted, record.ledger_fails) == (False, True)  # it was not attacked
        assert record.why.startswith("step 'claim': ")
