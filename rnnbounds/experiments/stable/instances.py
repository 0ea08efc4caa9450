"""Random instances of training on one sequence, as in Miller & Hardt's Figure 1."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from rnnbounds.experiments.engine.record import Setting
from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.gradients.loss import Loss, loss
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.impl.training.descent import Omega

TRAINED = "WU"
INSIDE = 1 - 2.0**-40  # so that rounding cannot put the rescaled matrix outside of its ball
ROOM = 2.0  # U may grow to so many times its first norm


class Sizes(Setting, frozen=True, kw_only=True):
    """`seeds` instances, and their sizes; see `draw`.

    n `states`, d `inputs`, p `outputs`, T = `length`; the W-ball's radius λ = `lam`; N = `steps` of
    descent, of size 1/t or all of size `constant`; the `windows` k < T that are compared.
    """

    seeds: int = 10
    states: int = 16
    inputs: int = 8
    outputs: int = 4
    length: int = 80
    lam: float = 0.75
    steps: int = 60
    constant: float = 0.3
    windows: tuple[int, ...] = (1, 2, 3, 5, 8, 12, 16, 20, 25, 30, 40, 50)


@dataclass(frozen=True, eq=False)
class Instances:
    """B cells, each with a sequence x (B, T, d, 1), a loss ½‖C h_T − y‖² and a set Ω of weights."""

    cell: RNN
    x: Tensor
    C: Tensor
    y: Tensor
    omega: Omega
    loss: Loss = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", loss("squared", self.C, self.y))

    @property
    def B_x(self) -> Tensor:
        """max_t ‖x_t‖₂ of what was drawn, rounded up, (B,)."""
        return norm_up(self.x[..., 0]).amax(1)

    def repeat(self, times: int) -> "Instances":
        """Each instance so many times, one copy after the other."""
        return self._each(lambda part: part.repeat_interleave(times, dim=0))

    def select(self, chosen: slice) -> "Instances":
        """Some of them."""
        return self._each(lambda part: part[chosen])

    def _each(self, change: Callable[[Tensor], Tensor]) -> "Instances":
        cell, omega = self.cell, self.omega
        return Instances(
            RNN(change(cell.W), change(cell.U), change(cell.b), cell.activation),
            change(self.x),
            change(self.C),
            change(self.y),
            Omega(change(omega.W), change(omega.U), change(omega.b)),
        )


def draw_instances(setting: Sizes) -> Instances:
    """tanh cells without biases, all entries Gaussian; the first ones are the same for any number.

    W ~ N(0, 1/n) rescaled to ‖W‖₂ = λ, U ~ N(0, 1/d), x_t ~ N(0, I), C ~ N(0, 1/n), y ~ N(0, I);
    Ω = {‖W‖₂ ≤ λ} × {‖U‖_F ≤ twice that of the U drawn}.
    """
    n, d, p, T = setting.states, setting.inputs, setting.outputs, setting.length
    shapes = ((n, n), (n, d), (T, d, 1), (p, n), (p,))
    generator = torch.Generator().manual_seed(0)
    samples = [
        [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]
        for _ in range(setting.seed + setting.seeds)
    ][setting.seed :]
    W, U, x, C, y = (torch.stack(tensors) for tensors in zip(*samples, strict=True))
    W = W * (setting.lam * INSIDE / torch.linalg.matrix_norm(W, 2))[:, None, None]
    U, b = U / d**0.5, W.new_zeros(setting.seeds, n)
    omega = Omega(b.new_full((len(b),), setting.lam), ROOM * norm_up(U.flatten(1)), b[:, 0])
    return Instances(RNN(W, U, b, activation("tanh")), x, C / n**0.5, y, omega)
