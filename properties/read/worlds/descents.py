"""The world of gradient descent in rationals, from two starts or on samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rnnbounds.properties.read.entry_carriers import RATIONALS
from rnnbounds.properties.read.ground_terms import Term
from rnnbounds.properties.read.reader import ZERO, AbsentError, Value
from rnnbounds.properties.read.worlds.networks import MemberWorld


class DescentWorld(MemberWorld):
    """A `Descents` and one of its sequences."""

    def leaf(self, head: str, *arguments: Term) -> Value:
        """Samples, those of x_other in reverse, and what the member gives by name."""
        if head == "entry" and arguments[0] == ("x_other",):
            return super().leaf(head, ("x",), len(self.member.x[self.s]) + 1 - arguments[1])
        return super().leaf(head, *arguments)

    def of_w(self) -> Value:
        """The first start."""
        return self.carrier.vector(self.member.starts[self.s][0])

    def of_w_other(self) -> Value:
        """The second start."""
        return self.carrier.vector(self.member.starts[self.s][1])

    def of_step_size(self, j: Any) -> Value:
        """α_{j+1}."""
        return self.carrier.number(self.member.rate(j))

    def loss_gradient(self, known: Sequence[Term], w: Value) -> Value:
        """∇p(w) = −βw."""
        return (
            ZERO if w is ZERO else self.carrier.times(self.carrier.number(-self.member.spec.lam), w)
        )

    def sample_gradient(self, known: Sequence[Term], w: Value, sample: Value) -> Value:
        """∇p(w) = b∘w + c."""
        return self.affine(w, sample, 0)

    def near_gradient(self, known: Sequence[Term], w: Value, sample: Value) -> Value:
        """∇p̂(w) = b̂∘w + ĉ."""
        return self.affine(w, sample, 2 * self.units)

    def affine(self, w: Value, sample: Value, first: int) -> Value:
        """Slopes times w plus offsets, which are two parts of the sample."""
        slopes, offsets = (sample.part(at, at + self.units) for at in (first, first + self.units))
        parts = zip(slopes.units, w.units, offsets.units, strict=True)
        return self.carrier.vector([b * v + c for (b,), (v,), (c,) in parts])

    def project(self, known: Sequence[Term], w: Value) -> Value:
        """The nearest point of the box, entry by entry."""
        r = self.member.radius
        if r is None or w is ZERO:
            return w
        if self.carrier is not RATIONALS:
            raise AbsentError
        return self.carrier.vector([min(max(v, -r), r) for (v,) in w.units])
