"""``rnnbounds experiment truncation-curve``: what a model loses when it is cut to k inputs."""

from collections.abc import Sequence
from typing import Any

import torch

from rnnbounds.experiments import networks
from rnnbounds.experiments.engine import Job, Outcome, Run, certified_figures, make_curve
from rnnbounds.experiments.networks import Network
from rnnbounds.experiments.trainer import TextTask
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.numbers.outward import div_up, mul_up, subtract_down

KS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
MODERATE, LOST = 32, 1.0  # a moderate k, and how much of the score may be lost there, per cent
NAME, GAP = f"k = {MODERATE}: apart, %", "‖h − hᵏ‖₂"
MOST = 3000  # times at which forecasts are compared


def run_unit(job: Job) -> Run:
    """One network: its score and its states' gap at every k."""
    model, task, certificate = networks.train_network(job)
    scores, gaps, full = scores_and_gaps(model, task)
    apart = [100 * abs(score / full - 1) for score in scores]
    curves = {"score apart, %": make_curve(KS, apart), GAP: make_curve(KS, gaps)}
    figures = {f"all inputs, {task.unit}": full, NAME: apart[KS.index(MODERATE)]}
    if certificate.verdict == "certified":
        bounds = certified_gaps(certificate)
        curves[f"{GAP}, certified"] = make_curve(KS, bounds)
        figures[networks.BROKEN] = networks.count_broken(gaps, bounds, certificate.rounding.state)
    return job.make_run(figures | certified_figures(certificate), curves)


@torch.no_grad()
def scores_and_gaps(model: Network, task: TextTask) -> tuple[list[float], list[float], float]:
    """Scores and max ‖h − hᵏ‖₂ at every k of KS, and the score of the whole, at the same times."""
    vectors, y = networks.held_out_windows(model, task, networks.LENGTH)
    h, last = model.core(vectors)[0], max(KS)
    rows, times = torch.where(torch.ones(len(vectors), networks.LENGTH - last))
    chosen = torch.linspace(0, len(rows) - 1, min(MOST, len(rows))).long()
    rows, times = rows[chosen], times[chosen] + last
    recent = vectors[rows[:, None], times[:, None] + torch.arange(1 - last, 1)]
    full, scores, gaps = h[rows, times], [], []
    for k in KS:
        cut = model.core(recent[:, -k:])[0][:, -1]
        scores.append(task.score(float(task.loss(model.readout(cut), y[rows, times]))))
        gaps.append(float((full - cut).norm(dim=1).amax()))
    return scores, gaps, task.score(float(task.loss(model.readout(full), y[rows, times])))


def certified_gaps(certificate: Certificate) -> list[float]:
    """C min(S/(1 − λ), R) λᵏ for k of KS, rounded up. Source: Miller & Hardt, Lemma 1."""
    constants = certificate.constants
    reach = float(div_up(constants["drive"], subtract_down(1.0, certificate.lam)))
    first = mul_up(constants["equivalence"], min(reach, constants["radius"]))
    bounds = networks.powers_up(first, certificate.lam, max(KS))
    return [bounds[k] for k in KS]


def judge_runs(runs: Sequence[Run], setting: Any) -> Outcome:
    """Conclude from the limit that all should keep."""
    words = f"score on their last {MODERATE} inputs within {LOST:g} % of what they score on all"
    return networks.judge_limit(runs, NAME, LOST, words)


EXPERIMENT = networks.make_experiment(
    name="truncation-curve",
    conclusion="truncation costs nothing from a moderate k on, of stable models and of those that "
    "are trained freely (Miller & Hardt, Stable Recurrent Models, Lemma 1 and section 4)",
    rule=f"it holds if every network, stable or free, scores on its last {MODERATE} inputs within "
    f"{LOST:g} % of what it scores on all of them. {networks.RULE}",
    work=run_unit,
    judge=judge_runs,
)
