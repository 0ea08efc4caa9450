"""``rnnbounds experiment data-stability``: do nominally unstable models contract on their data?"""

import math
from collections.abc import Sequence
from typing import Any

from rnnbounds.experiments import engine, networks
from rnnbounds.experiments.engine import Job, Outcome, Run
from rnnbounds.impl.memory.measure import measure_cell
from rnnbounds.impl.reading.adapters import load_model

LENGTH = 64
EXPONENT = "exponent, greatest"


def run_unit(job: Job) -> Run:
    """One network on its held-out data."""
    model, task, certificate = networks.train_network(job)
    vectors, _ = networks.held_out_windows(model, task, LENGTH)
    measurement = measure_cell(load_model(model.core), vectors.numpy())
    steps, observed = measurement.local, measurement.seen
    figures = {
        EXPONENT: steps.exponents.amax(),
        "‖J‖ of a step, greatest": steps.norms.amax(),
        "k at ε = 0.01, seen": measurement.window(1e-2),
    }
    curves = {
        "‖product of k J‖₂, greatest": engine.make_curve(
            measurement.ks, steps.products.amax(0).tolist()
        ),
        "‖h − hᵏ‖₂, greatest": engine.make_curve(measurement.ks, observed.gaps.amax(0).tolist()),
    }
    return job.make_run(figures | engine.certified_figures(certificate), curves)


def judge_runs(runs: Sequence[Run], setting: Any) -> Outcome:
    """Which of the models that are not certified do not contract along their data."""
    nominal = [run for run in runs if run.figures[engine.LAM] is None]
    if not nominal:
        return Outcome("undecided", "Every network is certified: none is nominally unstable.")
    words = "that are certified in no norm have a Lyapunov exponent below 0 in every window"
    return networks.judge_limit(nominal, EXPONENT, -math.ulp(0.0), words)


EXPERIMENT = networks.make_experiment(
    name="data-stability",
    conclusion="models that are trained freely operate in the stable regime on their data (Miller "
    "& Hardt, Stable Recurrent Models, section 4)",
    rule="it holds if of every network that is not certified the Lyapunov exponent, the mean log "
    f"growth of a step, is below 0 in every window that was differentiated. {networks.RULE}",
    work=run_unit,
    judge=judge_runs,
)
