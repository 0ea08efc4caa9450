"""Models in both directions with their certificates, in one layer or two, of any torch cell.

The model that ships is run, forward and back, and what its certificate prints is judged. Its
inputs are x_1, …, x_{2T}: output T has as many after it as before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import torch
from flint import fmpq
from msgspec.structs import replace

from rnnbounds.impl.bidirectional.certify import certify_both
from rnnbounds.impl.bidirectional.record import BidirectionalCertificate
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.models.bidirectional import LoadedBidirectional
from rnnbounds.impl.numbers.outward import div_up, subtract_down
from rnnbounds.impl.reading.adapters import load_both
from rnnbounds.properties.systems.certified.models import cached_by, draw_weights
from rnnbounds.properties.systems.drawing.draws import member_generator
from rnnbounds.properties.systems.layered.dyadic import bounded_inputs
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import (
    ExactMember,
    Table,
    Vector,
    recurrence_tables,
    upper_float,
)

STREAM = 8  # of the first cell's weights
LAYERS = {"both": 1, "both-stack": 2}  # by kind


@dataclass(frozen=True, eq=False)
class BothMember(ExactMember):
    """A model in both directions, its certificate, and its inputs x (S, 2T, d)."""

    spec: SystemSpec
    model: LoadedBidirectional
    certificate: BidirectionalCertificate
    x: list[list[Vector]]

    def tables(self) -> dict[str, Table]:
        """A network of no weights stands for the cells, which have no tables of one form."""
        n, d = self.model.layers[-1].forward.n, self.spec.d
        zero = [[fmpq(0)] * n for _ in range(n)]
        return recurrence_tables(zero, [[fmpq(0)] * d] * n, (fmpq(0),) * n, self.x)

    def constants(self) -> dict[str, float]:
        """Numbers that the certificate prints: of the cells of the lowest layer, and the window."""
        found = {"eps_both": self.certificate.windows[0][0]}
        window = self.certificate.windows[0][1]
        past, future = (inf, inf) if window is None else window
        found |= {"past_told": float(past), "future_told": float(future)}
        for name, one in zip(("ahead", "back"), self.certificate.layers[0], strict=True):
            found |= {
                f"lam_{name}": one.lam,
                f"C_{name}": one.constants["equivalence"],
                f"R_{name}": largest_state(one),
            }
        return found


def largest_state(certificate: Certificate) -> float:
    """min(S/(1 − λ), R), a bound on the states in the printed norm."""
    S, R = certificate.constants["drive"], certificate.constants["radius"]
    margin = subtract_down(1.0, certificate.lam)
    return min(float(div_up(S, margin)), R) if margin > 0 else R


def weights_only(spec: SystemSpec) -> SystemSpec:
    """Reduce a spec to the fields that its models and certificates depend on."""
    return replace(spec, inputs="constant", T=1, K=0, batch=1, sequences=1, member=None,
                   sequence=None)  # fmt: skip


@cached_by(weights_only)
def certified_both(
    spec: SystemSpec, member: int
) -> tuple[LoadedBidirectional, BidirectionalCertificate]:
    """The model of a member and its certificate for ‖x‖₂ ≤ √d B and one ε."""
    tensors: dict[str, torch.Tensor] = {}
    width = spec.d
    for l in range(LAYERS[spec.kind]):
        one = replace(spec, d=width)
        for i, end in enumerate(("", "_reverse")):
            generator = member_generator(spec, member, stream=STREAM + 2 * l + i)
            tensors |= {
                f"{name}_l{l}{end}": torch.from_numpy(part.copy())
                for name, part in draw_weights(one, generator).items()
            }
        width = 2 * spec.n
    model = load_both(tensors, spec.cell)
    assert isinstance(model, LoadedBidirectional)
    largest = upper_float(fmpq(*float(spec.scale).as_integer_ratio()) * spec.d)
    return model, certify_both(model, largest, spec.epsilon)


def both_member(spec: SystemSpec, member: int) -> BothMember:
    """The member of a ``both`` spec."""
    early, late = bounded_inputs(spec, member), bounded_inputs(spec, member + spec.batch)
    x: Sequence[list[Vector]] = [one + two for one, two in zip(early, late, strict=True)]
    return BothMember(spec, *certified_both(spec, member), list(x))
