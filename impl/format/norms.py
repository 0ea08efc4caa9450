"""Norms and layers as a record states them; `impl.checker.cells.claimed` proves each."""

from typing import Any

from msgspec import field

from rnnbounds.impl.format.fields import Bound, Exactly, Size


class Stated(Exactly, frozen=True):
    """A norm ‖·‖_* with λ, the drive S ≥ sup ‖φ(0, x)‖_*, ‖h‖₂ ≤ C‖s‖_* for the `equivalence` C,
    ‖s‖_* ≤ c‖s‖₂ for the `reach` c, and the `radius` R ≥ ‖s_t‖_*."""

    name: str = field(name="norm")
    lam: Size = field(name="lambda")
    weights: list[Any] | None
    drive: Size
    equivalence: Size
    reach: Bound
    radius: Bound


class Layer(Exactly, frozen=True):
    """One layer of a stack: the norm in which it contracts, and the one that bounds its outputs if
    that is another; how far it moves with the layer below; the bound on its inputs; its box."""

    norm: Stated
    bounded: Stated | None
    coupling: Size
    input_bound: Size
    box: list[Bound] | None


class Other(Stated, frozen=True):
    """A norm in which one constant is less than in the norm of the windows: with the bound on
    ‖h_t‖₂ that follows in it, and of a stack its layers in that norm."""

    states: Bound = field(name="B_h")
    layers: tuple[Layer, ...] | None
