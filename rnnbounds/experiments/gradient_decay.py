"""``rnnbounds experiment gradient-decay``: how gradients vanish in trained models."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from rnnbounds.experiments import networks
from rnnbounds.experiments.engine import Job, Outcome, Run, certified_figures, make_curve
from rnnbounds.experiments.networks import Network
from rnnbounds.experiments.trainer import TextTask
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.numbers.outward import mul_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm
from rnnbounds.impl.reading.adapters import load_model

LAGS = 64
FAR, SMALL = 32, 1e-2  # at this lag a gradient has vanished that is so small beside that of lag 0
CURVE = "‖∇p‖ in the input i steps before"
NAME = f"lag {FAR} against lag 0"
ROUNDING = 1e-9  # relative, more than a float64 adjoint over so few steps can lose


def run_unit(job: Job) -> Run:
    """One network: mean and greatest gradient at every lag."""
    model, task, certificate = networks.train_network(job)
    norms = input_gradients(model, task)
    mean, lags = norms.mean(0).tolist(), range(LAGS + 1)
    curves, figures = {CURVE: make_curve(lags, mean)}, {NAME: mean[FAR] / mean[0]}
    if certificate.verdict == "certified":
        bounds = certified_gradients(certificate, model)
        curves[f"{CURVE}, certified"] = make_curve(lags, bounds)
        lowered = [value * (1 - ROUNDING) for value in norms.amax(0).tolist()]
        figures[networks.BROKEN] = networks.count_broken(lowered, bounds, 0.0)
    return job.make_run(figures | certified_figures(certificate), curves)


def input_gradients(model: Network, task: TextTask) -> Tensor:
    """‖∂p_T/∂x_{T−i}‖₂ for i = 0 … LAGS, (M, LAGS + 1): p_T the loss at a window's last time."""
    vectors, y = networks.held_out_windows(model, task, networks.LENGTH)
    vectors = vectors.clone().requires_grad_()
    outputs = model.readout(model.core(vectors)[0][:, -1])
    (slopes,) = torch.autograd.grad(cross_entropy(outputs, y[:, -1], reduction="sum"), vectors)
    norms: Tensor = slopes.norm(dim=2)[:, -LAGS - 1 :].flip(1)
    return norms


def certified_gradients(certificate: Certificate, model: Network) -> list[float]:
    """√2 ‖C‖₂ C_* L λ^i, rounded up: the cross-entropy's gradient in the logits is at most √2, an
    input moves a state by L in the certificate's norm. Source: Miller & Hardt, section 3."""
    core = load_model(model.core)
    norm = kind_of(core.name).analyse(core, certificate.input_bound).norm(certificate.norm)
    reach = mul_up(norm.equivalence, norm.input_lipschitz)
    size = mul_up(math.nextafter(math.sqrt(2), 2), certified_norm(model.readout.weight[None]))
    return networks.powers_up(mul_up(reach, size), norm.lam, LAGS)


def judge_runs(runs: Sequence[Run], setting: Any) -> Outcome:
    """Conclude from the limit that all should keep."""
    words = f"have a mean gradient at lag {FAR} below {SMALL:g} of that at lag 0"
    return networks.judge_limit(runs, NAME, SMALL, words)


EXPERIMENT = networks.make_experiment(
    name="gradient-decay",
    conclusion="gradients of models that were trained freely vanish as those of stable ones do "
    "(Miller & Hardt, Stable Recurrent Models, section 4)",
    rule=f"it holds if in every network, stable or free, the mean gradient at lag {FAR} is at most "
    f"{SMALL:g} of that at lag 0. {networks.RULE}",
    work=run_unit,
    judge=judge_runs,
    x="lag i",
)
