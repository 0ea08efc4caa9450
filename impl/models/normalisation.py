"""Layer and root-mean-square normalisation as stages of a readout.

    y = γ∘x̂ + β,   x̂ = c/s,   s = √(‖c‖₂²/n + e),   c = P x,

for n entries, where P = I − 11ᵀ/n for `layer-norm` and P = I for `rms-norm`. A differential is

    dx̂ = P dx/s − c cᵀP dx/(n s³) = (1/s) P (I − x̂x̂ᵀ/n) P dx,

since P² = P and P x̂ = x̂, and ‖x̂‖₂² = n (s² − e)/s² < n: the Jacobian of x̂ is symmetric with
0 ⪯ ∂x̂/∂x ⪯ I/s ⪯ I/√e. So ‖y − y′‖₂ ≤ max|γ_i|/√e ‖x − x′‖₂, and near a constant x (near 0 for
`rms-norm`) that is what y moves by. Sources: Ba, Kiros & Hinton (2016), Layer Normalization; Zhang
& Sennrich (2019), Root Mean Square Layer Normalization.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.numbers.outward import div_up, mul_up

LAYER, RMS = "layer-norm", "rms-norm"


@dataclass(frozen=True, eq=False)
class Normalisation:
    """The stage of n entries of a kind, with e as a float64 and γ, β (n,) by their full names.

    Its name is kind, e and the name before `.weight`, as "layer-norm-1e-05:head.1".
    """

    kind: str
    eps: float
    n: int
    owner: str = ""
    weight: tuple[str, Tensor] | None = None
    bias: tuple[str, Tensor] | None = None

    @property
    def name(self) -> str:
        """The name of the stage, by which it is found again."""
        return stage_name(self.kind, self.eps, self.owner)

    @cached_property
    def steepest(self) -> float:
        """At least 1/√e, which bounds ∂x̂/∂x."""
        return float(div_up(1.0, math.nextafter(math.sqrt(self.eps), 0.0)))

    @cached_property
    def slope(self) -> float:
        """At least max|γ_i|/√e."""
        largest = 1.0 if self.weight is None else float(self.weight[1].double().abs().max())
        return float(mul_up(largest, self.steepest))

    @property
    def tensors(self) -> Mapping[str, Tensor]:
        """γ and β, if it has them, by their full names."""
        return dict(part for part in (self.weight, self.bias) if part is not None)

    def parameters(self, at: str) -> Mapping[str, Tensor]:
        """Of an arithmetic, by names that begin with `at`: γ, β, and ones (1, n) and (n, 1)."""
        ones = torch.ones(1, self.n, dtype=torch.float64)
        named = {"scale": self.weight, "shift": self.bias}
        own = {key: part[1].double() for key, part in named.items() if part is not None}
        return {f"{at} {key}": part for key, part in ({"sum": ones, "all": ones.mT} | own).items()}

    def centred(self, m: Arithmetic[V], at: str, x: V) -> tuple[V, float]:
        """u = a c, and a: n for `layer-norm`, and 1."""
        if self.kind == RMS:
            return x, 1.0
        n = float(self.n)
        return n * x - m.affine(f"{at} all", None, m.affine(f"{at} sum", None, x)), n

    def apply(self, m: Arithmetic[V], at: str, x: V) -> V:
        """y over an arithmetic of `parameters`, from u = n c for `layer-norm`: sums of entries and
        products with n are exact before they are rounded or enclosed by the arithmetic."""
        n = float(self.n)
        u, scale = self.centred(m, at, x)
        total = m.affine(f"{at} sum", None, u * u)
        e = total.constant(scale) * total.constant(scale) * total.constant(self.eps)
        s = (total * total.constant(n).reciprocal() + e).sqrt()
        y = u * m.affine(f"{at} all", None, s.reciprocal())
        if self.weight is not None:
            y = y * m.vector(f"{at} scale")
        return y if self.bias is None else y + m.vector(f"{at} shift")


def stage_name(kind: str, eps: float, owner: str) -> str:
    """The name of a stage, as "rms-norm-1e-06:norm", or "rms-norm-1e-06" if it has no γ."""
    return f"{kind}-{float(eps)!r}" + (f":{owner}" if owner else "")
