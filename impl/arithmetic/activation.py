"""Activation functions in float64, balls and rationals, with their constants and errors."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from flint import arb, ctx, fmpq
from torch import Tensor
from torch.nn import functional

from rnnbounds.impl.errors import UnknownNameError
from rnnbounds.impl.numbers import ball_functions as balls
from rnnbounds.impl.numbers.ball_functions import LEAK, float_above
from rnnbounds.impl.numbers.outward import TINY, UNIT, add_up, mul_up
from rnnbounds.impl.numbers.product import Array, tanh

_ROUNDINGS = 4 * UNIT  # what the libraries' functions are off by, relative to their scale
_SINGLE = 2.0**-24  # u of float32
_THRESHOLD = 40.0  # softplus is the identity above it: off by e⁻⁴⁰ < u
_TANGENT = "2.3993572805154676678327396972823"  # the root of z tanh(z/2) = 2, to 10⁻³⁰


def working_unit(unit: float) -> float:
    """The unit roundoff with which torch's functions are computed in a dtype of unit roundoff u.

    float32 and float64 have their own. Half precision is taken to float32, and what comes of it is
    rounded to the dtype, or not where a fused kernel goes on with it. In their working precision
    tanh, σ and the other activations are off by 8 units at most, exp, sin and cos by 16.
    """
    return min(unit, _SINGLE)


@dataclass(frozen=True, eq=False)
class Activation:
    """An activation ρ with constants rounded up, and the error model of its float64 function.

    ``slope`` is L_ρ = sup |ρ′|, ``least`` a lower bound on ρ′, ``curvature`` β_ρ = sup |ρ″|
    (infinite where ρ′ jumps), ``bound`` M_ρ = sup |ρ| (infinite if there is none), ``at_zero`` ρ(0)
    rounded up; ``linear_above`` says that ρ(z) = z for z ≥ 0, ``relative`` that the computed ρ(z)
    is also off by at most 16 units of |ρ(z)|, ``exact`` is ρ where it is rational everywhere. Per
    unit, the float64 function is off by at most min(cap, rate |z|) + floor at the pre-activation z,
    and the float64 derivative by at most ``derivative_error``: absolute errors, since a relative
    one is wrong for torch's own softplus and for GELU far left.
    Source: Higham, Accuracy and Stability, for the model.
    """

    name: str
    function: Callable[[Tensor], Tensor]
    derivative: Callable[[Tensor], Tensor]
    ball: Callable[[arb], arb]
    ball_derivative: Callable[[arb], arb]
    curvature: float
    slope: float = 1.0
    bound: float = math.inf
    at_zero: float = 0.0
    cap: float = math.inf
    rate: float = _ROUNDINGS
    floor: float = TINY
    exact: Callable[[fmpq], fmpq] | None = None
    least: float = 0.0
    linear_above: bool = False
    relative: bool = True

    @property
    def derivative_error(self) -> float:
        """8 units of the slope, and 0 where ρ is linear by pieces."""
        return 0.0 if self.curvature in (0.0, math.inf) else 8 * UNIT * self.slope

    def __call__(self, z: Tensor) -> Tensor:
        """ρ(z), entry by entry, differentiable."""
        return self.function(z)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """One of the table is pickled by its name: its functions cannot be."""
        if (ACTIVATIONS | LIBRARY_ACTIVATIONS).get(self.name) is self:
            return activation, (self.name,)
        return super().__reduce_ex__(protocol)

    def write_to(self, z: Tensor, out: Tensor) -> None:
        """ρ(z) for plain tensors (see `impl.numbers.product`), written to ``out``, which may be z.

        Of the same error model, but not always of the same bits.
        """
        if self.name == "tanh":
            with np.errstate(all="ignore"):
                tanh(z.numpy(), out.numpy())
        elif (in_place := _IN_PLACE.get(self.name)) is not None:
            in_place(z, out=out)
        else:
            out.copy_(self.function(z))

    def write_to_array(self, z: Array, out: Array) -> None:
        """`write_to` of arrays, where NumPy is silent."""
        if self.name == "tanh":
            tanh(z, out)
        else:
            self.write_to(torch.from_numpy(z), torch.from_numpy(out))

    def rational(self, z: fmpq) -> fmpq | None:
        """ρ(z) exactly, or None where ρ leaves the rationals."""
        if self.exact is not None:
            return self.exact(z)
        return z if self.linear_above and z >= 0 else balls.exact_value(self.ball, z)

    def rational_slope(self, z: fmpq) -> fmpq | None:
        """ρ′(z) exactly, or None where ρ′ leaves the rationals."""
        return balls.exact_value(self.ball_derivative, z)

    def error(self, n: int, Z: Tensor) -> Tensor:
        """At least ‖fl(ρ)(z) − ρ(z)‖₂ over all float64 z ∈ ℝⁿ with ‖z‖₂ ≤ Z, entry by entry of Z.

        Exactly 0 at Z = 0 if ρ(0) = 0, which all of torch's functions return.
        """
        root = math.sqrt(n) * (1 + 2 * UNIT)
        cap = torch.full_like(Z, self.cap * root)
        error = add_up(torch.minimum(cap, mul_up(self.rate, Z)), self.floor * root)
        return torch.where((Z == 0) & (self.at_zero == 0), 0.0, error * (1 + 4 * UNIT))

    def dtype_error(self, unit: float, n: int, Z: Tensor) -> Tensor:
        """Bound ‖fl(ρ)(z) − ρ(z)‖₂ for ‖z‖₂ ≤ Z, z ∈ ℝⁿ, in torch's dtype of roundoff u."""
        library = mul_up(working_unit(unit) * 2.0**54, self.error(n, Z))
        if unit == working_unit(unit):
            return library
        root = math.sqrt(n) * (1 + 2 * UNIT)
        slope_bound = add_up(self.at_zero * root, mul_up(self.slope, Z))
        size = add_up(torch.clamp(slope_bound, max=self.bound * root), library)
        return torch.where(library == 0, 0.0, add_up(library, mul_up(unit, size)))


