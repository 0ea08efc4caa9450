"""``rnnbounds experiment truncation-curve``: what a model loses when it is cut to k inputs."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from rnnbounds.experiments.engine.experiment import Job
from rnnbounds.experiments.engine.figures import Chart
from rnnbounds.experiments.engine.record import Outcome, Run, make_curve, summarise
from rnnbounds.experiments.engine.scores import figure_or_inf, worst_text
from rnnbounds.experiments.gaps import certified_gaps
from rnnbounds.experiments.networks.recurrent import Network
from rnnbounds.experiments.stable import trained
from rnnbounds.experiments.stable.trained import Sizes
from rnnbounds.experiments.tasks.task import Task

KS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
MODERATE, LOST_SHARE = (
    32,
    1.0,
)  # a moderate k, and how much of the score may be lost there, per cent
NAME, FIRST = f"k = {MODERATE}: apart, %", f"k from which within {LOST_SHARE:g} %"
MOST = 3000  # times at which forecasts are compared


def run_unit(job: Job[Sizes]) -> Iterable[Run]:
    """One network: its score and its states' gap at every k."""
    model, task, certificate = trained.train_network(job)
    scores, gaps, full = scores_and_gaps(model, task)
    curves = {"score": make_curve(KS, scores), "gap": make_curve(KS, gaps)}
    figures: dict[str, float | None] = {f"all inputs, {task.unit}": full}
    figures |= {f"k = {k}": scores[KS.index(k)] for k in (1, 4, 16)}
    losses = [100 * abs(score / full - 1) for score in scores]
    figures[NAME] = losses[KS.index(MODERATE)]
    figures[FIRST] = next((k for i, k in enumerate(KS) if max(losses[i:]) <= LOST_SHARE), None)
    if certificate.verdict == "certified":
        certified = certified_gaps(certificate, max(KS))
        bounds = [certified[k] for k in KS]
        curves["gap, certified"] = make_curve(KS, bounds)
        pairs = zip(gaps, bounds, strict=True)
        figures[trained.BROKEN_BOUNDS] = sum(
            trained.is_broken(*pair, certificate.rounding) for pair in pairs
        )
    summary = summarise(certificate, job.setting.epsilon)
    yield job.make_run(figures, curves, certificate=summary)


@torch.no_grad()
def scores_and_gaps(model: Network, task: Task) -> tuple[list[float], list[float], float]:
    """Scores and max ‖h − hᵏ‖₂ at every k of KS, and the score of the whole, at the same times."""
    vectors, y = trained.held_out_windows(model, task, trained.LENGTH)
    h = model.core(vectors)[0]
    last = max(KS)
    rows, times = torch.where(torch.ones(len(vectors), trained.LENGTH - last))
    chosen = torch.linspace(0, len(rows) - 1, min(MOST, len(rows))).long()
    rows, times = rows[chosen], times[chosen] + last
    recent = vectors[rows[:, None], times[:, None] + torch.arange(1 - last, 1)]
    full_states, targets = h[rows, times], y[rows, times]

    def score(states: Tensor) -> float:
        return task.judge.from_tally(task.judge.tally(model.readout(states)[None], targets[None]))

    scores, gaps = [], []
    for k in KS:
        cut_states = model.core(recent[:, -k:])[0][:, -1]
        scores.append(score(cut_states))
        gaps.append(float((full_states - cut_states).norm(dim=1).amax()))
    return scores, gaps, score(full_states)


def judge_runs(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """Which models lose more than allowed at a moderate k, and whether a bound fell."""
    holds, count, missed = trained.tally_seeds(
        runs, lambda run: trained.is_at_most(run, NAME, LOST_SHARE)
    )
    largest = max(figure_or_inf(run, NAME) for run in runs)
    summary = (
        f"On their last {MODERATE} inputs {count} of {len(runs)} networks score within "
        f"{LOST_SHARE:g} % "
        f"of what they score on all; farthest are {worst_text(runs, NAME)} %, and a single "
        f"one {largest:.2g} %.{missed}"
    )
    return Outcome(holds, summary, trained.broken_lines(runs))


EXPERIMENT = trained.make_experiment(
    name="truncation-curve",
    title="What a trained model loses when it is cut to k inputs",
    question=(
        "Networks of one layer are trained alike, stable ones projected after each step, free ones "
        "not. Each is then run from the zero state on the last k held-out inputs alone: its score, "
        "and the largest ‖h − hᵏ‖₂, at the same times for all k."
    ),
    conclusion=(
        "truncation costs nothing from a moderate k on, of stable models by Lemma 1, and of those "
        "that are trained freely as well"
    ),
    source="Miller & Hardt, Stable Recurrent Models, Lemma 1 and section 4",
    rule=(
        f"it holds if every network, stable or free, scores on its last {MODERATE} inputs within "
        f"{LOST_SHARE:g} % of what it scores on all of them. {trained.RULE}"
    ),
    work=run_unit,
    judge=judge_runs,
    charts=(
        Chart(
            title="Held-out score, in the unit of the table, of the last k inputs alone",
            curves=("score",),
            x="inputs k",
            y="score",
        ),
        Chart(
            title="How far states are from those of all inputs",
            curves=("gap", "gap, certified"),
            dashed=("gap, certified",),
            x="inputs k",
            y="‖h − hᵏ‖₂",
            caption="Dashed: certified for every sequence of inputs of the set named above.",
            log_y=True,
        ),
    ),
)
