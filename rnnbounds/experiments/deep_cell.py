"""``rnnbounds experiment deep-cell``: cells of 1 to 6 layers on a task that needs memory.

L layers lie between one state and the next, u_0 = h_{t−1}, h_t = u_L:

    plain        u_l = tanh(W_l u_{l−1} + [l = 1] U x + b_l)
    orthogonal   the same, every W_l orthogonal at first (Saxe et al., 2013)
    gated        u_l = g u_{l−1} + (1 − g) tanh(·), g = σ(V_l u_{l−1} + c_l), c_l = 4 at first
"""

from collections.abc import Sequence
from functools import partial
from statistics import fmean
from typing import Any

import torch
from torch import Tensor
from torch.nn import Linear, ModuleList

from rnnbounds.experiments import engine
from rnnbounds.experiments.trainer import Data, falling_rates, seeded_generator
from rnnbounds.reports.text import plural

VARIANTS = ("plain", "orthogonal", "gated")
TASK, CLASSES, NOISE, LEARNED = "recall of the first input", 8, 4, 90.0
SEQUENCES, RIGHT = 10_000, "right, %"


def recall_data(length: int, seed: int) -> Data:
    """x_1 is a class as a unit vector, later x_t are noise in other coordinates: y is the class."""
    generator = seeded_generator(seed, 0)
    y = torch.randint(CLASSES, (SEQUENCES,), generator=generator)
    x = torch.zeros(SEQUENCES, length, CLASSES + NOISE)
    x[:, 1:, CLASSES:] = torch.randn(SEQUENCES, length - 1, NOISE, generator=generator)
    x[torch.arange(SEQUENCES), 0, y] = 1
    return Data.split(x, y)


class DeepTransition(torch.nn.Module):
    """x (N, T, d) -> the class read off the last state, (N, p)."""

    def __init__(self, variant: str, units: int, depth: int, seed: int) -> None:
        super().__init__()
        self.units, gated = units, variant == "gated"
        square = partial(Linear, units, units)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.feed = Linear(CLASSES + NOISE, units, bias=False)
            self.layers = ModuleList(square() for _ in range(depth))
            self.gates = ModuleList(square() for _ in range(depth * gated))
            self.readout = Linear(units, CLASSES)
            for layer in self.layers if variant == "orthogonal" else ():
                torch.nn.init.orthogonal_(layer.get_parameter("weight"))
        for gate in self.gates:
            torch.nn.init.constant_(gate.get_parameter("bias"), 4.0)

    def forward(self, x: Tensor) -> Tensor:
        """Inputs (N, T, d) to logits (N, p)."""
        h = x.new_zeros(len(x), self.units)
        for drive in self.feed(x).unbind(1):
            for l, layer in enumerate(self.layers):
                z = torch.tanh(layer(h) + drive if l == 0 else layer(h))
                g = torch.sigmoid(self.gates[l](h)) if self.gates else 0.0
                h = g * h + (1 - g) * z
        outputs: Tensor = self.readout(h)
        return outputs


def run_unit(job: engine.Job) -> engine.Run:
    """The share that a trained cell tells right."""
    unit, s = job.unit, job.setting
    data = recall_data(s.length, unit.seed)
    model = DeepTransition(unit.variant, s.states, int(unit.model.split()[0]), unit.seed)
    job.train(model, data, falling_rates(s.steps, 0.005))
    x, y = data.parts["held out"]
    return job.make_run({RIGHT: 100 * (model.cpu()(x).argmax(1) == y).double().mean()})


def judge_runs(runs: Sequence[engine.Run], setting: Any) -> engine.Outcome:
    """Judge whether the deepest plain cell fails where each remedy does better."""
    deepest = plural(max(setting.depths), "layer")
    rows = {way: engine.select_runs(runs, model=deepest, variant=way) for way in VARIANTS}
    plain, *others = (fmean(run.figures[RIGHT] or 0.0 for run in some) for some in rows.values())
    words = ", ".join(f"{way} {engine.score_text(some)}" for way, some in rows.items())
    holds = plain < min(LEARNED, *others)
    return engine.Outcome("holds" if holds else "does not hold", f"Of {deepest}, right: {words} %.")


EXPERIMENT = engine.Experiment(
    name="deep-cell",
    conclusion="deep cells hardly train as they are; gates and orthogonal first weights help "
    "(Pascanu et al., How to Construct Deep RNNs, 2014)",
    rule=f"it holds if at the greatest depth plain cells tell less than {LEARNED:.0f} % right, in "
    "the mean over the seeds, and each of the two remedies more than they.",
    setting=engine.make_setting(depths=(1, 2, 3, 4, 5, 6), states=24, length=12, steps=300),
    units=lambda s: engine.all_units(s, [TASK], [plural(n, "layer") for n in s.depths], VARIANTS),
    work=run_unit,
    judge=judge_runs,
)
