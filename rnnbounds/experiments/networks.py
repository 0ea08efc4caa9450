"""Networks of the experiments: RNN and LSTM on text, kept stable and not, and small students."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from rnnbounds.experiments import engine
from rnnbounds.experiments.trainer import TextTask, falling_rates, load_texts
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.certificate.stable_module import stable_
from rnnbounds.impl.convert.dilation import polar
from rnnbounds.impl.numbers.outward import mul_up

KINDS = ("RNN", "URNN")
LAMBDA = 0.95  # by which a step of stable networks contracts
VECTORS = 32  # the length of the vectors of symbols
BROKEN = "certified bounds broken"
WAYS = ("stable", "free")
LENGTH = 128  # of the held-out windows that are looked at
RULE = "It does not hold if none does so; otherwise it is undecided."


class Network(torch.nn.Module):
    """Vectors of symbols -> core (N, T, d) -> (N, T, n) -> readout (N, T, p), float32.

    `shorten` keeps the vectors below ‖e‖₂ = 1, which bounds what the core reads. First weights are
    those of the seed.
    """

    stable = False

    def __init__(
        self, task: TextTask, core: Callable[[int], torch.nn.Module], units: int, seed: int
    ) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.embed = torch.nn.Embedding(task.symbols, VECTORS)
            torch.nn.init.normal_(self.embed.weight, std=1 / math.sqrt(VECTORS))
            self.core = core(VECTORS)
            self.readout = torch.nn.Linear(units, task.symbols)
        self.shorten()

    def forward(self, ids: Tensor) -> Tensor:
        """The whole sequence at once."""
        path = self.core(self.embed(ids))
        outputs: Tensor = self.readout(path[0] if isinstance(path, tuple) else path)
        return outputs

    @torch.no_grad()
    def shorten(self) -> None:
        """Vectors of symbols to ‖e‖₂ < 1, whatever rounding does."""
        size = torch.linalg.vector_norm(self.embed.weight, dim=1, keepdim=True)
        self.embed.weight.div_(size.clamp(min=1.0) * (1 + 2**-16))

    def project(self) -> None:
        """The move after a training step: vectors are shortened, and the core of a stable network
        goes to where a step contracts by at most LAMBDA (`stable_`)."""
        self.shorten()
        if self.stable:
            stable_(self.core, LAMBDA, inputs=1.0)

    @property
    def size(self) -> int:
        """How many parameters."""
        return sum(part.numel() for part in self.parameters())


def recurrent_network(
    cell: str, task: TextTask, states: int, seed: int, stable: bool = False
) -> Network:
    """A recurrent layer of torch's as the core."""
    make: Any = getattr(torch.nn, cell)
    network = Network(task, lambda d: make(d, states, batch_first=True), states, seed)
    network.stable = stable
    return network


class Student(torch.nn.Module):
    """A small network with a linear readout from the zero state: x (N, T, d) -> ŷ (N, T, p).

    RNN: h_t = ReLU(W h_{t−1} + U x_t + b), ŷ_t = C h_t + c. URNN: the same, W replaced by its polar
    factor after every step, so that it is orthogonal. W starts as I (Le, Jaitly & Hinton, 2015), or
    as `start` makes it. An RNN and a URNN of one seed start alike. Source: Emami et al.
    """

    def __init__(
        self, kind: str, sizes: tuple[int, int, int], seed: int,
        start: Callable[[Tensor], Tensor] = torch.nn.init.eye_,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kind, (inputs, units, outputs) = kind, sizes
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.core = torch.nn.RNN(inputs, units, nonlinearity="relu", batch_first=True)
            self.readout = torch.nn.Linear(units, outputs)
            self.W = self.core.get_parameter("weight_hh_l0")
            start(self.W)
        self.U = self.core.get_parameter("weight_ih_l0")

    def states(self, x: Tensor) -> Tensor:
        """All states (N, T, n)."""
        path: Tensor = self.core(x)[0]
        return path

    def forward(self, x: Tensor) -> Tensor:
        """The forecasts."""
        outputs: Tensor = self.readout(self.states(x))
        return outputs

    @torch.no_grad()
    def project(self) -> None:
        """Make W of a URNN orthogonal again."""
        if self.kind == "URNN":
            self.W.copy_(polar(self.W))


def train_network(job: engine.Job) -> tuple[Network, TextTask, Certificate]:
    """The trained network of a unit in float64 on the CPU, its task, and the core's certificate."""
    unit, s, task = job.unit, job.setting, job.data[job.unit.task]
    model = recurrent_network(unit.model, task, s.states, unit.seed, unit.variant == "stable")
    job.train(model, task, falling_rates(s.steps), project=Network.project)
    model = model.cpu().double()
    return model, task, certify(model.core, inputs=1.0, eps=(engine.EPSILON,))


@torch.no_grad()
def held_out_windows(model: Network, task: TextTask, length: int) -> tuple[Tensor, Tensor]:
    """Held-out sequences cut into windows: inputs (M, length, d), targets (M, length)."""
    x, y = (part[:, : part.shape[1] // length * length].reshape(-1, length)
            for part in task.parts["held out"])  # fmt: skip
    return model.embed(x), y


def powers_up(first: Tensor, lam: float, most: int) -> list[float]:
    """first · λ^i for i = 0, …, most, rounded up."""
    bounds = [float(first)]
    for _ in range(most):
        bounds.append(float(mul_up(bounds[-1], lam)))
    return bounds


def count_broken(values: Sequence[float], bounds: Sequence[float], error: float | None) -> int:
    """How many values, less their rounding error, exceed their bound or are NaN; none if the error
    is unknown."""
    if error is None:
        return 0
    pairs = zip(values, bounds, strict=True)
    return sum(not value * (1 - 2.0**-40) - error <= bound for value, bound in pairs)


def judge_limit(runs: Sequence[engine.Run], name: str, limit: float, words: str) -> engine.Outcome:
    """By RULE, whether a figure of runs is at most so much, in words; certified bounds that fell
    are problems."""
    missed = [run for run in runs if (value := run.figures[name]) is None or value > limit]
    some: engine.Holds = "undecided" if len(missed) < len(runs) else "does not hold"
    summary = (
        f"{len(runs) - len(missed)} of {len(runs)} networks {words}; the greatest {name}: "
        f"{engine.worst_text(runs, name)}."
    )
    problems = (
        f"{run.task}, {run.model}, {run.variant}, seed {run.seed}: {count:g} bounds are broken"
        for run in runs
        if (count := run.figures.get(BROKEN))
    )
    return engine.Outcome(some if missed else "holds", summary, tuple(problems))


make_experiment = partial(
    engine.Experiment,
    setting=engine.make_setting(
        tasks=("characters", "words"), cells=("RNN", "LSTM"), states=48, steps=600
    ),
    load=lambda s: load_texts(s.tasks),
    units=lambda s: engine.all_units(s, s.tasks, s.cells, WAYS),
)
"""An `Experiment` on these networks but for its texts, `work` and `judge`."""
