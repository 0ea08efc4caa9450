"""``rnnbounds experiment similarity``: what W → TWT⁻¹ changes, and what it does not."""

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor

from rnnbounds.experiments.engine.common import seeded_generator
from rnnbounds.experiments.engine.experiment import Experiment, Job, Unit, all_units
from rnnbounds.experiments.engine.record import Outcome, Run, Setting, summarise
from rnnbounds.experiments.engine.scores import figure_or_inf, select_runs
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert.urnn import polar
from rnnbounds.reports.pages.text import error_text

TASK, BOUND = "random contractive networks", 1.0
CASES: Mapping[str, tuple[str, bool]] = {
    "linear, any T": ("linear", False),
    "ReLU, diagonal T > 0": ("rnn-relu", True),
    "tanh, diagonal T > 0": ("rnn-tanh", True),
}
INVARIANT_CASES = ("linear, any T", "ReLU, diagonal T > 0")  # whose outputs theory says stay
LENGTH, ROWS = 50, 16
TOLERANCE = 1e-6  # of the outputs' size: what float64 leaves of an equality, up to cond T = 10⁴
RHO = {"linear": lambda z: z, "rnn-relu": torch.relu, "rnn-tanh": torch.tanh}


class Sizes(Setting, frozen=True, kw_only=True):
    """Networks of `states` units, ‖W‖₂ = `norm`; T of each of these conditions."""

    states: int = 8
    norm: float = 0.8
    conditions: tuple[float, ...] = (1.0, 10.0, 100.0, 10000.0)
    epsilon: float = 1e-2


def list_units(setting: Sizes) -> list[Unit]:
    """Every cell, condition of T and seed."""
    conditions = [f"cond T = {condition:g}" for condition in setting.conditions]
    return all_units([TASK], CASES, conditions, setting.each_seed)


def run_unit(job: Job[Sizes]) -> Iterable[Run]:
    """Draw, transform, certify, compare."""
    s, (cell, diagonal) = job.setting, CASES[job.unit.model]
    condition = float(job.unit.variant.split()[-1])
    n, generator = s.states, seeded_generator(job.unit.seed)
    draw = {
        name: torch.randn(n, m, generator=generator).double() for name, m in (("W", n), ("U", 2))
    }
    W = s.norm * draw["W"] / torch.linalg.matrix_norm(draw["W"], 2)
    b, C = (
        torch.randn(n, generator=generator).double() / 4,
        torch.randn(1, n, generator=generator).double(),
    )
    stretch = torch.logspace(0, 1, n, base=condition).double() / condition**0.5
    turn = [polar(torch.randn(n, n, generator=generator).double()) for _ in range(2)]
    T = stretch.diag() if diagonal else turn[0] @ stretch.diag() @ turn[1]
    back = (1 / stretch).diag() if diagonal else turn[1].mT @ (1 / stretch).diag() @ turn[0].mT
    original = {"W": W, "U": draw["U"], "b": b, "C": C}
    other = {"W": T @ W @ back, "U": T @ draw["U"], "b": T @ b, "C": C @ back}
    x = torch.randn(ROWS, LENGTH, 2, generator=generator).double()
    x = x / torch.linalg.vector_norm(x, dim=2, keepdim=True)
    single = [
        {name: part.float() for name, part in weights.items()} for weights in (original, other)
    ]
    exact, rounded = (
        [run_outputs(weights, x.to(weights["W"].dtype), cell).double() for weights in networks]
        for networks in ((original, other), single)
    )
    size = float(exact[0].abs().max())
    stored = {"weight_hh": other["W"], "weight_ih": other["U"], "bias_ih": other["b"]}
    certificate = certify(stored, BOUND, s.epsilon, cell=cell)
    eigenvalues = torch.linalg.eigvals(other["W"])
    yield job.make_run(
        {
            "outputs apart, float64": float((exact[0] - exact[1]).abs().max()) / size,
            "outputs apart, float32": float((rounded[0] - rounded[1]).abs().max()) / size,
            "‖TWT⁻¹‖₂": float(torch.linalg.matrix_norm(other["W"], 2)),
            "spectral radius": float(eigenvalues.abs().max()),
            "certified rounding of states": certificate.rounding,
        },
        certificate=summarise(certificate, s.epsilon),
        notes={"norm": certificate.norm},
    )


def run_outputs(weights: Mapping[str, Tensor], x: Tensor, cell: str) -> Tensor:
    """C h_t from the zero state."""
    h, path = x.new_zeros(len(x), len(weights["b"])), []
    for now in x.unbind(1):
        h = RHO[cell](h @ weights["W"].mT + now @ weights["U"].mT + weights["b"])
        path.append(h @ weights["C"].mT)
    return torch.stack(path)


def judge_runs(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """Outputs stay where theory says so, and only there; certificates go."""
    differences = {
        case: max(
            figure_or_inf(run, "outputs apart, float64") for run in select_runs(runs, model=case)
        )
        for case in CASES
    }
    stays = all(differences[case] <= TOLERANCE for case in INVARIANT_CASES)
    ks = {}
    for variant in dict.fromkeys(run.variant for run in runs):
        some = [
            run.certificate for run in select_runs(runs, model=INVARIANT_CASES[0], variant=variant)
        ]
        lengths = [
            certificate.k
            for certificate in some
            if certificate is not None and certificate.k is not None
        ]
        ks[variant] = f"{max(lengths)}" if len(lengths) == len(some) else "not certified"
    summary = (
        "Outputs in float64 differ, relatively, by at most "
        f"{', '.join(f'{error_text(value)} ({case})' for case, value in differences.items())}; "
        f"k of the linear networks: "
        f"{', '.join(f'{certificate}: {k}' for certificate, k in ks.items())}."
    )
    changed = len(set(ks.values())) > 1
    return Outcome("holds" if stays and changed else "does not hold", summary)


EXPERIMENT = Experiment(
    name="similarity",
    title="A change of the states’ basis",
    question=(
        "W → TWT⁻¹, U → TU, b → Tb, C → CT⁻¹ is the same network in another basis. What of it is "
        "the same for a user: outputs, λ, the certified window, rounding? Certificates are about "
        "states, in the basis that the network has."
    ),
    conclusion=(
        "the input-output map stays, with ReLU for positive diagonal T; the norm of W does not"
    ),
    source="Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs, poster",
    rule=(
        f"it holds if outputs of linear and ReLU networks stay within {TOLERANCE:g} of their size "
        f"in float64 for every T, and the certified k of linear networks does not stay the same."
    ),
    setting=Sizes(),
    units=list_units,
    work=run_unit,
    judge=judge_runs,
)
