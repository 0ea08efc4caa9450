"""``rnnbounds experiment norms``: which norms certify RNNs that the spectral norm does not.

Random RNNs with ‖W‖₂ between 1 and 1.3, each of which contracts in some diagonal norm, are
certified in every norm by itself and by the search among all of them; LSTMs and GRUs, random and
trained, also by conditions of the control literature. Source: Miller & Hardt, section 2, where the
spectral norm is the criterion; `rnnbounds.experiments.stable.published` for the others.
"""

from collections.abc import Iterable

from rnnbounds.experiments.engine.experiment import Experiment, Job, LoadedData, Unit
from rnnbounds.experiments.engine.record import Run, summarise
from rnnbounds.experiments.stable.gated_cells import DRAWN, EDGE, TRAINED, draw_weights, train_layer
from rnnbounds.experiments.stable.norms_drawn import Sizes, draw_planted
from rnnbounds.experiments.stable.norms_told import (
    AUTO,
    GRUS,
    LSTMS,
    NORM,
    PLANTED,
    RNNS,
    extra_sections,
    judge_runs,
)
from rnnbounds.experiments.stable.published import (
    BOUNDED,
    CONDITIONS,
    DIAGONAL,
    damico_condition,
    state_bound_factor,
)
from rnnbounds.impl.arithmetic.inputs.sets import input_box
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.cells.vanilla import norm_data_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.norms.semidefinite import available_norms, reason_to_omit
from rnnbounds.impl.norms.state_norms import state_norm
from rnnbounds.impl.norms.weighted import diagonal_norm
from rnnbounds.impl.numbers.outward import mul_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm
from rnnbounds.impl.reading.adapters import load_model

CELL, CHO = "rnn-tanh", "Cho’s GRU"


def load_data(setting: Sizes, data: str | None) -> LoadedData:
    """Nothing; the norms that are left out, and why."""
    reasons = {name: reason_to_omit(name, setting.most) for name in kind_of(CELL).norms}
    omitted = {f"{name} was not tried": why for name, why in reasons.items() if why is not None}
    return LoadedData(None, omitted)


def list_units(setting: Sizes) -> list[Unit]:
    """The RNNs, then as many LSTMs and GRUs."""
    random = [Unit(RNNS, "tanh RNN", "drawn", seed) for seed in setting.each_seed]
    return random + [
        _gated_unit(task, seed) for task in (LSTMS, GRUS) for seed in setting.each_seed
    ]


def _gated_unit(task: str, seed: int) -> Unit:
    """A quarter are trained, a quarter drawn, half on the edge of a condition; every other GRU that
    is not trained is Cho's."""
    way, turn = seed % 4, seed // 4
    variant = (TRAINED[turn % len(TRAINED)], DRAWN, EDGE, EDGE)[way]
    return Unit(task, CHO if task == GRUS and way and turn % 2 else task, variant, seed)


def run_unit(job: Job[Sizes]) -> Iterable[Run]:
    """One system in every norm and by every condition, and in the norm that the search chooses."""
    yield random_run(job) if job.unit.task == RNNS else gated_run(job)


def random_run(job: Job[Sizes]) -> Run:
    """One RNN."""
    setting, planted_network = job.setting, draw_planted(job.setting, job.unit.seed)
    loaded = load_model({"weight_hh": planted_network.W, "weight_ih": planted_network.U}, CELL)
    cell_parts = norm_data_of(loaded, setting.input_bound)
    figures: dict[str, float | None] = {NORM: float(certified_norm(cell_parts.W))}
    planted = diagonal_norm(cell_parts.W, planted_network.d[None]).factor
    figures[PLANTED] = float(mul_up(cell_parts.slope, planted))
    for name in available_norms(kind_of(CELL).norms, setting.most):
        norm = state_norm(name, cell_parts)
        figures[f"λ, {name}"] = norm.lam
        figures[f"k, {name}"] = norm.window(setting.epsilon) if norm.lam < 1 else None
    chosen = certify(loaded, setting.input_bound, (setting.epsilon,))
    W, U, d = (part.numpy() for part in (planted_network.W, planted_network.U, planted_network.d))
    answer = damico_condition(W, U, d, setting.input_bound, setting.epsilon)
    return _make_run(job, figures | _norm_figures(DIAGONAL, answer.lam, answer.k), chosen)


def gated_run(job: Job[Sizes]) -> Run:
    """One LSTM or GRU."""
    setting, unit = job.setting, job.unit
    cell = {LSTMS: "lstm", GRUS: "gru", CHO: "gru-cho"}[unit.model]
    if unit.variant in TRAINED:
        span = setting.most - setting.least + 1
        layer = train_layer(job, setting.least + unit.seed % span)
        weights = {name.removesuffix("_l0"): part.detach().cpu().double()
                   for name, part in layer.named_parameters()}  # fmt: skip
        loaded = load_model(layer)
    else:
        size = (setting.least, setting.most)
        weights = draw_weights(cell, unit.variant == EDGE, unit.seed, size, setting.inputs)
        loaded = load_model(weights, cell)
    chosen = certify(loaded, input_box(-1.0, 1.0, loaded.d), (setting.epsilon,))
    figures: dict[str, float | None] = {}
    for name, lam, k in chosen.tried:
        figures |= _norm_figures(name, lam, k)
    plain = {role: part.numpy() for role, part in weights.items()}
    for condition in CONDITIONS[cell]:
        answer = condition.evaluate(plain, setting.epsilon)
        figures |= _norm_figures(condition.name, answer.lam, answer.k)
    if cell == "lstm":
        figures[BOUNDED] = state_bound_factor(plain)
    return _make_run(job, figures, chosen)


def _norm_figures(name: str, lam: float, k: int | None) -> dict[str, float | None]:
    return {f"λ, {name}": lam, f"k, {name}": k if lam < 1 else None}


def _make_run(job: Job[Sizes], figures: dict[str, float | None], chosen: Certificate) -> Run:
    epsilon = job.setting.epsilon
    certified = chosen.verdict == "certified"
    return job.make_run(
        figures | {f"k, {AUTO}": chosen.window(epsilon) if certified else None},
        notes={"n": str(chosen.n), "chosen": chosen.norm},
        certificate=summarise(chosen, epsilon),
    )


EXPERIMENT = Experiment(
    name="norms",
    title="Beyond the spectral norm",
    question=(
        "Each random network is a tanh RNN without biases, W = D⁻¹(μM)D with ‖M‖₂ = 1, μ < 1 and D "
        "diagonal, so that it contracts in ‖Dh‖₂ though ‖W‖₂ is above 1. Which norms find out? And "
        "of LSTMs and GRUs, a quarter of them trained, half of them as large as a published "
        "condition lets them be: does the search certify what the conditions do, and with no "
        "longer a memory? How often one succeeds on these says nothing about others."
    ),
    conclusion="what the spectral norm cannot certify, other norms can",
    source=(
        "this package; Miller & Hardt, section 2, has the spectral norm alone, and of gated cells "
        "there are Terzi et al. (2021), Bonassi et al. (2021) and others"
    ),
    rule=(
        "it holds if the spectral norm certifies none of the RNNs and the search among all norms "
        "all; that a condition certifies what the search does not, or with a shorter k, is a "
        "failure."
    ),
    setting=Sizes(),
    units=list_units,
    work=run_unit,
    judge=lambda runs, setting: judge_runs(runs, setting.norms),
    load=load_data,
    sections=extra_sections,
    packages=("clarabel",),
)
