"""``rnnbounds experiment sunspots``: a forecaster of the yearly sunspot number, and its memory."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

import torch

from rnnbounds.experiments.engine.experiment import Experiment, Job, Loaded, every
from rnnbounds.experiments.engine.figures import Chart
from rnnbounds.experiments.engine.record import (
    Outcome,
    Record,
    Run,
    Setting,
    curve,
    of_certificate,
)
from rnnbounds.experiments.engine.scores import picked, stated
from rnnbounds.experiments.engine.trainer import Plan
from rnnbounds.experiments.gaps import (
    certified_forecast_gap,
    certified_gaps,
    forecast_gap,
    known_rounding,
    observed_gaps,
    state_gap,
)
from rnnbounds.experiments.models.nets import Net
from rnnbounds.experiments.models.tasks import sunspots
from rnnbounds.experiments.tasks.sunspot_numbers import load_series
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.convert.truncate import save_truncated, truncate
from rnnbounds.impl.reading.files import as_safetensors
from rnnbounds.impl.training.projection import stable
from rnnbounds.reports.pages.experiment import Code, Section
from rnnbounds.reports.pages.text import error_text

EPSILONS = (1e-1, 1e-2, 1e-3)
WAYS = ("projected", "free")
MORE = 0.1  # by which the error of the projected network may be larger
CUT, TASK = "cut to a window", "sunspots"
ERROR, YEARS = "held-out error", "years k"
STATES, APART = "states apart", "forecasts apart"
BOUND = "forecasts apart, certified"


class Sizes(Setting, frozen=True, kw_only=True):
    """tanh networks of `states` units; `epochs` steps of Adam through the series; ‖W‖₂ ≤ `ell`."""

    states: int = 16
    epochs: int = 400
    rate: float = 0.01
    ell: float = 0.8


def load(setting: Sizes, data: str | None) -> Loaded:
    """The series, and what is learned of it: the last 60 years are held out, 60 before validate."""
    series = load_series()
    return Loaded((series, sunspots()), {"data": series.source})


def work(job: Job[Sizes]) -> Iterable[Run]:
    """One network, certified, and cut to windows if it is."""
    s, way, (series, task) = job.setting, job.unit.variant, job.data
    model = Net("RNN tanh", task, s.states, job.unit.seed)

    @torch.no_grad()
    def project(model: Net) -> None:
        if way == "projected":
            W = dict(model.rnn.named_parameters())["weight_hh_l0"]
            W.copy_(stable(W, s.ell))

    plan = Plan(steps=s.epochs, rate=s.rate, schedule="constant", every=10)
    model = job.train(model, task, plan, project=project).model.cpu().double()
    certificate = certify(model.rnn, series.input_bound, EPSILONS)
    certified = certificate.verdict == "certified"
    x, years = series.x[:, :-1], series.years[series.split + 1 :]
    with torch.no_grad():
        forecasts = series.in_numbers(model(x))
    K = min(certificate.window(min(EPSILONS)) or series.held_out, series.split)
    rounding = known_rounding(certificate) if certified else 0.0
    seen = observed_gaps(model.rnn, x, series.split, K, rounding)
    curves = {
        "observed": curve(years, series.numbers[series.split + 1 :]),
        "forecast": curve(years, forecasts[series.split :]),
        "gap": curve(range(K + 1), seen),
    }
    if certified:
        curves["gap, certified"] = curve(range(K + 1), certified_gaps(certificate, K))
    weights = {name.removeprefix("rnn."): part for name, part in model.state_dict().items()}
    job.keep(f"{way}-{job.unit.seed}.safetensors", as_safetensors(weights, {"cell": "rnn-tanh"}))
    persistence = series.error(series.numbers[:-1], held_out=True)
    figures = {
        "training error": series.error(forecasts, held_out=False),
        ERROR: series.error(forecasts, held_out=True),
        "error of “as many as this year”": persistence,
    }
    witness = {} if certificate.witness is None else {"witness": certificate.witness.text}
    yield job.run(figures, curves, certificate=of_certificate(certificate, 1e-2), told=witness)
    if way == "projected" and certified:
        for epsilon in EPSILONS:
            yield cut(job, model, certificate, epsilon)


def cut(job: Job[Sizes], model: Net, certificate: Certificate, epsilon: float) -> Run:
    """The feed-forward form within ε, compared with the recurrent network on the held-out years."""
    series, C = job.data[0], model.readout.weight.detach()
    x, rounding = series.x[:, :-1], known_rounding(certificate)
    module, told = truncate(model.rnn, epsilon, series.input_bound)
    with torch.no_grad():
        h = module(x)
        apart = (model.rnn(x)[0] - h)[0, series.split :]
        forecasts = series.in_numbers(model.readout(h))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "truncated.safetensors"
        save_truncated(module, told, path)
        job.keep(f"truncated-{epsilon:g}-{job.unit.seed}.safetensors", path.read_bytes())
    figures = {
        YEARS: module.k,
        "ε": epsilon,
        STATES: state_gap(apart, rounding),
        APART: forecast_gap(apart, C, rounding, series.unit),
        BOUND: certified_forecast_gap(epsilon, C, series.unit),
        ERROR: series.error(forecasts, held_out=True),
    }
    return job.run(figures, task=CUT, model=f"RNN, ε = {epsilon:g}")


def judge(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """Judge whether projected networks are certified, forecast as well, and keep their bounds."""
    of = {way: picked(runs, task=TASK, variant=way) for way in WAYS}
    errors = {way: fmean(_of(run, ERROR) for run in some) for way, some in of.items()}
    verdicts = {
        way: sorted({run.certificate.verdict for run in some if run.certificate})
        for way, some in of.items()
    }
    middle = [run for run in runs if run.model == f"RNN, ε = {EPSILONS[1]:g}"]
    said = (
        f"Projected networks ({', '.join(verdicts['projected'])}) forecast the held-out years to "
        f"{stated(of['projected'], ERROR)} sunspots, free ones ({', '.join(verdicts['free'])}) to "
        f"{stated(of['free'], ERROR)}."
    )
    if middle:
        k, bound, seen = (max(_of(run, name) for run in middle) for name in (YEARS, BOUND, APART))
        said += (
            f" The last {k:g} years fix a forecast to within {error_text(bound)} sunspots, "
            f"certified; {error_text(seen)} were seen."
        )
    broken = problems(runs)
    fits = verdicts["projected"] == ["certified"] and not broken
    fits = fits and errors["projected"] <= (1 + MORE) * errors["free"]
    return Outcome("holds" if fits else "does not hold", said, broken)


def problems(runs: Sequence[Run]) -> tuple[str, ...]:
    """No certificate, or a certified bound that held-out data break; a NaN breaks its bound."""
    found = []
    for run in runs:
        who = f"seed {run.seed}"
        if run.variant == "projected" and run.certificate is not None:
            if run.certificate.verdict != "certified":
                found.append(f"{who}: the projected network is {run.certificate.verdict}")
            bounds = run.curves.get("gap, certified")
            for k, bound in enumerate(bounds.y if bounds else ()):
                gap = run.curves["gap"].y[k]
                if gap is None or bound is None or not gap <= bound:
                    found.append(f"{who}, k = {k}: the states are {gap} apart, not ≤ {bound}")
        for name, limit in ((STATES, "ε"), (APART, BOUND)) if STATES in run.figures else ():
            if not _of(run, name) <= _of(run, limit):
                told = f"{name} {_of(run, name)}, not ≤ {_of(run, limit)}"
                found.append(f"{who}, {run.model}: {told}")
    return tuple(found)


def _of(run: Run, name: str) -> float:
    value = run.figures[name]
    return float("nan") if value is None else value


def sections(record: Record) -> Sequence[Section]:
    """The commands that say the same of the files that were written."""
    seed, bound = record.settings["seed"], f"--input-bound {load_bound(record)} --eps 0.01"
    program = (
        f"rnnbounds certify projected-{seed}.safetensors {bound}\n"
        f"rnnbounds certify free-{seed}.safetensors {bound}\n"
        f"rnnbounds truncate projected-{seed}.safetensors {bound} --out small.safetensors"
    )
    return (Section("Check the files yourself", (Code(program),)),)


def load_bound(record: Record) -> str:
    """Bound on the inputs of the certificates, in the syntax of `certify --input-bound`."""
    found = next(run.certificate for run in record.runs if run.certificate is not None)
    return found.inputs.rpartition("≤ ")[2]


EXPERIMENT = Experiment(
    name="sunspots",
    title="Sunspots, with a certified memory",
    question=(
        "A small network reads one number a year and forecasts the next; the last 60 years are "
        "held out, by the 60 before them the weights are chosen. Two networks with the same start "
        "are trained by Adam, one of them projected onto ‖W‖₂ ≤ ℓ after every step: which is "
        "certified, which forecasts better, and how far is the projected one from its "
        "feed-forward form of k layers? Errors are root mean squares in sunspot numbers; gaps are "
        "the largest over the held-out years, with the rounding of both runs added."
    ),
    conclusion="a stable model does as well, and its last k inputs fix its forecasts",
    source="Miller & Hardt, Stable Recurrent Models, Lemma 1 and section 4",
    rule=(
        "it holds if every projected network is certified, no certified gap is exceeded, and their "
        f"mean held-out error is at most {100 * MORE:g} % above that of the free ones."
    ),
    setting=Sizes(),
    units=lambda setting: every([TASK], ["RNN"], WAYS, setting.each_seed),
    work=work,
    judge=judge,
    load=load,
    sections=sections,
    packages=("safetensors", "statsmodels"),
    charts=(
        Chart(
            title="Held-out years",
            curves=("observed", "forecast"),
            x="year",
            y="sunspot number",
            tasks=(TASK,),
        ),
        Chart(
            title="The largest gap of states over the held-out years",
            curves=("gap", "gap, certified"),
            dashed=("gap, certified",),
            x="window k, years",
            y="‖h − hᵏ‖₂",
            log_y=True,
            tasks=(TASK,),
        ),
    ),
)
