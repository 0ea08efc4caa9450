"""``rnnbounds experiment data-stability``: do nominally unstable models contract on their data?"""

from collections.abc import Iterable, Sequence

from rnnbounds.experiments.engine.experiment import Job
from rnnbounds.experiments.engine.figures import Chart
from rnnbounds.experiments.engine.record import Outcome, Run, make_curve, summarise
from rnnbounds.experiments.engine.scores import figure_or_inf, worst_text
from rnnbounds.experiments.stable import trained
from rnnbounds.experiments.stable.trained import Sizes
from rnnbounds.impl.memory.measure import measure

LENGTH = 64
EXPONENT, RATIO = "exponent, greatest", "ratio of a step, greatest"


def run_unit(job: Job[Sizes]) -> Iterable[Run]:
    """One network on its held-out data."""
    model, task, certificate = trained.train_network(job)
    vectors, _ = trained.held_out_windows(model, task, LENGTH)
    measurement = measure(model.core, vectors.numpy())
    steps, observed = measurement.local, measurement.seen
    products = steps.products.quantile(0.5, dim=0), steps.products.amax(0)
    figures = {
        "‖J‖ of a step, median": steps.norms.median(),
        "‖J‖ of a step, greatest": steps.norms.amax(),
        "exponent, mean": steps.exponents.mean(),
        EXPONENT: steps.exponents.amax(),
        RATIO: observed.ratio.amax(),
        "k at ε = 0.01, seen": measurement.window(1e-2),
        "windows differentiated": len(steps.exponents),
    }
    curves = {
        name: make_curve(measurement.ks, product.tolist())
        for name, product in zip(("median", "greatest"), products, strict=True)
    }
    curves["gap"] = make_curve(measurement.ks, observed.gaps.amax(0).tolist())
    summary = summarise(certificate, job.setting.epsilon)
    yield job.make_run(figures, curves, certificate=summary)


def judge_runs(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """Which of the models that are not certified do not contract along their data."""
    nominal = [run for run in runs if not is_certified(run)]
    if not nominal:
        return Outcome("undecided", "Every network is certified: none is nominally unstable.")
    holds, count, missed = trained.tally_seeds(
        nominal, lambda run: (run.figures[EXPONENT] or 0.0) < 0
    )
    # A ratio that is not known is one of distances beyond all floats: they grew.
    grew = sum(figure_or_inf(run, RATIO) >= 1 for run in nominal)
    steps = f"in {grew} of them a step took two states apart" if grew else "no step of them did"
    summary = (
        f"Of {len(runs)} networks {len(nominal)} are certified in no norm; along held-out data the "
        f"Lyapunov exponent of {count} of these is below 0 in every window (greatest a step: "
        f"{worst_text(nominal, EXPONENT)}); {steps}.{missed}"
    )
    return Outcome(holds, summary)


def is_certified(run: Run) -> bool:
    """True if the network is certified as stable for all inputs."""
    return run.certificate is not None and run.certificate.verdict == "certified"


EXPERIMENT = trained.make_experiment(
    name="data-stability",
    title="Contraction of uncertified models along their data",
    question=(
        "A network that is certified in no norm may still forget on the inputs that it meets. "
        f"Windows of {LENGTH} held-out inputs are run from the zero state, and the Jacobians J of "
        "their steps multiplied: an observation of these windows, no bound."
    ),
    conclusion="models that are trained freely operate in the stable regime on their data",
    source="Miller & Hardt, Stable Recurrent Models, section 4, data-dependent stability",
    rule=(
        "it holds if of every network that is not certified the Lyapunov exponent, the mean log "
        "growth of a step, is below 0 in every window whose steps were differentiated. "
        + trained.RULE
    ),
    work=run_unit,
    judge=judge_runs,
    charts=(
        Chart(
            title="Greatest norm of a product of k steps",
            curves=("greatest",),
            x="steps k",
            y="‖product of k J‖₂",
            caption="Over the windows whose steps were differentiated.",
            log_y=True,
        ),
        Chart(
            title="Greatest gap of states that see the last k inputs alone",
            curves=("gap",),
            x="inputs k",
            y="‖h − hᵏ‖₂",
            log_y=True,
        ),
    ),
)
