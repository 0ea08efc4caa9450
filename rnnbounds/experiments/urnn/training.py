"""Students of the teachers, and the teachers' exact unitary equivalents."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from impl.convert.unitary import unitary
from impl.numbers.outward import norm_up
from rnnbounds.experiments.engine.common import chance
from rnnbounds.experiments.students import Kind, Students, draw, each
from rnnbounds.experiments.urnn.record import Equivalent
from rnnbounds.experiments.urnn.teacher import Setting, Task

FAR = 0.5  # an R² so far below the best one means that training has exploded
_STUDENTS, _ORDER = 2, 3  # keys of what is drawn


def train(
    kind: Kind,
    snr: float,
    block: range,
    task: Task,
    setting: Setting,
    *,
    seed: int,
    device: str,
    advance: Callable[[], None],
) -> Tensor:
    """R² on the test and on the validation sequences, (2, realisations of the block, sizes).

    Students of all sizes for all these realisations are trained at once, on the mean squared error
    of standardised outputs. The weights that do best on the validation sequences are kept, and a
    network that has exploded goes back to them.
    """
    sizes = setting.hidden * len(block)
    x, y = data(task, setting, snr, block, device)
    by = [chance(seed, _STUDENTS, r, n) for r in block for n in setting.hidden]
    first = draw(kind, sizes, setting.inputs, setting.outputs, by)
    students = Students(kind, sizes, {name: part.to(device) for name, part in first.items()})
    best, kept = score(students, x, y, setting.checking), students.copy()
    for epoch in range(setting.epochs):
        rate = setting.rate * (1 + math.cos(math.pi * epoch / setting.epochs)) / 2
        order = torch.randperm(setting.training.stop, generator=chance(seed, _ORDER, epoch))
        for chosen in torch.split(order.to(device), setting.batch):
            error = forecasts(students, x[:, :, chosen]) - along(y[:, :, chosen], students)
            students.step(error.square().mean((0, 2, 3)), rate)
        now = score(students, x, y, setting.checking)
        better, kept_now = now > best, students.copy()
        kept = {
            name: torch.where(each(better, part), kept_now[name], part)
            for name, part in kept.items()
        }
        best = torch.where(better, now, best)
        students.take(now < best - FAR, kept)
        advance()
    students.take(torch.ones_like(best, dtype=torch.bool), kept)
    scores = torch.stack([score(students, x, y, setting.testing), best])
    return scores.reshape(2, len(block), -1).double().cpu()


def data(
    task: Task, setting: Setting, snr: float, block: range, device: str
) -> tuple[Tensor, Tensor]:
    """Inputs and standardised noisy outputs in float32, (T, R, N, d) and (T, R, N, p).

    Mean and unit are of the training sequences, the unit the same for all outputs of a teacher.
    """
    y = task.noisy(snr)[block.start : block.stop]
    seen = y[:, setting.training]
    mean = seen.mean((1, 2), keepdim=True)
    unit = seen.var((1, 2), correction=0).mean(1).sqrt()[:, None, None, None]
    parts = task.x[block.start : block.stop], (y - mean) / unit
    x, y = (part.permute(2, 0, 1, 3).float().to(device) for part in parts)
    return x, y


def along(values: Tensor, students: Students) -> Tensor:
    """The data of each realisation for each of its students: (T, R, …) -> (T, G, …)."""
    return values.repeat_interleave(len(students.weights["C"]) // values.shape[1], 1)


def forecasts(students: Students, x: Tensor) -> Tensor:
    """What the students say: x (T, R, N, d) -> (T, G, N, p)."""
    return students.readout(students.states(along(x, students)))


@torch.no_grad()
def score(students: Students, x: Tensor, y: Tensor, part: slice) -> Tensor:
    """R² = 1 − Σ(y − ŷ)²/Σ(y − mean)² over all outputs, (G,); −∞ where it is not finite."""
    error = forecasts(students, x[:, :, part]) - along(y[:, :, part], students)
    variance = along(y[:, :, part], students).var((0, 2), correction=0).mean(-1)
    found = 1 - error.square().mean((0, 2, 3)) / variance
    return torch.where(found.isfinite(), found, -math.inf)


def equivalent(task: Task, r: int, setting: Setting) -> Equivalent:
    """One teacher's exact URNN for all inputs as large as those drawn, on the test sequences."""
    cell, n = task.cell, setting.states
    weights = {
        "weight_hh_l0": cell.W[r], "weight_ih_l0": cell.U[r], "bias_ih_l0": cell.b[r],
        "bias_hh_l0": torch.zeros_like(cell.b[r]),
    }  # fmt: skip
    bound = float(norm_up(task.x[r]).max())
    made = unitary(weights, bound, cell="rnn-relu")
    x, h = task.x[r, setting.testing], task.states[r, setting.testing]
    with torch.no_grad(), torch.random.fork_rng(devices=[]):  # a new module draws its weights
        s = made.rnn(batch_first=True)(x)[0]
    known = made.certificate["difference"]["float64"]
    y = torch.einsum("stn,pn->stp", made.original(s), task.C[r])
    told = [task.noisy(snr)[r, setting.testing] for snr in setting.snr]
    return Equivalent(
        norm=made.certificate["constants"]["W_norm"],
        on=tuple(task.on[r].tolist()),
        input_bound=bound,
        states=made.states,
        gap=float(norm_up(h - s[..., :n]).max()),
        bound=known,
        off=bool((s[..., n:] == 0).all()),
        teacher=tuple(r2(noisy, task.y[r, setting.testing]) for noisy in told),
        urnn=tuple(r2(noisy, y) for noisy in told),
    )


def r2(y: Tensor, forecast: Tensor) -> float:
    """R² over all outputs, y (N, T, p)."""
    variance = y.var((0, 1), correction=0).mean()
    return float(1 - (y - forecast).square().mean() / variance)
