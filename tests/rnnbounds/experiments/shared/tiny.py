"""An experiment of a second: two small networks on sines, trained twice in one unit."""

from math import tau

import torch

from rnnbounds.experiments.engine.common import seeded_generator
from rnnbounds.experiments.engine.experiment import Experiment, LoadedData, Unit
from rnnbounds.experiments.engine.figures import Chart
from rnnbounds.experiments.engine.record import Outcome, Setting, certify_summary, make_curve
from rnnbounds.experiments.engine.trainer import Plan, part_losses


class Sines:
    """The next value of a sine of a random phase."""

    def batch(self, seed, step):
        return self.drawn(seeded_generator(seed, step))

    def batches(self, part):
        yield self.drawn(seeded_generator(99, len(part)))

    def drawn(self, by):
        path = torch.sin(torch.rand(4, 1, generator=by) * tau + torch.arange(9) / 2)[..., None]
        return path[:, :-1], path[:, 1:]

    def loss(self, told, y):
        return (told - y).square().mean()


class Sizes(Setting, frozen=True, kw_only=True):
    steps: int = 6
    rate: float = 0.05


class Net(torch.nn.Module):
    def __init__(self, seed):
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.rnn = torch.nn.RNN(1, 3, batch_first=True)
            self.readout = torch.nn.Linear(3, 1)
        self.register_buffer("seen", torch.zeros(0))

    def forward(self, x):
        return self.readout(self.rnn(x)[0])


def units(setting):
    """Two ways and every seed."""
    return [
        Unit("sines", "RNN", way, seed) for way in ("free", "small") for seed in setting.each_seed
    ]


def work(job):
    """Two trainings."""
    plan = Plan(steps=job.setting.steps, rate=job.setting.rate, every=2, save=2)
    for name in ("once", "twice"):
        model = Net(job.unit.seed)

        def small(model, way=job.unit.variant):
            if way == "small":
                with torch.no_grad():
                    model.rnn.weight_hh_l0.clamp_(-0.1, 0.1)

        trained = job.train(model, job.data, plan, name=name, project=small)
        yield job.make_run(
            {"held-out loss": part_losses(model, job.data, "held out")[0], "never": float("nan")},
            {"validation": make_curve(trained.steps, trained.validation[:, 0].tolist())},
            certificate=certify_summary(model.rnn, 1.0, norm="spectral"),
            model=name,
            times={"training": torch.rand(1).item()},
            notes={"way": job.unit.variant},
        )
        job.keep_file(f"{name}-{job.unit.variant}-{job.unit.seed}.txt", b"kept")


def judge(runs, setting):
    """Never."""
    return Outcome("does not hold", f"{len(runs)} runs were made.")


EXPERIMENT = Experiment(
    name="tiny",
    title="Tiny",
    question="Is it tiny?",
    conclusion="small is beautiful",
    source="Schumacher, 1973",
    rule="it never holds.",
    setting=Sizes(seeds=2),
    full=Sizes(steps=8),
    units=units,
    work=work,
    judge=judge,
    load=lambda setting, data: LoadedData(Sines(), {"data": data or "sines"}),
    takes_data=True,
    charts=(Chart(title="Loss", curves=("validation",), x="step", y="loss", log_y=True),),
)
