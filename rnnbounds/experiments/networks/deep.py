"""Cells of deep transitions as modules to train: L layers between one state and the next.

    plain        u_l = tanh(W_l u_{l−1} + [l = 1] U x + b_l)
    orthogonal   the same, every W_l orthogonal at first (Saxe et al., 2013)
    normalised   tanh of the layer-normalised sum (Ba et al., 2016)
    gated        u_l = g u_{l−1} + (1 − g) tanh(·), g = σ(V_l u_{l−1} + c_l), c_l = 4 at first
                 (Zilly et al., Recurrent Highway Networks, 2017)

with u_0 = h_{t−1} and h_t = u_L. Plain and orthogonal ones are the deep cells of `certify`.
"""

import torch
from torch import Tensor

VARIANTS = ("plain", "orthogonal", "normalised", "gated")
OPEN = 4.0  # how far gates let the state pass at first: σ(4) = .98


class DeepTransition(torch.nn.Module):
    """x (N, T, d) -> what is read off the last state, (N, p)."""

    def __init__(
        self, variant: str, inputs: int, units: int, outputs: int, depth: int, seed: int
    ) -> None:
        super().__init__()
        self.variant, self.units, self.depth = variant, units, depth
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.feed = torch.nn.Linear(inputs, units, bias=False)
            self.layers = torch.nn.ModuleList(torch.nn.Linear(units, units) for _ in range(depth))
            self.gates = torch.nn.ModuleList(
                torch.nn.Linear(units, units) for _ in range(depth if variant == "gated" else 0)
            )
            self.norms = torch.nn.ModuleList(
                torch.nn.LayerNorm(units) for _ in range(depth if variant == "normalised" else 0)
            )
            self.readout = torch.nn.Linear(units, outputs)
            for layer in self.layers if variant == "orthogonal" else ():
                torch.nn.init.orthogonal_(layer.get_parameter("weight"))
        for gate in self.gates:
            torch.nn.init.constant_(gate.get_parameter("bias"), OPEN)

    def step(self, h: Tensor, drive: Tensor) -> Tensor:
        """One transition from h (…, n), drive = U x."""
        u = h
        for l, layer in enumerate(self.layers):
            z = layer(u) + drive if l == 0 else layer(u)
            z = torch.tanh(self.norms[l](z) if self.norms else z)
            if self.gates:
                g = torch.sigmoid(self.gates[l](u))
                z = g * u + (1 - g) * z
            u = z
        return u

    def last_state(self, x: Tensor, h: Tensor) -> Tensor:
        """h_T from h_0 = h (N, n)."""
        for drive in self.feed(x).unbind(1):
            h = self.step(h, drive)
        return h

    def forward(self, x: Tensor) -> Tensor:
        """Map inputs x (N, T, d) to the readout of the last state, (N, p)."""
        outputs: Tensor = self.readout(self.last_state(x, x.new_zeros(len(x), self.units)))
        return outputs

    def gradient_norms(self, x: Tensor) -> Tensor:
        """‖∂h_T/∂h_0‖₂ of each sequence, (N,)."""
        zero = x.new_zeros(len(x), self.units)
        run = torch.func.jacrev(lambda h, sequence: self.last_state(sequence[None], h[None])[0])
        sizes: Tensor = torch.linalg.matrix_norm(torch.vmap(run)(zero, x), 2)
        return sizes.detach()

    def norm_power(self, length: int) -> float:
        """Π_l ‖W_l‖₂^T, what is said of a gradient over T steps of L layers: ‖A‖^{LT}."""
        norms = [
            torch.linalg.matrix_norm(layer.get_parameter("weight").detach(), 2)
            for layer in self.layers
        ]
        return float(torch.stack(norms).double().prod()) ** length
