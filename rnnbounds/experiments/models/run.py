"""``rnnbounds experiment models``: what can be known of each model that people train."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from rnnbounds.experiments.engine.experiment import Experiment, Job, Loaded, Unit
from rnnbounds.experiments.engine.record import Outcome, Record, Run, Setting, of_certificate
from rnnbounds.experiments.engine.trainer import Plan, losses
from rnnbounds.experiments.models import tasks
from rnnbounds.experiments.models.line import (
    ATTACKED,
    COLUMNS,
    HELD,
    NEXT,
    SEEN,
    SHARE,
    STATED,
    Line,
    pictures,
)
from rnnbounds.experiments.models.nets import Echo, Net
from rnnbounds.experiments.models.tasks import Learned
from rnnbounds.experiments.models.training import kept_short, penalised, projected
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.memory.adversary.attack import attack, bracket
from rnnbounds.impl.memory.measure import Measurement, measure
from rnnbounds.impl.training.projection import stable
from rnnbounds.reports.pages.experiment import Paragraph, Section, Table

READ = (
    "k: so many of the last inputs fix the output to within ε. Attacked: no smaller k will do, by "
    "inputs that are proved to be remembered for longer. Certified: this k will do, for all inputs "
    "of the set. Seen: from this k on all windows of the data were within ε. Stated: at least that "
    "share of windows drawn like them is within ε at k, with the confidence of the settings."
)
ZOO: Mapping[str, Sequence[tuple[str, str]]] = {
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


class Models(Setting, frozen=True, kw_only=True):
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


def units(setting: Models) -> list[Unit]:
    """The models, task by task."""
    return [
        Unit(task, model, training, seed)
        for task, models in ZOO.items()
        for model, training in models[: setting.count]
        for seed in setting.each_seed
    ]


def load(setting: Models, data: str | None) -> Loaded:
    """The tasks by their names."""
    return tasks.load(ZOO)


def work(job: Job[Models]) -> list[Run]:
    """One model: trained, certified, attacked and measured."""
    unit, s = job.unit, job.setting
    task: Learned = job.data[unit.task]
    net = Net(unit.model, task, s.states, unit.seed, shrunk=unit.variant != "free")
    _train(job, net, task)
    certificate = certify(net.layer, task.among, s.epsilon, cell=net.cell)
    found = attack(net.layer, task.among, s.epsilon, cell=net.cell)
    bracket(certificate, found)
    seen = measure(
        net.layer, task.windows[: s.windows], eps=s.epsilon, confidence=s.confidence,
        cell=net.cell, input_bound=task.among,
    )  # fmt: skip
    figures, words = _stated(seen)
    figures |= {
        f"{HELD}{task.unit}": task.score(float(losses(net, task, "held out")[0])),
        ATTACKED: found.least(s.epsilon),
        SEEN: seen.window(s.epsilon),
    }
    told = of_certificate(certificate, s.epsilon)
    return [job.run(figures, certificate=told, told=words | _next(certificate))]


def _train(job: Job[Models], net: Net, task: Learned) -> None:
    """Train it in its way."""
    s, variant, way = job.setting, job.unit.variant, dict[str, Any]()
    if variant == "projected" and isinstance(net.rnn, Echo):  # nothing of it is trained
        net.rnn.get_buffer("W").copy_(stable(net.rnn.get_buffer("W"), s.lam))
    elif variant == "projected":
        way = projected(task.among, s.lam)
        way["project"](net)
    elif variant == "penalised":
        way = penalised(task.among, aim=s.lam, weight=s.weight)
        way |= kept_short(task.among, epsilon=s.epsilon, most=s.asked)
    job.train(net, task, Plan(steps=s.steps, rate=s.rate, every=25), **way)


def _stated(seen: Measurement) -> tuple[dict[str, float | None], dict[str, str]]:
    """Statement about other windows: k and share as figures, and the rest in words."""
    if seen.statement is None:
        return {}, {"stated": f"nothing: {seen.unstated}"}
    (line,), told = seen.statement.lines, seen.statement
    words = (
        f"confidence {told.confidence:g}, windows of {told.length} inputs, k chosen on "
        f"{told.chosen} and tried on {told.held}"
    )
    return {STATED: line.k, SHARE: line.share}, {"stated": words, "length": str(told.length)}


def _next(certificate: Certificate) -> dict[str, str]:
    """Next step for a model that is not certified, from its advice; {} if it is certified."""
    if certificate.verdict == "certified":
        return {}
    advice, witness = certificate.advice, certificate.witness
    if advice is None:
        return {NEXT: str(certificate.reason if witness is None else witness.text)}
    told = []
    if advice.drivers:
        told.append(f"its {advice.drivers[0][0]} drives λ")
    if (found := advice.weights) is not None:
        told.append(f"recurrent weights × {found.size:g} certify k = {found.k}")
    return {NEXT: "; ".join([*told, "or train it with the penalty"])}


def judge(runs: Sequence[Run], setting: Models) -> Outcome:
    """Judge whether every model has an answer; contradictions are problems."""
    lines = [Line(run) for run in runs]
    open_ = [line.who for line in lines if not line.answered]
    certified = [line for line in lines if line.certified is not None]
    wide = [line.certified / max(line.attacked, 1) for line in lines if line.certified is not None]
    free = [line for line in lines if line.run.variant == "free"]
    said = (
        f"Of {len(lines)} models {len(certified)} are certified, "
        f"{sum(line.certified is not None for line in free)} of {len(free)} that were trained "
        f"freely among them."
    )
    if wide:
        said += (
            f" Their certified k is {median(wide):.3g} times the adversary's in the median, "
            f"{max(wide):.3g} at most."
        )
    if open_:
        said += f" Without an answer: {'; '.join(open_)}."
    problems = tuple(f"{line.who}: {line.problem}" for line in lines if line.problem)
    return Outcome("does not hold" if open_ else "holds", said, problems)


def table(runs: Sequence[Run]) -> Table:
    """A line a model."""
    return Table(COLUMNS, tuple(Line(run).cells for run in runs), frozenset({4, 5, 6}))


def sections(record: Record) -> list[Section]:
    """The table, and how to read it."""
    return [Section("Each model", (*pictures(record.runs), Paragraph(READ), table(record.runs)))]


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
    setting=Models(),
    units=units,
    work=work,
    judge=judge,
    load=load,
    sections=sections,
    packages=("statsmodels", "scikit-learn"),
)
