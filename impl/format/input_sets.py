"""Sets of inputs as records state them: a box, recorded frames, their hull, a zonotope.

Whoever reads the record finds the whole set in it. The box and the ball hold the set, which is
decided in rationals, so that what is proved for inputs of all three is proved for the set.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from rnnbounds.impl.format.fields import Ends, Number, RecordError, Size

MOST = 2**17  # numbers of frames, or of generators
KEYS = ("set", "low", "high", "change", "frames", "center", "generators")
_PARTS = {"box": {"change"}, "frames": {"frames"}, "hull": {"frames"},
          "zonotope": {"center", "generators"}}  # fmt: skip
Rows = Annotated[list[list[Number]], Meta(min_length=1)]


class StatedSet(Ends, frozen=True, forbid_unknown_fields=True):
    """A set of inputs: those of the box between low and high; the frames; all of their hull; or
    c + Σ z_j g_j with |z_j| ≤ 1, for the generators g_j.

    change: of a box, |x_t − x_{t−1}| ≤ change channel by channel too.
    """

    set: Literal["box", "frames", "hull", "zonotope"]
    change: list[Size] | UnsetType = UNSET
    frames: Rows | UnsetType = UNSET
    center: list[Number] | UnsetType = UNSET
    generators: Rows | UnsetType = UNSET

    def __post_init__(self) -> None:
        stated = {name for name in KEYS[3:] if getattr(self, name) is not UNSET}
        if stated != _PARTS[self.set] and (self.set != "box" or stated):
            raise RecordError("a set of inputs with parts of another one")

    @property
    def is_box(self) -> bool:
        """True if inputs are all of the box within the ball, at each step anew."""
        return self.set == "box" and self.change is UNSET

    def require(self, d: int, bound: float) -> None:
        """Raise RecordError unless it is a set of d channels that box and ball hold; of a box, one
        that meets the ball."""
        super().require(d, bound)
        rows = [*(self.frames or ()), *(self.generators or ())]
        rows += [one for one in (self.center, self.change) if one is not UNSET]
        if any(len(row) != d for row in rows):
            raise RecordError("a set of other channels than the inputs")
        if len(rows) * d > MOST:
            raise RecordError("a set of too many numbers")
        most = Fraction(bound) ** 2
        for low, high, square in self._extents():
            sides = zip(self.low, low, high, self.high, strict=True)
            if not all(a <= l and h <= b for a, l, h, b in sides) or square > most:
                raise RecordError("a set that its box or its ball does not hold")

    def _extents(self) -> list[tuple[list[Fraction], list[Fraction], Fraction]]:
        """Ends of parts that make up the set, and at least their largest ‖x‖₂²."""
        if self.frames is not UNSET:
            points = [list(map(Fraction, row)) for row in self.frames]
            return [(x, x, sum((a * a for a in x), Fraction(0))) for x in points]
        if self.center is UNSET or self.generators is UNSET:
            return []
        sides = [
            sum(abs(Fraction(a)) for a in column) for column in zip(*self.generators, strict=True)
        ]
        low = [Fraction(c) - side for c, side in zip(self.center, sides, strict=True)]
        high = [Fraction(c) + side for c, side in zip(self.center, sides, strict=True)]
        ends = zip(self.low, self.high, strict=True)
        square = sum((max(abs(Fraction(a)), abs(Fraction(b))) ** 2 for a, b in ends), Fraction(0))
        return [(low, high, square)]


def record_inputs(stated: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The set of a whole certificate as a record states it."""
    return None if stated is None else {key: stated[key] for key in KEYS if key in stated}
