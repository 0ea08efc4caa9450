"""Unitary recurrent networks: real orthogonal and complex unitary transitions, made for training.

Source: Emami et al., section 2; Lezcano-Casado & Martínez-Rubio (2019) for the parametrisation.
"""

import math
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import linear
from torch.nn.utils.parametrizations import orthogonal
from torch.nn.utils.parametrize import is_parametrized

from rnnbounds.impl.errors import NotFiniteError, RangeError, ShapeError, UnknownNameError

Keep = Literal["parametrised", "projected"]


class URNN(torch.nn.Module):
    """h_t = ReLU(V h_{t−1} + U x_t + b) with V orthogonal, or unitary where ``complex``.

    In the complex case U, b and the states are complex and ReLU acts on real and imaginary parts by
    themselves, ρ(z) = max(Re z, 0) + i max(Im z, 0), which is non-expansive too.

    How V stays unitary: "parametrised" makes it the image of a free matrix under torch's orthogonal
    parametrisation, so that any optimiser may move it; "projected" leaves it a plain parameter that
    `project` returns to its polar factor, to be called after every step of an optimiser.

    Shapes: x (N, T, d) -> states (N, T, m); ``initial`` (N, m) or (m,), zero by default. The names
    are torch's, so that the real `weights()` load into a `torch.nn.RNN` with nonlinearity "relu".
    Raises RangeError (sizes below 1), UnknownNameError, ShapeError.
    """

    weight_hh_l0: Tensor
    weight_ih_l0: Tensor
    bias_ih_l0: Tensor
    bias_hh_l0: Tensor

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        complex: bool = False,
        keep: Keep = "parametrised",
        dtype: torch.dtype = torch.float64,
    ) -> None:
        super().__init__()
        for name, size in (("the input size", input_size), ("the state size", hidden_size)):
            if size < 1:
                raise RangeError(name, size, "at least 1")
        if keep not in ("parametrised", "projected"):
            raise UnknownNameError("way to keep V unitary", keep, ["parametrised", "projected"])
        kind = dtype.to_complex() if complex else dtype
        m, scale = hidden_size, 1 / math.sqrt(hidden_size)
        draws = {
            "weight_hh_l0": torch.randn(m, m, dtype=kind),
            "weight_ih_l0": torch.randn(m, input_size, dtype=kind) * scale,
            "bias_ih_l0": torch.zeros(m, dtype=kind),
            "bias_hh_l0": torch.zeros(m, dtype=kind),
        }
        draws["weight_hh_l0"] = polar(draws["weight_hh_l0"])
        for name, value in draws.items():
            self.register_parameter(name, torch.nn.Parameter(value))
        if keep == "parametrised":
            orthogonal(self, "weight_hh_l0", orthogonal_map="cayley")
            self.set_transition(draws["weight_hh_l0"])

    def forward(self, x: Tensor, initial: Tensor | None = None) -> Tensor:
        """All states of the sequences x (N, T, d) -> (N, T, m)."""
        V, U = self.weight_hh_l0, self.weight_ih_l0
        m, d = U.shape
        if x.ndim != 3 or x.shape[2] != d:
            raise ShapeError("x", f"(N, T, {d})", x)
        drives = linear(x.to(U.dtype), U, self.bias_ih_l0 + self.bias_hh_l0)
        h = drives.new_zeros(m) if initial is None else initial.to(U.dtype)
        if h.shape not in ((m,), (len(x), m)):
            raise ShapeError("the initial state", f"({len(x)}, {m}) or ({m},)", h)
        h, path = h.expand(len(x), m), []
        for drive in drives.unbind(1):
            h = relu(h @ V.mT + drive)
            path.append(h)
        return torch.stack(path, 1) if path else drives

    @torch.no_grad()
    def set_transition(self, V: Tensor) -> None:
        """Make V (m, m) the transition, or its polar factor where it is parametrised."""
        m = len(self.bias_hh_l0)
        if V.shape != (m, m):
            raise ShapeError("V", f"({m}, {m})", V)
        if is_parametrized(self, "weight_hh_l0"):
            self.weight_hh_l0 = polar(V.to(self.bias_hh_l0.dtype))
        else:
            self.weight_hh_l0.copy_(V)

    @torch.no_grad()
    def project(self) -> None:
        """Replace V by its polar factor, the nearest unitary matrix."""
        self.set_transition(polar(self.weight_hh_l0))

    @torch.no_grad()
    def weights(self) -> dict[str, Tensor]:
        """The four weights under torch's names, as they are used."""
        names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
        return {name: getattr(self, name).detach().clone() for name in names}


def relu(z: Tensor) -> Tensor:
    """max(z, 0), of real and imaginary parts by themselves."""
    return torch.complex(torch.relu(z.real), torch.relu(z.imag)) if z.is_complex() else z.relu()


def polar(A: Tensor) -> Tensor:
    """PQ* of A = PΣQ*: the Frobenius-nearest orthogonal or unitary matrix, A (…, n, n).

    Raises NotFiniteError. Source: Fan & Hoffman (1955).
    """
    if not bool(torch.isfinite(A).all()):
        raise NotFiniteError("A")
    P, _, Qh = torch.linalg.svd(A)
    factor: Tensor = P @ Qh
    return factor
