"""``rnnbounds experiment certifiable``: what it costs to have a memory that is certified.

An LSTM, a GRU and a tanh RNN learn to forecast, each freely, with a penalty on the estimated factor
and with a projection after each step, from the same starts; all are certified as they are.
"""

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import torch
from torch import Tensor

from impl.certificate.certify import certify
from impl.certificate.contraction import contraction
from impl.certificate.stable_module import stable_
from rnnbounds.experiments.certifiable.page import page
from rnnbounds.experiments.certifiable.record import Certifiable, Network, Setting, problems
from rnnbounds.experiments.certifiable.tasks import TASKS, Task
from rnnbounds.experiments.common import chance, environment_of, prepare, publish

EPOCHS, STARTS = Setting.steps, Setting.starts
CELLS = {"LSTM": torch.nn.LSTM, "GRU": torch.nn.GRU, "RNN": torch.nn.RNN}
TRAININGS = ("free", "penalised", "projected")
CLIP, EVERY = 1.0, 10  # the gradient's norm; steps between two looks at the validation data
BEGIN = 0.25  # of torch's first recurrent weights, for those that are to be certified


class Model(torch.nn.Module):
    """A recurrent layer and a linear readout: x (N, T, d) -> (N, T, p), in float32."""

    def __init__(self, cell: str, task: Task, states: int) -> None:
        super().__init__()
        self.rnn = CELLS[cell](task.inputs, states, batch_first=True)
        self.readout = torch.nn.Linear(states, task.outputs)

    def forward(self, x: Tensor) -> Tensor:
        """The forecasts."""
        told: Tensor = self.readout(self.rnn(x)[0])
        return told


def run(
    out: Path,
    *,
    seed: int = 0,
    epochs: int = EPOCHS,
    instances: int = STARTS,
    states: int = Setting.states,
    cells: Sequence[str] = tuple(CELLS),
    advance: Callable[[str], None] = lambda label: None,
) -> Certifiable:
    """Train and certify all networks; write certifiable.json and index.html to `out`.

    `advance` is called once a network. Raises MissingPackageError without statsmodels, and
    WriteError for a bad place, both before anything is trained.
    """
    started = datetime.now(UTC)
    torch.set_num_threads(1)
    setting = Setting(states=states, steps=epochs, starts=instances)
    tasks = [make() for make in TASKS]
    prepare(out)
    networks = []
    for task in tasks:
        for cell in cells:
            for training in TRAININGS:
                for start in range(instances):
                    networks.append(network(task, cell, training, setting, seed + start))
                    advance(f"{task.name}, {training} {cell}")
    record = Certifiable(
        seed=seed,
        setting=setting,
        bounds={task.name: task.bound for task in tasks},
        units={task.name: task.unit for task in tasks},
        networks=tuple(networks),
        environment=environment_of(started, "statsmodels"),
    )
    record = replace(record, problems=problems(record))
    publish(out, "certifiable", record, page(record))
    return record


def work(epochs: int, instances: int) -> int:
    """How often a run advances."""
    return len(TASKS) * len(CELLS) * len(TRAININGS) * instances


def network(task: Task, cell: str, training: str, setting: Setting, start: int) -> Network:
    """One network, trained and certified."""
    model = train(task, cell, training, setting, start)
    certificate = certify(model.rnn, task.bound, (setting.epsilon,))
    lam = certificate.lam if math.isfinite(certificate.lam) else None
    return Network(
        task=task.name, cell=cell, training=training, start=start,
        loss=task.error(seen(model, task, "held out")), verdict=certificate.verdict,
        norm=certificate.norm, lam=lam, k=certificate.window(setting.epsilon),
    )  # fmt: skip


def train(task: Task, cell: str, training: str, setting: Setting, start: int) -> Model:
    """The network as it was when it did best on the validation data; of those that are to be
    certified among those whose estimated factor was at most halfway from λ to 1."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(start)
        model = Model(cell, task, setting.states)
    if training != "free":
        with torch.no_grad():
            model.rnn.weight_hh_l0.mul_(BEGIN)
    best, least = copy.deepcopy(model), math.inf
    optimiser = torch.optim.Adam(model.parameters(), lr=setting.rate)
    drawn = chance(start)
    for step in range(1, setting.steps + 1):
        optimiser.param_groups[0]["lr"] = setting.rate * (1 - 0.9 * step / setting.steps)
        x, y = task.batch(drawn)
        optimiser.zero_grad()
        loss = task.loss(model(x), y)
        if training == "penalised":
            excess = torch.relu(contraction(model.rnn, task.bound) - setting.lam)
            loss = loss + setting.weight * excess
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimiser.step()
        if training == "projected":
            stable_(model.rnn, setting.lam, task.bound)
        if step % EVERY == 0 or step == setting.steps:
            now = seen(model, task, "validation")
            if now < least and (training != "penalised" or small(model, task, setting)):
                best, least = copy.deepcopy(model), now
    return best


def small(model: Model, task: Task, setting: Setting) -> bool:
    """Whether the estimated factor is at most halfway from λ to 1."""
    with torch.no_grad():
        return bool(contraction(model.rnn, task.bound) <= (1 + setting.lam) / 2)


def seen(model: Model, task: Task, part: str) -> float:
    """The loss over a part of the data."""
    x, y, times = task.whole(part)
    with torch.no_grad():
        return float(task.loss(model(x)[:, times], y[:, times]))
