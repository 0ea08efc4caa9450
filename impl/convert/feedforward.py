"""The feed-forward form of a truncated recurrent model: k layers that share their weights.

Source: Miller & Hardt, section 3.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import Activation
from rnnbounds.impl.arithmetic.activation import activation as named
from rnnbounds.impl.cells.kind import Kind
from rnnbounds.impl.cells.table import CELLS, kind_of
from rnnbounds.impl.cells.vanilla import vanilla_kind
from rnnbounds.impl.convert.fused.outputs import fused_form, fused_outputs
from rnnbounds.impl.convert.inference import chunks, last_output, outputs
from rnnbounds.impl.errors import InputError, RangeError, ShapeError, shown


class FeedForward(torch.nn.Module):
    """All truncated states h_1^k, …, h_T^k of an input sequence, in k layers instead of T steps.

    Layer j computes S_t^j = φ(S_{t−1}^{j−1}, x_t) for all t at once, where S^0 = 0 and S_t^j = 0
    for t ≤ 0; then S_t^k = s_t^k, the state that the cell reaches from *the zero state* on the last
    min(k, t) inputs, and its last n entries are the output h_t^k. (Padding the inputs with zeros
    instead would be a different model as soon as φ(0, 0) ≠ 0.) It depends on exactly the last k
    inputs.

    `weights` are those of the `cell`, one of `impl.cells.table.CELLS`, by the names of its layout
    (or of the vanilla one with that `activation`): for an RNN, an LSTM or a GRU of g gates
    weight_ih (g n, d), weight_hh (g n, n) and, optionally, bias_ih and bias_hh (g n,). The module
    maps x (N, T, d) -> (N, T, n); with `latest` it reads the last k inputs alone and gives h_T^k
    (N, n), in k steps of N rows. The parameters carry torch's names, so that the state dict loads
    into torch's own module. `readout` is the matrix C (p, n) if its certificate is about values
    C h; the outputs are h all the same, as a model may do more with h than its head says. `basis`
    says in words what k rests on where it is not certified for all inputs. Work: k·T − k(k−1)/2
    cells a sequence, in k sequential steps. Raises ShapeError, RangeError (k < 0),
    UnknownNameError.
    """

    def __init__(
        self,
        weights: Mapping[str, Tensor],
        *,
        activation: str | None = None,
        cell: str | None = None,
        k: int,
        readout: Tensor | None = None,
        latest: bool = False,
        basis: str = "",
    ) -> None:
        super().__init__()
        kind = _chosen(activation, cell)
        layout = kind.layout(weights)
        for name in layout.required:
            if name not in weights:
                raise InputError(f"a {kind.name} has a weight {name}; hand it over")
        if further := sorted(weights.keys() - layout.shapes.keys()):
            raise InputError(f"a {kind.name} has no weight {shown(further[0])}; leave it out")
        self.sizes = layout.sizes(weights)
        if readout is not None and readout.shape[1:] != (self.sizes.n,):
            raise ShapeError("the readout's weight", f"(p, {self.sizes.n})", readout)
        if k < 0:
            raise RangeError("k", k, "at least 0")
        self.k = k
        self.cell = kind.name
        self.readout = readout
        self.latest = latest
        self.basis = basis
        self._roles = {name: name + kind.suffix for name in layout.shapes}
        for name, stored in self._roles.items():
            part = weights.get(name)
            parameter = None if part is None else torch.nn.Parameter(part.detach().clone())
            self.register_parameter(stored, parameter)

    @property
    def weights(self) -> dict[str, Tensor]:
        """The parameters by the names of the cell's layout, without those that it lacks."""
        held = {name: getattr(self, stored) for name, stored in self._roles.items()}
        return {name: part for name, part in held.items() if part is not None}

    @property
    def activation(self) -> str:
        """The activation of a vanilla cell."""
        return "identity" if self.cell == "linear" else self.cell.removeprefix("rnn-")

    def forward(self, x: Tensor) -> Tensor:
        """The outputs h_t^k: (N, T, d) -> (N, T, n), or the last alone, (N, n)."""
        kind, weights = self._checked(x)
        if self.latest:
            return last_output(kind, weights, x, self.k)
        drive = kind.drive(weights, x)
        s = drive.new_zeros(*x.shape[:2], self.sizes.state)
        if self.k:
            s = kind.step(weights, drive, s)
        done = []  # s_1, …, s_j, which have seen all their inputs
        for j in range(1, min(self.k, x.shape[1])):
            done.append(s[:, :1].clone())  # a view would hold all of s
            s = kind.step(weights, drive[:, j:], s[:, :-1])
        return torch.cat([*done, s], dim=1)[..., -self.sizes.n :]

    def infer(self, x: Tensor) -> Tensor:
        """Outputs from the zero state on *at least* the last min(k, t) inputs, which the
        certificate's ε and rounding bound as they bound those of ``forward``, at about the work of
        the recurrent loop instead of k times as much: (N, T, d) -> (N, T, n). Of a k that is
        known of recorded inputs alone they are those of ``forward``: nothing is known of a
        longer window.

        How the sequences are cut is chosen by size: `impl.convert.inference`. On a CUDA device with
        Triton an RNN, an LSTM, a GRU or a stack of them in float32 or float16 runs in fused
        kernels, `impl.convert.fused`. No gradients: these refuse inputs that ask for them
        (InputError).
        """
        kind, weights = self._checked(x)
        if not self.basis and (form := fused_form(kind, weights, x, self.k)):
            weights = {name: part.detach() for name, part in weights.items()}
            return fused_outputs(kind, weights, x, self.k, form, self.latest)
        with torch.no_grad():
            if self.latest or self.basis or not self.k or not x.numel():
                return self.forward(x)
            M = chunks(kind, self.sizes.n, x, self.k)
            return outputs(kind, weights, x, self.k, M, self._vanilla)

    def _checked(self, x: Tensor) -> tuple[Kind, dict[str, Tensor]]:
        if x.ndim != 3 or x.shape[2] != self.sizes.d:
            raise ShapeError("x", f"(N, T, {self.sizes.d})", x)
        return _kind(self.cell), self.weights

    @property
    def _vanilla(self) -> Activation | None:
        """The activation of a vanilla cell, None for all others."""
        vanilla_kind = self.cell == "linear" or self.cell.startswith("rnn-")
        return named(self.activation) if vanilla_kind else None

    def extra_repr(self) -> str:
        """The sizes, the window and the cell, for `print(module)`."""
        what = f"activation={self.activation!r}" if self._vanilla else f"cell={self.cell!r}"
        alone = ", latest=True" if self.latest else ""
        basis = f", {self.basis}" if self.basis else ""
        return f"{self.sizes.d}, {self.sizes.n}, k={self.k}, {what}{alone}{basis}"


def _chosen(activation: str | None, cell: str | None) -> Kind:
    if (activation is None) == (cell is None):
        raise InputError("a feed-forward form has a cell or an activation; give one of them")
    if activation is None:
        return kind_of(str(cell))
    rho = named(activation).name
    return _kind("linear" if rho == "identity" else f"rnn-{rho}")


def _kind(cell: str) -> Kind:
    """The kind of a cell, that of a vanilla one with an activation that is not listed too."""
    if cell in CELLS or not cell.startswith("rnn-"):
        return kind_of(cell)
    return vanilla_kind(cell, named(cell.removeprefix("rnn-")))
