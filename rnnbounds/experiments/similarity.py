"""``rnnbounds experiment similarity``: what W → TWT⁻¹ changes, and what it does not."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from rnnbounds.experiments import engine
from rnnbounds.experiments.engine import Experiment, Job, Outcome, Run, all_units
from rnnbounds.experiments.trainer import seeded_generator
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert.dilation import polar
from rnnbounds.reports.text import error_text

CASES: dict[str, tuple[str, Callable[[Tensor], Tensor], bool]] = {  # and whether T is diagonal
    "linear, any T": ("linear", torch.clone, False),
    "ReLU, diagonal T > 0": ("rnn-relu", torch.relu, True),
}
TOLERANCE = 1e-6  # of the outputs' size: what float64 leaves of an equality, up to cond T = 10⁴
TASK = "random contractive networks"
APART, NORM = "outputs apart, float64", 0.8


def run_unit(job: Job) -> Run:
    """Draw, transform, certify, compare."""
    (cell, rho, diagonal), n = CASES[job.unit.model], job.setting.states
    generator, condition = seeded_generator(job.unit.seed), float(job.unit.variant.split()[-1])

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator).double()

    W, U, b, C = normal(n, n), normal(n, 2), normal(n) / 4, normal(1, n)
    W = NORM * W / torch.linalg.matrix_norm(W, 2)
    stretch = torch.logspace(0, 1, n, base=condition).double() / condition**0.5
    left, right = (torch.eye(n).double() if diagonal else polar(normal(n, n)) for _ in range(2))
    T, back = left @ stretch.diag() @ right, right.mT @ (1 / stretch).diag() @ left.mT
    V, *others = T @ W @ back, T @ U, T @ b, C @ back
    x = normal(16, 50, 2)
    x = x / torch.linalg.vector_norm(x, dim=2, keepdim=True)
    outputs = [run_outputs(weights, x, rho) for weights in ((W, U, b, C), (V, *others))]
    stored = {"weight_hh": V, "weight_ih": others[0], "bias_ih": others[1]}
    certificate = certify(stored, inputs=1.0, eps=engine.EPSILON, cell=cell)
    figures = {
        APART: float((outputs[0] - outputs[1]).abs().max()) / float(outputs[0].abs().max()),
        "‖TWT⁻¹‖₂": torch.linalg.matrix_norm(V, 2),
    }
    return job.make_run(figures | engine.certified_figures(certificate))


def run_outputs(weights: Sequence[Tensor], x: Tensor, rho: Callable[[Tensor], Tensor]) -> Tensor:
    """C h_t from the zero state."""
    W, U, b, C = weights
    h, path = x.new_zeros(len(x), len(b)), []
    for now in x.unbind(1):
        h = rho(h @ W.mT + now @ U.mT + b)
        path.append(h @ C.mT)
    return torch.stack(path)


def judge_runs(runs: Sequence[Run], setting: Any) -> Outcome:
    """Outputs stay where theory says so; certificates go."""
    rows = {case: engine.select_runs(runs, model=case) for case in CASES}
    apart = {case: max(run.figures[APART] or 0.0 for run in some) for case, some in rows.items()}
    words = ", ".join(f"{error_text(value)} ({case})" for case, value in apart.items())
    ks = {
        way: engine.score_text(some, engine.WINDOW)
        for (_, _, way), some in engine.group_runs(rows["linear, any T"]).items()
    }
    summary = (
        f"Outputs in float64 differ, relatively, by at most {words}; k of the linear networks: "
        f"{', '.join(f'{way}: {k}' for way, k in ks.items())}."
    )
    stays = max(apart.values()) <= TOLERANCE
    return Outcome("holds" if stays and len(set(ks.values())) > 1 else "does not hold", summary)


EXPERIMENT = Experiment(
    name="similarity",
    conclusion="the input-output map stays, with ReLU for positive diagonal T; the norm of W does "
    "not (Emami et al.)",
    rule=f"it holds if outputs of linear and ReLU networks stay within {TOLERANCE:g} of their size "
    "in float64 for every T, and the certified k of linear networks does not stay the same.",
    setting=engine.make_setting(states=8, conditions=(1.0, 10.0, 100.0, 10000.0)),
    units=lambda s: all_units(s, [TASK], CASES, [f"cond T = {c:g}" for c in s.conditions]),
    work=run_unit,
    judge=judge_runs,
)
