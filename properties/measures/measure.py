"""A measured quantity: read from its definition, or by a fast path, or opaque.

A fast path is a quicker reading of what a definition says, on some systems: a sweep over all
windows, a shared adjoint, a descent. An opaque quantity is none that a definition computes. Shapes
are (B, S, K+1) with k, else (B, S, 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from flint import arb, fmpq

from rnnbounds.properties.read import ascent, quantity
from rnnbounds.properties.read.entry_carriers import Carrier
from rnnbounds.properties.read.numbers.norms import around, blank
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.exact.networks import exact_members
from rnnbounds.theory.language.vocabulary import QUANTITIES, VOCABULARY
from rnnbounds.theory.numbers.interval import Interval


@dataclass(frozen=True)
class Needs:
    """Requirements of a quantity on the batches on which its statements are tested.

    max_size: largest (systems, sequences) of a batch that only exact decisions read, or one module
    at a time. efficient_size: (systems, sequences) up to which more cost no more. wide:
    True to add systems that only a weighted norm certifies. slow: True if a step of ascent takes
    several times as long. trained: True to draw cells with a loss and train them.
    """

    max_size: tuple[int, int] | None = None
    efficient_size: tuple[int, int] | None = None
    wide: bool = False
    slow: bool = False
    trained: bool = False


NO_NEEDS = Needs()
WEIGHTED = Needs(wide=True, slow=True)  # in a norm that is certified anew at each step of an ascent
MODULES = Needs(max_size=(4, 2))  # run module by module
SWEPT = Needs(efficient_size=(128, 1))  # one adjoint sweep reads many systems as fast as few
GATED, FEW, MANY = Needs(max_size=(12, 8)), Needs(max_size=(16, 1)), Needs(efficient_size=(48, 1))
SMALL = Needs(max_size=(24, 2))
NEEDS: dict[str, Needs] = {
    # Weighted norms are certified anew at every step of an ascent.
    "W_radius": Needs(max_size=(8, 8), wide=True, slow=True),
    "lam_P": Needs(max_size=(8, 8), wide=True, slow=True),
    "lam_D": Needs(max_size=(24, 8), wide=True, slow=True),
    "lam_v": Needs(max_size=(24, 8), wide=True, slow=True),
    "S_0_box": Needs(max_size=(16, 2)),
    "C_box": Needs(max_size=(16, 2)),
    "L_w_box": Needs(max_size=(8, 1)),
    "L_w_omega": Needs(max_size=(24, 2)),
    **dict.fromkeys(("step_gap_P", "step_gap_D", "step_gap_v"), WEIGHTED),
    **dict.fromkeys(("forward_gap", "field_gap"), MODULES),
    "causal_gap": Needs(max_size=(2, 2)),
    "dh_dx": Needs(max_size=(16, 2)),
    "grad_gap": Needs(efficient_size=(448, 1)),
    **dict.fromkeys(("tbptt_gap", "tb_gap"), SWEPT),
    "dphi_w_gap": Needs(max_size=(16, 4)),
    "dphi_h_gap": Needs(max_size=(16, 2)),
    **dict.fromkeys(("gate_gap", "gate_gap_box", "c_size", "h_size", "run_gap"), GATED),
    "w_gap": Needs(max_size=(16, 1), trained=True),
    **dict.fromkeys(("trained_gap", "proj_gap", "proj_distance"), FEW),
    **dict.fromkeys(("unitary_gap", "similar_gap"), SMALL),
    **dict.fromkeys(("unitary_defect", "defect_rank"), MANY),
    "dh_dh": Needs(max_size=(16, 2)),
    **dict.fromkeys(("separation", "sigmoid_gap"), FEW),
}  # fmt: skip


Tensor = torch.Tensor
ValueReading = Callable[[Batch], Tensor]
ErrorBound = Callable[[Batch, Tensor], Tensor]
# Shipped quantities whose definitions are read for ascent; of others a fast path has a value.
ASCENDED = {
    *(f"{name}{suffix}" for name in ("step_gap", "state_gap") for suffix in ("", "_P", "_D", "_v")),
    "forced_gap", "forced_gap_y", "h_norm", "h_start", "dp", "dp_gap", "weight_distance",
}  # fmt: skip
UNASCENDED = {one.name for one in QUANTITIES} - ASCENDED


def always(batch: Batch) -> bool:
    """True: of all systems."""
    return True


@dataclass(frozen=True)
class BallPair:
    """One pair at the precision that is current while it is first read."""

    batch: Batch
    cache: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)


def ball_pair(batch: Batch, precision: int) -> BallPair:
    """The pair at one precision, made once."""
    key = f"balls at {precision} bits"
    if key not in batch.cache:
        batch.cache[key] = BallPair(batch)
    pair = batch.cache[key]
    assert isinstance(pair, BallPair)
    return pair


@dataclass(frozen=True, eq=False)
class FastPath:
    """Readings of the quantity of that name, of the systems ``applies`` is true of.

    ``value`` is differentiable, for ascent; what is None is read from the definition.
    """

    name: str
    applies: Callable[[Batch], bool] = always
    value: ValueReading | None = None
    enclosure: Callable[[Batch], Interval] | None = None
    balls: Callable[[BallPair, int], arb] | None = None
    square: Callable[[Batch, int], fmpq | None] | None = None
    is_at_most: Callable[[Batch, fmpq, int], bool | None] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Opaque(FastPath):
    """A quantity whose definition names what no reading computes, for a reason."""

    reason: str


def enclose_with_error(value: ValueReading, error: ErrorBound) -> Callable[[Batch], Interval]:
    """The enclosure of a value and a bound on its error."""

    def enclosure(batch: Batch) -> Interval:
        with torch.no_grad():
            computed = value(batch)
            return around(computed, error(batch, computed))

    return enclosure


@dataclass(frozen=True, eq=False)
class Measure:
    """One measured quantity, with its fast paths: the first that is of a system is taken."""

    name: str
    paths: tuple[FastPath, ...] = ()

    @property
    def needs(self) -> Needs:
        """Requirements of this quantity on the batches of an attack."""
        return NEEDS.get(self.name, NO_NEEDS)

    @cached_property
    def is_opaque(self) -> bool:
        """True if a path reads it by its own code (`Opaque`), not by its definition."""
        return any(isinstance(path, Opaque) for path in self.paths)

    @cached_property
    def value(self) -> ValueReading | None:
        """A differentiable reading of a whole batch, for ascent: that of a fast path, or of what a
        claim brings its definition."""
        fast_value = next((path.value for path in self.paths if path.value is not None), None)
        formula = VOCABULARY[self.name].definition
        if fast_value is not None or self.is_opaque or self.name in UNASCENDED or formula is None:
            return fast_value
        return ascent.ascent_reading(self.name) if ascent.is_differentiable(formula) else None

    def path_for(self, batch: Batch) -> FastPath:
        """The fast path of these systems."""
        return next((path for path in self.paths if path.applies(batch)), NO_PATH)

    def enclose(self, batch: Batch) -> Interval:
        """Float64 enclosures over the batch; [nan, nan] where only exact arithmetic can read it."""
        path = self.path_for(batch)
        if path.enclosure is not None:
            return path.enclosure(batch)
        if not self.is_opaque:
            return quantity.enclose_batch(self.name, batch)
        return blank(batch, batch.K + 1 if VOCABULARY[self.name].windowed else 1)

    def ball(self, pair: Batch, k: int, precision: int) -> arb:
        """A ball of one pair at one window; NaN where there is no reading."""
        balls = self.path_for(pair).balls
        if balls is None:
            if self.is_opaque:
                return arb("nan")
            return quantity.ball_size(self.name, pair, k, precision).ball
        ball_reading, key = ball_pair(pair, precision), f"{self.name} at {k}"
        if key not in ball_reading.cache:
            ball_reading.cache[key] = balls(ball_reading, k)
        found: arb = ball_reading.cache[key]
        return found

    def read_windows(
        self, pair: Batch, ks: Sequence[int], carrier: Carrier, precision: int
    ) -> None:
        """Read one pair at these windows at once, in balls or rationals, to be asked for later."""
        if self.path_for(pair).balls is None and not self.is_opaque and not exact_members(pair):
            quantity.read_windows(self.name, pair, ks, carrier, precision)

    def exact_square(self, pair: Batch, k: int, precision: int) -> fmpq | None:
        """The square, if it is known to be rational: from rational states or a ball that is 0."""
        path = self.path_for(pair)
        if path.square is None and path.balls is None and not self.is_opaque:
            return quantity.exact_square(self.name, pair, k, precision)
        key = f"square of {self.name} at {k}"
        if key not in pair.cache:
            reading = path.square or (None if self.is_opaque else self.rational_square)
            pair.cache[key] = None if reading is None else reading(pair, k)
        square: fmpq | None = pair.cache[key]
        if square is None and self.ball(pair, k, precision).is_zero():
            return fmpq(0)
        return square

    def rational_square(self, pair: Batch, k: int) -> fmpq | None:
        """The square, as it is read in rationals."""
        return quantity.rational_square(self.name, pair, k)

    def is_at_most(self, pair: Batch, bound: fmpq, k: int) -> bool | None:
        """True if the quantity is ≤ bound at window k, exactly; None if that is not decided."""
        path = self.path_for(pair)
        if path.is_at_most is not None:
            return path.is_at_most(pair, bound, k)
        return (
            None if self.is_opaque or path.balls else quantity.is_at_most(self.name, pair, bound, k)
        )

    def bound_square(self, pair: Batch, k: int) -> fmpq | None:
        """A rational bound of the square that holds whatever the inputs are."""
        return None if self.is_opaque else quantity.range_square(self.name, pair, k)


NO_PATH = FastPath("")
