"""What was assumed of sets is derived from single operations, and from no more than it needs."""

import pytest

from rnnbounds.theory import claim


def test_no_set_is_assumed() -> None:
    """What remains are hypotheses on single operations."""
    assert claim("contraction-lstm").form("per-unit").inclusions == ()


@pytest.mark.parametrize("id", ["contraction-lstm", "contraction-gru"])
def test_gates_lie_between_their_ends(id: str) -> None:
    """Of a gated cell no interval of an activation is assumed: σ and tanh increase."""
    form = claim(id).form("per-unit")
    assert "images" not in {assumption.id for assumption in form.assumptions}
    assert "images" in {step.id for step in form.proof.steps}
