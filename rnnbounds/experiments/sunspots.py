"""``rnnbounds experiment sunspots``: a forecaster of the yearly sunspot number, and its memory."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

import torch

from rnnbounds.experiments.engine.experiment import Experiment, Job, LoadedData, all_units
from rnnbounds.experiments.engine.figures import Chart
from rnnbounds.experiments.engine.record import (
    Outcome,
    Record,
    Run,
    Setting,
    make_curve,
    summarise,
)
from rnnbounds.experiments.engine.scores import score_text, select_runs
from rnnbounds.experiments.engine.trainer import Plan
from rnnbounds.experiments.gaps import (
    certified_forecast_gap,
    certified_gaps,
    forecast_gap,
    observed_gaps,
    rounding_or_inf,
    state_gap,
)
from rnnbounds.experiments.models.nets import ReadoutNet
from rnnbounds.experiments.models.tasks import sunspots
from rnnbounds.experiments.tasks.sunspot_numbers import load_series
from rnnbounds.impl.bidirectional.file_calls import save_truncated
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.convert.truncate import truncate
from rnnbounds.impl.reading.files import as_safetensors
from rnnbounds.impl.training.projection import stable
from rnnbounds.reports.pages.experiment import Code, Section
from rnnbounds.reports.pages.text import error_text

EPSILONS = (1e-1, 1e-2, 1e-3)
WAYS = ("projected", "free")
MOST_COST = 0.1  # by which the error of the projected network may be larger
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


def load_data(setting: Sizes, data: str | None) -> LoadedData:
    """The series, and what is learned of it: the last 60 years are held out, 60 before validate."""
    series = load_series()
    return LoadedData((series, sunspots()), {"data": series.source})


def run_unit(job: Job[Sizes]) -> Iterable[Run]:
    """One network, certified, and cut to windows if it is."""
    s, variant, (series, task) = job.setting, job.unit.variant, job.data
    model = ReadoutNet("RNN tanh", task, s.states, job.unit.seed)

    @torch.no_grad()
    def project(model: ReadoutNet) -> None:
        if variant == "projected":
            W = dict(model.rnn.named_parameters())["weight_hh_l0"]
            W.copy_(stable(W, s.ell))

    plan = Plan(steps=s.epochs, rate=s.rate, schedule="constant", every=10)
    model = job.train(model, task, plan, project=project).model.cpu().double()
    certificate = certify(model.rnn, series.input_bound, EPSILONS)
    certified = certificate.verdict == "certified"
    x, years = series.x[:, :-1], series.years[series.split + 1 :]
    with torch.no_grad():
        forecasts = series.to_numbers(model(x))
    K = min(certificate.window(min(EPSILONS)) or series.held_out, series.split)
    rounding = rounding_or_inf(certificate) if certified else 0.0
    gaps = observed_gaps(model.rnn, x, series.split, K, rounding)
    curves = {
        "observed": make_curve(years, series.numbers[series.split + 1 :]),
        "forecast": make_curve(years, forecasts[series.split :]),
        "gap": make_curve(range(K + 1), gaps),
    }
    if certified:
        curves["gap, certified"] = make_curve(range(K + 1), certified_gaps(certificate, K))
    weights = {name.removeprefix("rnn."): part for name, part in model.state_dict().items()}
    job.keep_file(
        f"{variant}-{job.unit.seed}.safetensors", as_safetensors(weights, {"cell": "rnn-tanh"})
    )
    persistence = series.error(series.numbers[:-1], held_out=True)
    figures = {
        "training error": series.error(forecasts, held_out=False),
        ERROR: series.error(forecasts, held_out=True),
        "error of “as many as this year”": persistence,
    }
    witness = {} if certificate.witness is None else {"witness": certificate.witness.text}
    yield job.make_run(figures, curves, certificate=summarise(certificate, 1e-2), notes=witness)
    if variant == "projected" and certified:
        for epsilon in EPSILONS:
            yield truncate_run(job, model, certificate, epsilon)


def truncate_run(
    job: Job[Sizes], model: ReadoutNet, certificate: Certificate, epsilon: float
) -> Run:
    """The feed-forward form within ε, compared with the recurrent network on the held-out years."""
    series, C = job.data[0], model.readout.weight.detach()
    x, rounding = series.x[:, :-1], rounding_or_inf(certificate)
    module, short_certificate = truncate(model.rnn, epsilon, series.input_bound)
    with torch.no_grad():
        h = module(x)
        difference = (model.rnn(x)[0] - h)[0, series.split :]
        forecasts = series.to_numbers(model.readout(h))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "truncated.safetensors"
        save_truncated(module, short_certificate, path)
        job.keep_file(f"truncated-{epsilon:g}-{job.unit.seed}.safetensors", path.read_bytes())
    figures = {
        YEARS: module.k,
        "ε": epsilon,
        STATES: state_gap(difference, rounding),
        APART: forecast_gap(difference, C, rounding, series.unit),
        BOUND: certified_forecast_gap(epsilon, C, series.unit),
        ERROR: series.error(forecasts, held_out=True),
    }
    return job.make_run(figures, task=CUT, model=f"RNN, ε = {epsilon:g}")


def judge_runs(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """Judge whether projected networks are certified, forecast as well, and keep their bounds."""
    groups = {way: select_runs(runs, task=TASK, variant=way) for way in WAYS}
    errors = {
        way: fmean(_figure_or_nan(run, ERROR) for run in some) for way, some in groups.items()
    }
    verdicts = {
        way: sorted({run.certificate.verdict for run in some if run.certificate})
        for way, some in groups.items()
    }
    middle = [run for run in runs if run.model == f"RNN, ε = {EPSILONS[1]:g}"]
    summary = (
        f"Projected networks ({', '.join(verdicts['projected'])}) forecast the held-out years to "
        f"{score_text(groups['projected'], ERROR)} sunspots, free ones "
        f"({', '.join(verdicts['free'])}) to {score_text(groups['free'], ERROR)}."
    )
    if middle:
        k, bound, largest_seen = (
            max(_figure_or_nan(run, name) for run in middle) for name in (YEARS, BOUND, APART)
        )
        summary += (
            f" The last {k:g} years fix a forecast to within {error_text(bound)} sunspots, "
            f"certified; {error_text(largest_seen)} were seen."
        )
    broken = find_problems(runs)
    fits = verdicts["projected"] == ["certified"] and not broken
    fits = fits and errors["projected"] <= (1 + MOST_COST) * errors["free"]
    return Outcome("holds" if fits else "does not hold", summary, broken)


def find_problems(runs: Sequence[Run]) -> tuple[str, ...]:
    """No certificate, or a certified bound that held-out data break; a NaN breaks its bound."""
    lines = []
    for run in runs:
        label = f"seed {run.seed}"
        if run.variant == "projected" and run.certificate is not None:
            if run.certificate.verdict != "certified":
                lines.append(f"{label}: the projected network is {run.certificate.verdict}")
            bounds = run.curves.get("gap, certified")
            for k, bound in enumerate(bounds.y if bounds else ()):
                gap = run.curves["gap"].y[k]
                if gap is None or bound is None or not gap <= bound:
                    lines.append(f"{label}, k = {k}: the states are {gap} apart, not ≤ {bound}")
        for name, limit in ((STATES, "ε"), (APART, BOUND)) if STATES in run.figures else ():
            if not _figure_or_nan(run, name) <= _figure_or_nan(run, limit):
                excess = f"{name} {_figure_or_nan(run, name)}, not ≤ {_figure_or_nan(run, limit)}"
                lines.append(f"{label}, {run.model}: {excess}")
    return tuple(lines)


def _figure_or_nan(run: Run, name: str) -> float:
    value = run.figures[name]
    return float("nan") if value is None else value


def extra_sections(record: Record) -> Sequence[Section]:
    """The commands that say the same of the files that were written."""
    seed, bound = record.settings["seed"], f"--input-bound {input_bound_text(record)} --eps 0.01"
    program = (
        f"rnnbounds certify projected-{seed}.safetensors {bound}\n"
        f"rnnbounds certify free-{seed}.safetensors {bound}\n"
        f"rnnbounds truncate projected-{seed}.safetensors {bound} --out small.safetensors"
    )
    return (Section("Check the files yourself", (Code(program),)),)


def input_bound_text(record: Record) -> str:
    """Bound on the inputs of the certificates, in the syntax of `certify --input-bound`."""
    certificate = next(run.certificate for run in record.runs if run.certificate is not None)
    return certificate.inputs.rpartition("≤ ")[2]


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
        f"mean held-out error is at most {100 * MOST_COST:g} % above that of the free ones."
    ),
    setting=Sizes(),
    units=lambda setting: all_units([TASK], ["RNN"], WAYS, setting.each_seed),
    work=run_unit,
    judge=judge_runs,
    load=load_data,
    sections=extra_sections,
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
