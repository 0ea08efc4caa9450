"""The roundings of a kernel's matrix products: IEEE 754, or 3×TF32 of tensor cores.

A bound on rounding counts the units of roundoff u on the way of a term of W v + b: N + 2 for N
products of IEEE 754, fused or not, in any order (Higham, Accuracy and Stability, section 3.1).

3×TF32 writes a float32 number as a = A + α + r, with A and α of 11 bits: A by rounding a, α by
rounding a − A, which is exact; then a b is A B + A β + α B. However the 11 bits are rounded,
truncation included, |α| ≤ 2⁻¹⁰|a| and |r| ≤ 3·2⁻²³|a|, as a − A has 13 bits. So for u = 2⁻²⁴

    |a b − (A B + A β + α B)| ≤ |αβ| + |r_a b| + |a r_b| + |r_a r_b| ≤ (16 + 12 + 2⁻¹⁸) u |a b|.

Each of the three products has 22 bits and is exact. A tensor core adds M of them to what it has in
one go: it cuts all at the last of the 24 bits of the largest, which is in [2ᵉ, 2ᵉ⁺¹), and the sum,
if it is 2ᵉ⁺ᶜ or more, to 24 bits. That loses less than M 2u 2ᵉ, and (2ᶜ − 1) 2u 2ᵉ more; together
less than M 2u Σ, for Σ ≥ 2ᵉ⁺ᶜ the sum of absolute values: as M truncated additions. So 3 N + 1
additions of 2u, in any order, of terms that add up to 1.003 |a b|, are at most 6.02 (N + 2) units.
Parts below the least normal number η may be lost, as may operands: that moves a b by 2η (|a| + |b|
+ 2η) at most.

Assumed of tensor cores: products exact, 24 bits or more of each summand kept, cut or rounded: what
was seen of V100, T4 and A100, no vendor's statement. Sources: Ootomo & Yokota, Recovering
single precision accuracy from Tensor Cores; Fasi, Higham, Mikaitis & Pranesh, Numerical behavior of
NVIDIA tensor cores, PeerJ CS 7:e330.
"""

import math
from dataclasses import dataclass

from rnnbounds.impl.errors import InputError, UnknownNameError


@dataclass(frozen=True)
class KernelArithmetic:
    """How matrix products are computed: the units of roundoff that a product is off by, and those
    that each of N + 2 terms of a sum adds; `splits` if operands are written as sums."""

    name: str
    product: float = 0.0
    addition: float = 1.0
    splits: bool = False

    def roundings(self, terms: int) -> int:
        """Units of roundoff on the way of any term of a sum of so many."""
        return math.ceil(self.product + self.addition * terms)


IEEE = KernelArithmetic("ieee")
TF32X3 = KernelArithmetic("tf32x3", product=28.01, addition=6.02, splits=True)
ARITHMETICS = {one.name: one for one in (IEEE, TF32X3)}


def arithmetic_of(name: str, dtype: str) -> KernelArithmetic:
    """The arithmetic of that name; raises UnknownNameError, and InputError if it splits numbers of
    another dtype than float32."""
    if name not in ARITHMETICS:
        raise UnknownNameError("arithmetic", name, [*ARITHMETICS])
    if ARITHMETICS[name].splits and dtype != "float32":
        raise InputError(
            f"{name} splits float32 numbers, and the model is {dtype}; use the arithmetic ieee"
        )
    return ARITHMETICS[name]


def rounding_covers(arithmetic: str, dtype: str, certified: str = "ieee") -> bool:
    """True if a `rounding` that was certified for one arithmetic holds for a kernel of another.

    The kernel multiplies matrices in this arithmetic and dtype ("float32", …), adds in any order,
    and has gates and states in IEEE 754, roundings left out or not, subnormals flushed or not, with
    functions within `impl.arithmetic.activation`: 8 units for tanh, ReLU and σ. By the CUDA guide's
    errors of libdevice (tanh 2 ulp and exp 2 from the correctly rounded result, with the division
    correctly rounded) tanh needs 5 and σ = 1/(1 + exp(−z)) 2.5; 6.3 with exp as 2 to a rounded
    z log₂e and a division of 2 ulp. "ieee" in half precision holds on tensor cores too, whose
    float32 sums are finer. False for one TF32 product and any other name; a tanh by way of exp,
    whose relative error near 0 has no bound, is never covered.
    """
    if not {arithmetic, certified} <= ARITHMETICS.keys():
        return False
    return arithmetic in (IEEE.name, certified) or dtype != "float32"
