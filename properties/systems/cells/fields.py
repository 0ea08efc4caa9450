"""What the fields of a spec may be for cells of any kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impl.cells.activation import ACTIVATIONS
from properties.errors import SpecError
from properties.systems.kinds import GATED

if TYPE_CHECKING:
    from properties.systems.spec import SystemSpec

# The cells of any activation.
ACTIVATED = ("leaky", "deep")


def check_cell(spec: SystemSpec) -> None:
    """Raise SpecError unless the cell has the activation, and is drawn if it is not gated."""
    if spec.kind in GATED and spec.activation != "tanh":
        raise SpecError(f"the gates of a {spec.kind} are sigmoids and tanh: its activation is tanh")
    if spec.kind in GATED:
        return
    if spec.values is not None:
        raise SpecError(f"a {spec.kind} is drawn, not written out: no values")
    if spec.kind in ACTIVATED and spec.activation not in ACTIVATIONS:
        raise SpecError(f"a {spec.kind} has one of the activations {', '.join(ACTIVATIONS)}")
    if spec.kind not in ACTIVATED and spec.activation != "tanh":
        raise SpecError(f"a {spec.kind} says itself what its activations are: name tanh")
