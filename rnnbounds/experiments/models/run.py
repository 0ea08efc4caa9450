"""``rnnbounds experiment models``: what can be known of each model that people train."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from rnnbounds.experiments.engine.experiment import Experiment, Job, LoadedData, Unit
from rnnbounds.experiments.engine.record import Outcome, Record, Run, Setting, summarise
from rnnbounds.experiments.engine.trainer import Plan, part_losses
from rnnbounds.experiments.models import tasks
from rnnbounds.experiments.models.line import (
    ATTACKED,
    COLUMNS,
    HELD,
    NEXT,
    SEEN,
    SHARE,
    STATED,
    ModelLine,
    bracket_drawings,
)
from rnnbounds.experiments.models.nets import EchoState, ReadoutNet
from rnnbounds.experiments.models.tasks import SetTask
from rnnbounds.experiments.models.training import (
    admissible_options,
    penalty_options,
    projection_options,
)
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.memory.adversary.attack import attack, bracket
from rnnbounds.impl.memory.measure import Measurement, measure
from rnnbounds.impl.training.projection import stable
from rnnbounds.reports.pages.experiment import Paragraph, Section, Table

HOW_TO_READ = (
    "k: so many of the last inputs fix the output to within ε. Attacked: no smaller k will do, by "
    "inputs that are proved to be remembered for longer. Certified: this k will do, for all inputs "
    "of the set. Seen: from this k on all windows of the data were within ε. Stated: at least that "
    "share of windows drawn like them is within ε at k, with the confidence of the settings."
)
MODELS_BY_TASK: Mapping[str, Sequence[tuple[str, str]]] = {
    "text": (
        ("LSTM", "free"), ("LSTM", "penalised"), ("GRU", "free"), ("GRU", "penalised"),
        ("GRU, 2 layers", "projected"), ("RNN tanh", "projected"), ("minGRU", "free"),
    ),
    "sunspots": (
        ("GRU", "penalised"), ("LSTM", "free"), ("LSTM", "projected"), ("RNN tanh", "free"),
        ("RNN ReLU", "projected"), ("LRU", "free"), ("echo state", "free"),
    ),
    "digits": (
        ("RNN ReLU", "free"), ("LSTM, 2 layers", "free"), ("GRU", "projected"),
        ("RNN tanh, 2 layers", "projected"), ("LRU", "free"), ("echo state", "projected"),
    ),
}  # fmt: skip


class Sizes(Setting, frozen=True, kw_only=True):
    """Networks of `states` units a layer take `steps` steps of Adam.

    `lam`: what the projection asks for and the penalty aims at, `weight` times the excess; of those
    penalised the weights are kept whose certified k is at most `asked`. `epsilon` and `confidence`
    are those of what is certified, attacked and stated; `windows` are the most that are measured,
    and `count`: so many models of each task, the first ones.
    """

    seeds: int = 1
    states: int = 32
    steps: int = 300
    rate: float = 0.01
    lam: float = 0.9
    asked: int = 100
    weight: float = 0.2
    epsilon: float = 1e-2
    confidence: float = 0.99
    windows: int = 600
    count: int = 7


def list_units(setting: Sizes) -> list[Unit]:
    """The models, task by task."""
    return [
        Unit(task, model, training, seed)
        for task, models in MODELS_BY_TASK.items()
        for model, training in models[: setting.count]
        for seed in setting.each_seed
    ]


def load_data(setting: Sizes, data: str | None) -> LoadedData:
    """The tasks by their names."""
    return tasks.load_named(MODELS_BY_TASK)


def run_unit(job: Job[Sizes]) -> list[Run]:
    """One model: trained, certified, attacked and measured."""
    unit, s = job.unit, job.setting
    task: SetTask = job.data[unit.task]
    net = ReadoutNet(unit.model, task, s.states, unit.seed, shrunk=unit.variant != "free")
    _train_net(job, net, task)
    certificate = certify(net.layer, task.among, s.epsilon, cell=net.cell)
    attacked = attack(net.layer, task.among, s.epsilon, cell=net.cell)
    bracket(certificate, attacked)
    measured = measure(
        net.layer, task.windows[: s.windows], eps=s.epsilon, confidence=s.confidence,
        cell=net.cell, input_bound=task.among,
    )  # fmt: skip
    figures, words = _statement_figures(measured)
    figures |= {
        f"{HELD}{task.unit}": task.score(float(part_losses(net, task, "held out")[0])),
        ATTACKED: attacked.least(s.epsilon),
        SEEN: measured.window(s.epsilon),
    }
    summary = summarise(certificate, s.epsilon)
    return [job.make_run(figures, certificate=summary, notes=words | _next_step(certificate))]


def _train_net(job: Job[Sizes], net: ReadoutNet, task: SetTask) -> None:
    """Train it in its way."""
    s, variant, options = job.setting, job.unit.variant, dict[str, Any]()
    if variant == "projected" and isinstance(net.rnn, EchoState):  # nothing of it is trained
        net.rnn.get_buffer("W").copy_(stable(net.rnn.get_buffer("W"), s.lam))
    elif variant == "projected":
        options = projection_options(task.among, s.lam)
        options["project"](net)
    elif variant == "penalised":
        options = penalty_options(task.among, aim=s.lam, weight=s.weight)
        options |= admissible_options(task.among, epsilon=s.epsilon, limit=s.asked)
    job.train(net, task, Plan(steps=s.steps, rate=s.rate, every=25), **options)


def _statement_figures(measured: Measurement) -> tuple[dict[str, float | None], dict[str, str]]:
    """Statement about other windows: k and share as figures, and the rest in words."""
    if measured.statement is None:
        return {}, {"stated": f"nothing: {measured.unstated}"}
    (line,), statement = measured.statement.lines, measured.statement
    words = (
        f"confidence {statement.confidence:g}, windows of {statement.length} inputs, k chosen on "
        f"{statement.chosen} and tried on {statement.held}"
    )
    return {STATED: line.k, SHARE: line.share}, {"stated": words, "length": str(statement.length)}


def _next_step(certificate: Certificate) -> dict[str, str]:
    """Next step for a model that is not certified, from its advice; {} if it is certified."""
    if certificate.verdict == "certified":
        return {}
    advice, witness = certificate.advice, certificate.witness
    if advice is None:
        return {NEXT: str(certificate.reason if witness is None else witness.text)}
    steps = []
    if advice.drivers:
        steps.append(f"its {advice.drivers[0][0]} drives λ")
    if (scaled := advice.weights) is not None:
        steps.append(f"recurrent weights × {scaled.size:g} certify k = {scaled.k}")
    return {NEXT: "; ".join([*steps, "or train it with the penalty"])}


def judge_runs(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """Judge whether every model has an answer; contradictions are problems."""
    lines = [ModelLine(run) for run in runs]
    unanswered = [line.label for line in lines if not line.is_answered]
    certified = [line for line in lines if line.certified is not None]
    ratios = [
        line.certified / max(line.attacked, 1) for line in lines if line.certified is not None
    ]
    free = [line for line in lines if line.run.variant == "free"]
    summary = (
        f"Of {len(lines)} models {len(certified)} are certified, "
        f"{sum(line.certified is not None for line in free)} of {len(free)} that were trained "
        f"freely among them."
    )
    if ratios:
        summary += (
            f" Their certified k is {median(ratios):.3g} times the adversary's in the median, "
            f"{max(ratios):.3g} at most."
        )
    if unanswered:
        summary += f" Without an answer: {'; '.join(unanswered)}."
    problems = tuple(f"{line.label}: {line.problem}" for line in lines if line.problem)
    return Outcome("does not hold" if unanswered else "holds", summary, problems)


def models_table(runs: Sequence[Run]) -> Table:
    """A line a model."""
    return Table(COLUMNS, tuple(ModelLine(run).cells for run in runs), frozenset({4, 5, 6}))


def extra_sections(record: Record) -> list[Section]:
    """The table, and how to read it."""
    return [
        Section(
            "Each model",
            (*bracket_drawings(record.runs), Paragraph(HOW_TO_READ), models_table(record.runs)),
        )
    ]


EXPERIMENT = Experiment(
    name="models",
    title="How long trained models remember",
    question="Of models of many kinds, trained freely, with the penalty or under the projection: "
    "how long do they remember?",
    conclusion="of each something is known: a certified memory and, beside it, what an adversary "
    "finds, or else what to do next; and in any case a statement about its data.",
    source="Miller & Hardt, Stable Recurrent Models, sections 2 and 4",
    rule="a model has an answer if a k is certified or the next steps are printed, and if a "
    "statement about windows like its data is printed, or the reason that there is none.",
    setting=Sizes(),
    units=list_units,
    work=run_unit,
    judge=judge_runs,
    load=load_data,
    sections=extra_sections,
    packages=("statsmodels", "scikit-learn"),
)