_IN_PLACE: dict[str, Callable[..., Tensor]] = {
    "sigmoid": torch.sigmoid,
    "sin": torch.sin,
    "relu": partial(torch.clamp, min=0.0),
    "softplus": partial(torch.ops.aten.softplus.out, threshold=_THRESHOLD),
    "gelu": torch.ops.aten.gelu.out,
    "silu": torch.ops.aten.silu.out,
    "erf": torch.erf,
    "arctan": torch.arctan,
}


def activation(name: str) -> Activation:
    """The activation of that name; raises UnknownNameError."""
    known = ACTIVATIONS.get(name) or LIBRARY_ACTIVATIONS.get(name)
    if known is None:
        raise UnknownNameError("activation", name, ACTIVATIONS)
    return known


def _gelu_slope(z: Tensor) -> Tensor:
    cdf: Tensor = torch.special.erfc(z * -math.sqrt(0.5)) / 2
    return cdf + z * torch.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def _suprema() -> dict[str, float]:
    """The closed forms of sup |ρ′| and sup |ρ″|, rounded up."""
    pi, root3, tangent = arb.pi(), arb(3).sqrt(), arb(_TANGENT, 1e-30)
    closed = {
        "tanh''": 4 / (3 * root3),
        "sigmoid''": 1 / (6 * root3),
        "gelu'": (1 + arb(1).erf()) / 2 + arb(-1).exp() / pi.sqrt(),
        "-gelu'": (arb(1).erf() - 1) / 2 + arb(-1).exp() / pi.sqrt(),  # ρ′(z) + ρ′(−z) = 1
        "gelu''": (2 / pi).sqrt(),
        "silu'": (tangent + 2) / 4,
        "-silu'": (tangent - 2) / 4,
        "erf'": 2 / pi.sqrt(),
        "erf''": 2 * (2 / pi).sqrt() * (arb(-1) / 2).exp(),
        "arctan": pi / 2,
        "arctan''": 3 * root3 / 8,
        "ln2": arb(2).log(),
    }
    return {name: float_above(value) for name, value in closed.items()}


with ctx.workprec(128):
    _SUPREMA = _suprema()


