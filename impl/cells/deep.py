"""Deep transitions as cells: several layers between one state and the next.

    h⁺ = g_L ∘ … ∘ g_1(h),    g_l(u) = ρ(W_l u + [l = 1] U x + b_l),

with W_l and b_l stored as transition_l_weight and transition_l_bias, and U as input_weight, so that
no layer is mistaken for one of a stack. |Δh⁺| ≤ (Π slope_l|W_l|)|Δh| row by row, with the slopes of
ρ over what each layer is fed, and in the Euclidean norm λ = Π L_ρ‖W_l‖₂. Source: Pascanu et al.,
How to construct deep recurrent neural networks (2014).
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, Activation
from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.arithmetic.inputs.sets import InputBound
from rnnbounds.impl.cells.kind import Kind, Layout, Weights
from rnnbounds.impl.cells.program import Activated, program_kind
from rnnbounds.impl.numbers.outward import mul_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

_LAYER_NAME = re.compile(r"transition_([1-9][0-9]{0,3})_weight")


def count_layers(names: Collection[str]) -> int:
    """L, the number of layers that the names tell of, at least 1."""
    return max(
        (int(match[1]) for name in names if (match := _LAYER_NAME.fullmatch(name))), default=1
    )


def deep_layout(names: Collection[str]) -> Layout:
    """As many layers as the names tell of, each with a bias that may be missing."""
    L = count_layers(names)
    sizes = ["n", *(f"m{layer}" for layer in range(1, L)), "n"]
    layers = range(1, L + 1)
    weights = {f"transition_{i}_weight": f"{sizes[i]} {sizes[i - 1]}" for i in layers}
    biases = {f"transition_{i}_bias": sizes[i] for i in layers}
    return Layout(weights | {"input_weight": f"{sizes[1]} d"} | biases, tuple(biases))


@dataclass(frozen=True, eq=False)
class DeepCell(Activated):
    """B deep transitions."""

    reads = "input_weight"

    def program(self, m: Arithmetic[V], s: V, x: V) -> V:
        """One step over any arithmetic."""
        for layer in range(1, self.depth + 1):
            s = m.affine(f"transition_{layer}_weight", f"transition_{layer}_bias", s)
            pre_activation = s + m.affine("input_weight", None, x) if layer == 1 else s
            s = m.activate(self.activation.name, pre_activation)
        return s

    @property
    def depth(self) -> int:
        """The number L of layers."""
        return count_layers(self.parameters)

    @property
    def n(self) -> int:
        """The size of the state, which is the output."""
        return self.parameters["transition_1_weight"].shape[2]

    @cached_property
    def norms(self) -> Tensor:
        """‖W_l‖₂ rounded up, layer by layer: (L, B)."""
        layers = (f"transition_{layer}_weight" for layer in range(1, self.depth + 1))
        return torch.stack([certified_norm(self.parameters[name].detach()) for name in layers])

    def euclidean(self, box: Tensor) -> Tensor:
        """Π L_ρ‖W_l‖₂."""
        lam = torch.ones_like(box[:, 0])
        for norm in self.norms:
            lam = mul_up(mul_up(self.activation.slope, norm), lam)
        return lam[:, None, None]

    def constants(self, box: Tensor, B: InputBound) -> dict[str, float]:
        """The depth L and the Lipschitz constant of ρ."""
        return {"depth": float(self.depth), "L_rho": self.activation.slope}


def deep_kind(rho: Activation) -> Kind:
    """The kind with that activation."""

    def make(weights: Weights) -> DeepCell:
        return DeepCell(weights, rho)

    return program_kind(f"deep-{rho.name}", make, deep_layout, default=False)


DEEP_KINDS = tuple(deep_kind(rho) for rho in ACTIVATIONS.values())
