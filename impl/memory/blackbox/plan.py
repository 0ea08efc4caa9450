"""The plan of a measurement: which windows are run at which k, and which are held out."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor

from rnnbounds.impl.memory.runs import grid
from rnnbounds.impl.memory.statement import SHARE, exact, require_enough

CURVE = 2000  # windows of which every truncation is run


@dataclass(frozen=True)
class WindowPlan:
    """Which windows are run: `seen` of them at every k of `ks`; k is chosen on those before `half`,
    where `spare` may lie beyond ε, and tried on the `held_out` from there on. alpha is of each ε;
    `needed`: windows held out, all within ε, that a share of `aim` takes."""

    windows: int
    ks: tuple[int, ...]
    epsilons: tuple[float, ...]
    held_out: int
    spare: int
    confidence: float
    alpha: Fraction
    aim: float
    needed: int
    presupposed: str

    @classmethod
    def of(
        cls, windows: int, T: int, epsilons: tuple[float, ...], confidence: float,
        share: float | None, states: bool, presupposed: str,
    ) -> "WindowPlan":  # fmt: skip
        """The plan for windows of T inputs; `states`: if a statement about others is made, which
        presupposes that. Raises TooFewError for a share that so few windows cannot reach."""
        alpha, needed = require_enough(windows, len(epsilons), confidence, share)
        beyond = Fraction(0) if share is None else 1 - exact(share, "the share")
        half = windows // 2
        return cls(
            windows, grid(T)[1:], epsilons, min(windows - half, 2 * needed) if states else 0,
            floor(min(half, CURVE) * beyond / 2), confidence, alpha,
            SHARE if share is None else share, needed, presupposed,
        )  # fmt: skip

    @property
    def seen(self) -> int:
        """How many windows are run at every k, the first ones."""
        return min(self.windows, CURVE)

    @property
    def half(self) -> int:
        """The number of the first window that is held out."""
        return self.windows // 2

    @property
    def rest(self) -> slice:
        """Windows held out that are not among those seen."""
        last = self.half + self.held_out
        return slice(min(last, max(self.half, self.seen)), last)

    @property
    def total(self) -> int:
        """How many windows are run."""
        return self.seen + int(self.rest.stop - self.rest.start)
