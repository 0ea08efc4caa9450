"""``rnnbounds experiment norms``: which norms certify RNNs that the spectral norm does not.

Random RNNs with ‖W‖₂ between 1 and 1.3, each of which contracts in some diagonal norm, are
certified in every norm by itself and by the search among all of them. Source: Miller & Hardt,
section 2, where the spectral norm is the criterion.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import torch
from torch import Tensor

from impl.cells.table import kind_of
from impl.cells.vanilla import parts_of
from impl.certificate.certify import certify
from impl.norms.semidefinite import SOLVED, at_hand, left_out
from impl.norms.state_norms import state_norm
from impl.norms.weighted import diagonal_norm
from impl.numbers.outward import mul_up
from impl.numbers.spectral_norm import certified_norm
from impl.reading.adapters import load_model
from reports.pages.experiment import Paragraph, Plot, Section, Table
from reports.pages.figures.figure import Series as Line
from reports.pages.text import NOTHING
from rnnbounds.experiments.engine.common import chance
from rnnbounds.experiments.engine.experiment import Experiment, Job, Loaded, Unit
from rnnbounds.experiments.engine.record import Outcome, Record, Run, Setting, of_certificate

CELL, AUTO = "rnn-tanh", "auto"
NORM, PLANTED = "‖W‖₂", "λ, planted"
_SPREAD = 64.0  # more than any spread of log-weights that is needed
_HALVINGS, _LINES = 80, 6


class Sizes(Setting, frozen=True, kw_only=True):
    """`seeds` systems; see `draw`. n from `least` to `most` states, d `inputs`; ‖W‖₂ uniform in
    `norms`, the planted factor μ in `rates`; `epsilon` is the ε of all windows, for inputs with
    ‖x_t‖₂ ≤ `input_bound`."""

    seeds: int = 200
    least: int = 2
    most: int = 12
    inputs: int = 2
    norms: tuple[float, float] = (1.0, 1.3)
    rates: tuple[float, float] = (0.8, 0.99)
    epsilon: float = 1e-3
    input_bound: float = 1.0


@dataclass(frozen=True, eq=False)
class Drawn:
    """W = D⁻¹ (μM) D with ‖M‖₂ = 1, the d of D, and U."""

    W: Tensor
    U: Tensor
    d: Tensor


def draw(setting: Sizes, seed: int) -> Drawn:
    """One system, whatever the others are.

    M has random singular vectors and singular values uniform in [q, 1], one of them 1, with q
    uniform in [0, 1]; log d is Gaussian, times the spread for which ‖W‖₂ is what was drawn. The
    spread is found by bisection from ‖μM‖₂ < 1, so that every norm above it is reached.
    """
    generator = chance(0, seed)

    def uniform(low: float, high: float) -> float:
        share = float(torch.rand(1, generator=generator, dtype=torch.float64))
        return low + (high - low) * share

    def gaussian(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    n = int(torch.randint(setting.least, setting.most + 1, (1,), generator=generator))
    rate, norm, least = uniform(*setting.rates), uniform(*setting.norms), uniform(0.0, 1.0)
    left, right = (torch.linalg.qr(gaussian(n, n))[0] for _ in range(2))
    values = least + (1 - least) * torch.rand(n, generator=generator, dtype=torch.float64)
    values[0] = 1.0
    M, log_d, U = rate * (left * values) @ right, gaussian(n), gaussian(n, setting.inputs)
    low, high = 0.0, _SPREAD
    for _ in range(_HALVINGS):
        spread = (low + high) / 2
        reached = torch.linalg.matrix_norm(scaled(M, spread * log_d), 2) >= norm
        low, high = (low, spread) if reached else (spread, high)
    log_d = high * log_d
    return Drawn(scaled(M, log_d), U, torch.exp(log_d))


def scaled(M: Tensor, log_d: Tensor) -> Tensor:
    """D⁻¹MD."""
    return M * torch.exp(log_d[None, :] - log_d[:, None])


def load(setting: Sizes, data: str | None) -> Loaded:
    """Nothing; the norms that are left out, and why."""
    reason = left_out(setting.most)
    return Loaded(None, {} if reason is None else {f"{SOLVED} was not tried": reason})


def units(setting: Sizes) -> list[Unit]:
    """The systems."""
    return [Unit("random networks", "tanh RNN", "drawn", seed) for seed in setting.each_seed]


def work(job: Job[Sizes]) -> Iterable[Run]:
    """One system in every norm, each by itself, and in the one that the search chooses."""
    setting, drawn = job.setting, draw(job.setting, job.unit.seed)
    loaded = load_model({"weight_hh": drawn.W, "weight_ih": drawn.U}, CELL)
    parts = parts_of(loaded, setting.input_bound)
    figures: dict[str, float | None] = {NORM: float(certified_norm(parts.W))}
    planted = diagonal_norm(parts.W, drawn.d[None]).factor
    figures[PLANTED] = float(mul_up(parts.slope, planted))
    for name in at_hand(kind_of(CELL).norms, setting.most):
        norm = state_norm(name, parts)
        figures[f"λ, {name}"] = norm.lam
        figures[f"k, {name}"] = norm.window(setting.epsilon) if norm.lam < 1 else None
    chosen = certify(loaded, setting.input_bound, (setting.epsilon,))
    certified = chosen.verdict == "certified"
    figures[f"k, {AUTO}"] = chosen.window(setting.epsilon) if certified else None
    yield job.run(
        figures,
        told={"n": str(loaded.n), "chosen": chosen.norm},
        certificate=of_certificate(chosen, setting.epsilon),
    )


def windows(run: Run) -> dict[str, float]:
    """The k of the norms that certify, the choice left out."""
    told = {name.removeprefix("k, "): k for name, k in run.figures.items() if name[:3] == "k, "}
    return {name: k for name, k in told.items() if k is not None and name != AUTO}


def names(runs: Sequence[Run]) -> list[str]:
    """The norms, in the order in which they are tried."""
    return [name[3:] for name in runs[0].figures if name[:3] == "k, " and name != f"k, {AUTO}"]


def of_norm(runs: Sequence[Run], name: str) -> list[float]:
    """The k of the systems that a norm certifies, in increasing order."""
    return sorted(k for run in runs if (k := run.figures[f"k, {name}"]) is not None)


def wins(runs: Sequence[Run], name: str, how: Callable[[float, list[float]], bool]) -> int:
    """On how many systems the k of a norm stands so to those of the others."""
    count = 0
    for run in runs:
        known = windows(run)
        k = known.pop(name, None)
        count += k is not None and how(k, list(known.values()))
    return count


def judge(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """What the spectral norm leaves out, and whether the choice is the best."""
    counts = {name: len(of_norm(runs, name)) for name in names(runs)}
    chosen = len(of_norm(runs, AUTO))
    said = f"Of {len(runs)} networks with ‖W‖₂ ≥ {setting.norms[0]:g} auto certifies {chosen}: "
    said += ", ".join(f"the {name} norm {count}" for name, count in counts.items()) + "."
    found = problems(runs, setting)
    holds = counts.get("spectral") == 0 and chosen == len(runs) and not found
    return Outcome("holds" if holds else "does not hold", said, found)


def problems(runs: Sequence[Run], setting: Sizes) -> tuple[str, ...]:
    """A system that is not what it should be, a choice that is not the best."""
    found = []
    low, high = setting.norms
    for run in runs:
        who, known = f"system {run.seed}", windows(run)
        size, planted, k = (run.figures[name] for name in (NORM, PLANTED, f"k, {AUTO}"))
        if size is None or not low <= size <= high * (1 + 1e-9):
            found.append(f"{who}: ‖W‖₂ = {size} is not in [{low:g}, {high:g}]")
        if planted is None or not planted < 1:
            found.append(f"{who}: its planted factor {planted} is not below 1")
        if known and (k is None or k > min(known.values())):
            best = min(known, key=lambda norm: known[norm])
            found.append(f"{who}: k = {k}, but {known[best]:g} by the {best} norm")
    return tuple(found)


def sections(record: Record) -> Sequence[Section]:
    """Each norm, and the choice among all: certified, shortest, alone, median and greatest k."""
    runs = record.runs
    rows = []
    for name in (*names(runs), AUTO):
        ks = of_norm(runs, name)
        best: Mapping[str, int] = {} if name == AUTO else {
            "shortest": wins(runs, name, lambda k, others: k <= min(others, default=k)),
            "alone": wins(runs, name, lambda k, others: not others),
        }  # fmt: skip
        told = [str(best.get(key, NOTHING)) for key in ("shortest", "alone")]
        sizes = (f"{median(ks):g}", f"{ks[-1]:g}") if ks else (NOTHING, NOTHING)
        rows.append((name, str(len(ks)), *told, *sizes))
    table = Table(
        ("norm", "certifies", "shortest k", "it alone", "median k", "greatest k"),
        tuple(rows),
        frozenset(range(1, 6)),
        f"Of {len(runs)} networks: how many a norm certifies (λ < 1), on how many no norm has a "
        f"shorter k (ties count for each), how many no other norm certifies, and k over those that "
        f"it certifies.",
    )
    known = [(name, ks) for name in names(runs) if (ks := of_norm(runs, name))]
    lines = [Line(name, range(1, len(ks) + 1), ks) for name, ks in known[1 - _LINES :]]
    chosen = of_norm(runs, AUTO)
    lines.append(Line(AUTO, range(1, len(chosen) + 1), chosen, "dashed"))
    plot = Plot(
        lines,
        "networks",
        "window k",
        "The certified windows in increasing order: so many networks are certified to remember at "
        "most k inputs. A curve ends where its norm certifies no further one.",
        log_y=True,
    )
    words = Paragraph(
        "In the spectral, ∞- and 1-norms, in max |h_i|/v_i with Perron’s weights and in ‖Dh‖₂ with "
        "diagonal weights one step contracts by λ, whatever slopes in [−1, 1] the activation has. "
        "Diagonal weights are sought by descent in floats and by semidefinite programming. The "
        "iterated norm bounds products of several steps, and uses that slopes of tanh are in "
        "[0, 1]. Every factor is certified afterwards."
    )
    return (Section("Which norm certifies", (words, table, plot)),)


EXPERIMENT = Experiment(
    name="norms",
    title="Beyond the spectral norm",
    question=(
        "Each network is a tanh RNN without biases, W = D⁻¹(μM)D with ‖M‖₂ = 1, μ < 1 and D "
        "diagonal, so that it contracts in ‖Dh‖₂ though ‖W‖₂ is above 1. Which norms find out? How "
        "often one succeeds on these says nothing about others."
    ),
    conclusion="what the spectral norm cannot certify, other norms can",
    source="this package; Miller & Hardt, section 2, has the spectral norm alone",
    rule="it holds if the spectral norm certifies none of them and the search among all norms all.",
    setting=Sizes(),
    units=units,
    work=work,
    judge=judge,
    load=load,
    sections=sections,
    packages=("clarabel",),
)
