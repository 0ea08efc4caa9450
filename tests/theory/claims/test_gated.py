"""Gates: their axioms in numbers, and their function, which is the table's."""

from sympy import tanh

from rnnbounds.theory.axioms.activations import SIGMOID
from rnnbounds.theory.language.terms.networks import sigmoid
from rnnbounds.theory.language.terms.variables import z
from rnnbounds.theory.models.gates.gate import Gate


def test_the_gate_is_the_sigmoid_of_the_table() -> None:
    """σ has one definition; a gate's steepest slope is that of its function at 0."""
    assert sigmoid(z) == SIGMOID
    for gate in (Gate("i", sigmoid), Gate("g", tanh)):
        assert gate.squash(z).diff(z).subs(z, 0) == gate.max_slope
