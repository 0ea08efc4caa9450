"""``rnnbounds experiment permuted-digits``: images pixel by pixel, in a random order.

RNN, URNN and LSTM read the pixels one by one in an order that is the same for all images and then
name the digit, so that all depends on long memory. Source: Emami et al., experiments.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from rnnbounds.experiments.digits.page import page
from rnnbounds.experiments.digits.pixels import Pixels, load
from rnnbounds.experiments.digits.record import Digits, Learned, Setting, problems
from rnnbounds.experiments.digits.setting import setting_of
from rnnbounds.experiments.engine.common import (
    chance,
    choose_device,
    environment_of,
    prepare,
    publish,
)
from rnnbounds.experiments.engine.parts import Parts, depends
from rnnbounds.experiments.students import KINDS, Kind, Students, draw

CLASSES = 10
TOGETHER = 500  # images that are tested at once
_STUDENTS, _ORDER = 3, 4  # keys of what is drawn


def work(
    data: str = "digits", full: bool = False, epochs: int | None = None, device: str = "auto"
) -> int:
    """How often a run with these options advances."""
    return len(KINDS) * setting_of(data, full, epochs).epochs


def run(
    out: Path,
    *,
    seed: int = 0,
    data: str = "digits",
    full: bool = False,
    epochs: int | None = None,
    device: str = "auto",
    setting: Setting | None = None,
    advance: Callable[[str], None] = lambda label: None,
) -> Digits:
    """Train and test; write permuted-digits.json and index.html to `out`.

    The networks' state is stored in OUT/parts every few epochs, and a run with the same settings
    goes on from there to the same record; `advance` is called `work` times. Raises what `load` and
    `Parts.load` raise, WriteError for a bad place, and InputError for a missing device.
    """
    started = datetime.now(UTC)
    torch.set_num_threads(1)
    setting = setting or setting_of(data, full, epochs)
    device = choose_device(device)
    pixels = load(data, seed, setting.images)
    digest = pixels.digest
    parts = Parts(out, depends("permuted-digits", [seed, setting], device, {"data": digest}))
    prepare(parts.folder)
    trainings = [Training(kind, pixels, setting, seed, device, parts) for kind in KINDS]
    for training in trainings:
        training.finish(partial(advance, training.kind))
    counts = torch.bincount(pixels.digits_test, minlength=CLASSES)
    record = Digits(
        seed=seed,
        setting=setting,
        source=pixels.source,
        digest=digest,
        pixels=len(pixels.x),
        training=len(pixels.digits),
        testing=len(pixels.digits_test),
        chance=float(counts.max()) / len(pixels.digits_test),
        learned=tuple(training.learned for training in trainings),
        environment=environment_of(started, "safetensors", "scikit-learn", device=device),
    )
    record = replace(record, problems=problems(record))
    publish(out, "permuted-digits", record, page(record))
    parts.clear()
    return record


class Training:
    """The networks of one kind, as far as they are trained; taken up from a stored part."""

    def __init__(
        self, kind: Kind, pixels: Pixels, setting: Setting, seed: int, device: str, parts: Parts
    ) -> None:
        self.kind, self.setting, self.seed, self.parts = kind, setting, seed, parts
        self.device = device
        self.x, self.digits = pixels.x.to(device), pixels.digits.to(device)
        self.x_test, self.digits_test = pixels.x_test.to(device), pixels.digits_test.to(device)
        sizes = (setting.hidden,) * setting.networks
        by = [chance(seed, _STUDENTS, network) for network in range(setting.networks)]
        first = draw(kind, sizes, 1, CLASSES, by, start="random")
        self.students = Students(kind, sizes, {key: v.to(device) for key, v in first.items()})
        self.curves = torch.zeros(2, setting.epochs, setting.networks, dtype=torch.float64)
        self.epoch = 0
        kept = parts.load(kind)
        if kept is not None:
            self.curves, self.epoch = kept.pop("curves"), int(kept.pop("epoch"))
            self.students.recall(kept)

    def state(self) -> dict[str, Tensor]:
        """All that the rest of the training depends on."""
        told = {"curves": self.curves, "epoch": torch.tensor(self.epoch)}
        return told | self.students.memory()

    def finish(self, advance: Callable[[], None]) -> None:
        """Train to the end, storing the state on the way."""
        for _ in range(self.epoch):
            advance()
        while self.epoch < self.setting.epochs:
            self.curves[0, self.epoch] = self.learn()
            self.curves[1, self.epoch] = self.accuracy()
            self.epoch += 1
            if self.epoch % self.setting.block == 0 or self.epoch == self.setting.epochs:
                self.parts.save(self.kind, self.state())
            advance()

    def learn(self) -> Tensor:
        """One epoch; each network's mean loss in it, (G,). A device is waited for at its end."""
        setting, total = self.setting, self.zeros()
        rate = setting.rate * (1 + math.cos(math.pi * self.epoch / setting.epochs)) / 2
        order = torch.randperm(
            len(self.digits), generator=chance(self.seed, _ORDER, self.epoch)
        ).to(self.device)
        for chosen in torch.split(order, setting.batch):
            scores = self.scores(self.x[:, chosen])
            target = self.digits[chosen].expand(setting.networks, -1)
            losses = cross_entropy(scores.permute(0, 2, 1), target, reduction="none").mean(1)
            self.students.step(losses, rate)
            total += losses.detach().double() * len(chosen)
        return (total / len(self.digits)).cpu()

    @torch.no_grad()
    def accuracy(self) -> Tensor:
        """Each network's share of the test images that it names, (G,)."""
        right = self.zeros()
        pairs = (
            torch.split(self.x_test, TOGETHER, dim=1),
            torch.split(self.digits_test, TOGETHER),
        )
        for x, digits in zip(*pairs, strict=True):
            right += (self.scores(x).argmax(-1) == digits).sum(1)
        return (right / len(self.digits_test)).cpu()

    def zeros(self) -> Tensor:
        """A sum for each network, (G,)."""
        return torch.zeros(self.setting.networks, dtype=torch.float64, device=self.device)

    def scores(self, x: Tensor) -> Tensor:
        """After the last pixel, x (T, N, 1) -> (G, N, 10)."""
        given = x[:, None].expand(-1, self.setting.networks, -1, -1)
        return self.students.readout(self.students.states(given)[-1])

    @property
    def learned(self) -> Learned:
        """The curves as they are recorded."""
        loss, accuracy = (tuple(tuple(row) for row in part.tolist()) for part in self.curves)
        return Learned.of(self.kind, loss, accuracy)
