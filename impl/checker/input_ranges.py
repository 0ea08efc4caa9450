"""Ranges of inputs and of their products with rows of weights, in balls.

For a row w the products w x of all inputs of a set lie between

    min_p w x_p and max_p w x_p    for frames x_p, and so for their hull, since w x is linear;
    w c ± Σ_j |w g_j|              for a zonotope c + Σ z_j g_j, |z_j| ≤ 1,

beside what their box and their ball say.
"""

from dataclasses import dataclass, field
from functools import cached_property, reduce

from flint import arb, arb_mat
from msgspec import UNSET

from rnnbounds.impl.format.input_sets import StatedSet

Range = tuple[arb, arb]


@dataclass(frozen=True, eq=False)
class InputRanges:
    """Inputs between low and high (d,), and where they fill less, their set as it is stated."""

    low: list[arb]
    high: list[arb]
    stated: StatedSet | None = None
    known: dict[int, tuple[list[arb], Range]] = field(default_factory=dict)  # by rows of weights

    @classmethod
    def of(cls, stated: StatedSet | None) -> "InputRanges | None":
        """Those of a stated set, None for a ball alone."""
        if stated is None:
            return None
        return cls([arb(v) for v in stated.low], [arb(v) for v in stated.high], stated)

    @property
    def box(self) -> tuple[list[arb], list[arb]]:
        """The least box that is known to hold the set."""
        low, high = list(self.low), list(self.high)
        for i in range(len(low)):
            if (known := self.of_row([arb(int(i == j)) for j in range(len(low))])) is not None:
                low[i], high[i] = low[i].max(known[0]), high[i].min(known[1])
        return low, high

    def of_row(self, w: list[arb]) -> Range | None:
        """At most and at least w x over the set, None where box and ball are all that is known."""
        if self.stated is None or self.stated.set == "box":
            return None
        if id(w) not in self.known:
            self.known[id(w)] = w, self._range(self.stated, w)
        return self.known[id(w)][1]

    @cached_property
    def _points(self) -> arb_mat:
        """The frames; or the center, then the generators, each a column."""
        stated = self.stated
        assert stated is not None
        rows = stated.frames or [stated.center or [], *(stated.generators or ())]
        return arb_mat([[arb(a) for a in row] for row in rows]).transpose()

    def _range(self, stated: StatedSet, w: list[arb]) -> Range:
        products = (arb_mat([w]) * self._points).entries()
        if stated.frames is not UNSET:
            return -reduce(arb.max, [-p for p in products]), reduce(arb.max, products)
        middle, reach = products[0], sum((abs(p) for p in products[1:]), arb(0))
        return middle - reach, middle + reach
