"""``rnnbounds experiment similarity``: what W → TWT⁻¹ changes, and what it does not."""

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor

from rnnbounds.experiments.engine import Experiment, Job, all_units
from rnnbounds.experiments.record import Outcome, Run, Setting, select_runs, summarise
from rnnbounds.experiments.trainer import seeded_generator
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert.urnn import polar
from rnnbounds.reports.pages.text import error_text

CASES: Mapping[str, tuple[str, bool]] = {  # the cell, and whether T is diagonal
    "linear, any T": ("linear", False),
    "ReLU, diagonal T > 0": ("rnn-relu", True),
    "tanh, diagonal T > 0": ("rnn-tanh", True),
}
INVARIANT = ("linear, any T", "ReLU, diagonal T > 0")  # whose outputs theory says stay
TOLERANCE = 1e-6  # of the outputs' size: what float64 leaves of an equality, up to cond T = 10⁴
RHO = {"linear": lambda z: z, "rnn-relu": torch.relu, "rnn-tanh": torch.tanh}
APART = "outputs apart, float64"


class Sizes(Setting, frozen=True, kw_only=True):
    """Networks of `states` units, ‖W‖₂ = `norm`; T of each of these conditions."""

    states: int = 8
    norm: float = 0.8
    conditions: tuple[float, ...] = (1.0, 10.0, 100.0, 10000.0)
    epsilon: float = 1e-2


def run_unit(job: Job) -> Iterable[Run]:
    """Draw, transform, certify, compare."""
    s, (cell, diagonal) = job.setting, CASES[job.unit.model]
    n, condition = s.states, float(job.unit.variant.split()[-1])
    generator = seeded_generator(job.unit.seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator).double()

    W, U, b, C = normal(n, n), normal(n, 2), normal(n) / 4, normal(1, n)
    W = s.norm * W / torch.linalg.matrix_norm(W, 2)
    stretch = torch.logspace(0, 1, n, base=condition).double() / condition**0.5
    left, right = (torch.eye(n).double() if diagonal else polar(normal(n, n)) for _ in range(2))
    T, back = left @ stretch.diag() @ right, right.mT @ (1 / stretch).diag() @ left.mT
    networks = (W, U, b, C), (T @ W @ back, T @ U, T @ b, C @ back)
    x = normal(16, 50, 2)
    x = x / torch.linalg.vector_norm(x, dim=2, keepdim=True)
    exact = [run_outputs(weights, x, cell) for weights in networks]
    rounded = [
        run_outputs([p.float() for p in some], x.float(), cell).double() for some in networks
    ]
    size = float(exact[0].abs().max())
    other = networks[1]
    stored = {"weight_hh": other[0], "weight_ih": other[1], "bias_ih": other[2]}
    certificate = certify(stored, 1.0, s.epsilon, cell=cell)
    yield job.make_run(
        {
            APART: float((exact[0] - exact[1]).abs().max()) / size,
            "outputs apart, float32": float((rounded[0] - rounded[1]).abs().max()) / size,
            "‖TWT⁻¹‖₂": torch.linalg.matrix_norm(other[0], 2),
            "spectral radius": torch.linalg.eigvals(other[0]).abs().max(),
            "certified rounding of states": certificate.rounding,
        },
        certificate=summarise(certificate, s.epsilon),
    )


def run_outputs(weights: Sequence[Tensor], x: Tensor, cell: str) -> Tensor:
    """C h_t from the zero state."""
    W, U, b, C = weights
    h, path = x.new_zeros(len(x), len(b)), []
    for now in x.unbind(1):
        h = RHO[cell](h @ W.mT + now @ U.mT + b)
        path.append(h @ C.mT)
    return torch.stack(path)


def judge_runs(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """Outputs stay where theory says so; certificates go."""
    apart = {
        case: max(run.figures[APART] or 0.0 for run in select_runs(runs, model=case))
        for case in CASES
    }
    ks: dict[str, set[int | None]] = {}
    for run in select_runs(runs, model=INVARIANT[0]):
        ks.setdefault(run.variant, set()).add(run.certificate.k if run.certificate else None)
    texts = {way: "not certified" if None in some else f"{max(some)}" for way, some in ks.items()}  # type: ignore[type-var]
    summary = (
        "Outputs in float64 differ, relatively, by at most "
        f"{', '.join(f'{error_text(value)} ({case})' for case, value in apart.items())}; "
        f"k of the linear networks: {', '.join(f'{way}: {k}' for way, k in texts.items())}."
    )
    stays = all(apart[case] <= TOLERANCE for case in INVARIANT)
    changed = len(set(texts.values())) > 1
    return Outcome("holds" if stays and changed else "does not hold", summary)


EXPERIMENT = Experiment(
    name="similarity",
    title="A change of the states' basis",
    question="W → TWT⁻¹, U → TU, b → Tb, C → CT⁻¹ is the same network in another basis. What of it "
    "is the same for a user: outputs, λ, the certified window, rounding? Certificates are about "
    "states, in the basis that the network has.",
    conclusion="the input-output map stays, with ReLU for positive diagonal T; the norm of W does "
    "not",
    source="Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs, poster",
    rule=f"it holds if outputs of linear and ReLU networks stay within {TOLERANCE:g} of their size "
    "in float64 for every T, and the certified k of linear networks does not stay the same.",
    setting=Sizes(),
    units=lambda setting: all_units(
        ["random contractive networks"], CASES,
        [f"cond T = {condition:g}" for condition in setting.conditions], setting.each_seed,
    ),
    work=run_unit,
    judge=judge_runs,
)  # fmt: skip