def _softplus_activation(name: str, threshold: float, jump: float) -> Activation:
    """Torch's softplus, which is the identity above the threshold and off by the jump there."""
    return Activation(
        name,
        lambda z: functional.softplus(z, threshold=threshold),
        torch.sigmoid,
        balls.softplus,
        balls.sigmoid,
        curvature=0.25,
        at_zero=_SUPREMA["ln2"],
        floor=_ROUNDINGS + jump,
        relative=jump < UNIT,
    )


_TABLE = (
    Activation(
        "identity", lambda z: z, torch.ones_like, lambda z: z, balls.identity_slope,
        curvature=0.0, cap=0.0, rate=0.0, floor=0.0, exact=lambda z: z, least=1.0,
    ),
    Activation(
        "relu", torch.relu, lambda z: (z > 0).to(z.dtype), balls.relu,
        balls.kinked_slope(0.0, 1.0),
        curvature=math.inf, cap=0.0, rate=0.0, floor=0.0, exact=lambda z: max(z, fmpq(0)),
    ),
    Activation(
        "leaky-relu", lambda z: functional.leaky_relu(z, LEAK),
        lambda z: torch.where(z > 0, torch.ones_like(z), LEAK), balls.leaky_relu,
        balls.kinked_slope(LEAK, 1.0),
        curvature=math.inf, rate=LEAK * UNIT * (1 + UNIT),
        exact=lambda z: max(z, z * fmpq(*LEAK.as_integer_ratio())), least=LEAK,
    ),
    Activation(
        "tanh", torch.tanh, lambda z: 1 - torch.tanh(z) ** 2,
        arb.tanh, balls.tanh_slope,
        curvature=_SUPREMA["tanh''"], bound=1.0, cap=_ROUNDINGS,
    ),
    Activation(
        "sigmoid", torch.sigmoid, lambda z: torch.sigmoid(z) * torch.sigmoid(-z),
        balls.sigmoid, balls.sigmoid_slope,
        slope=0.25, curvature=_SUPREMA["sigmoid''"], bound=1.0, at_zero=0.5,
        cap=_ROUNDINGS, rate=math.inf,
    ),
    _softplus_activation("softplus", _THRESHOLD, 0.0),
    Activation(
        "gelu", functional.gelu, _gelu_slope, balls.gelu, balls.gelu_slope,
        slope=_SUPREMA["gelu'"], curvature=_SUPREMA["gelu''"], least=-_SUPREMA["-gelu'"],
        relative=False,
    ),
    Activation(
        "silu", functional.silu, lambda z: torch.sigmoid(z) * (1 + z * torch.sigmoid(-z)),
        balls.silu, balls.silu_slope,
        slope=_SUPREMA["silu'"], curvature=0.5, least=-_SUPREMA["-silu'"],
    ),
    Activation(
        "elu", functional.elu, lambda z: torch.exp(z.clamp(max=0)),
        balls.elu, balls.elu_slope,
        curvature=1.0, cap=_ROUNDINGS, linear_above=True,
    ),
    Activation(
        "erf", torch.erf, lambda z: 2 / math.sqrt(math.pi) * torch.exp(-z * z),
        arb.erf, balls.erf_slope,
        slope=_SUPREMA["erf'"], curvature=_SUPREMA["erf''"], bound=1.0, cap=_ROUNDINGS,
    ),
    Activation(
        "sin", torch.sin, torch.cos, arb.sin, arb.cos,
        curvature=1.0, bound=1.0, cap=_ROUNDINGS, least=-1.0,
    ),
    Activation(
        "arctan", torch.arctan, lambda z: 1 / (1 + z * z),
        lambda z: z.atan(), lambda z: 1 / (1 + z * z),
        curvature=_SUPREMA["arctan''"], bound=_SUPREMA["arctan"], cap=2 * _ROUNDINGS,
    ),
)  # fmt: skip

ACTIVATIONS: dict[str, Activation] = {entry.name: entry for entry in _TABLE}

# Torch's own default, at which softplus jumps by log(1 + e⁻²⁰): its relative error is far above 4u.
LIBRARY_ACTIVATIONS: dict[str, Activation] = {
    "softplus-torch": _softplus_activation("softplus-torch", 20.0, 2.1e-9),
}
