"""``rnnbounds experiment norms``: which norms certify RNNs that the spectral norm does not.

Random RNNs with ‖W‖₂ between 1 and 1.3, each of which contracts in some diagonal norm, are
certified in every norm by itself and by the search among all of them. Source: Miller & Hardt,
section 2, where the spectral norm is the criterion.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

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
from rnnbounds.experiments.engine.common import chance, environment_of, prepare, publish
from rnnbounds.experiments.norms.page import page
from rnnbounds.experiments.norms.record import Method, Norms, Setting, System, problems

CELL = "rnn-tanh"
SYSTEMS = Setting().systems
_SPREAD = 64.0  # more than any spread of log-weights that is needed
_HALVINGS = 80


@dataclass(frozen=True, eq=False)
class Drawn:
    """W = D⁻¹ (μM) D with ‖M‖₂ = 1, the d of D, and U."""

    W: Tensor
    U: Tensor
    d: Tensor


def run(
    out: Path,
    *,
    seed: int = 0,
    instances: int = SYSTEMS,
    setting: Setting | None = None,
    advance: Callable[[str], None] = lambda label: None,
) -> Norms:
    """Draw and certify; write norms.json and index.html to `out`.

    `advance` is called once a system. Raises WriteError for a bad place before anything is done.
    """
    started = datetime.now(UTC)
    torch.set_num_threads(1)
    setting = replace(setting or Setting(), systems=instances)
    prepare(out)
    systems = []
    for index in range(setting.systems):
        systems.append(certified(draw(setting, seed, index), setting))
        advance(f"system {index + 1}")
    reason = left_out(setting.most)
    record = Norms(
        seed=seed,
        setting=setting,
        systems=tuple(systems),
        skipped={} if reason is None else {SOLVED: reason},
        environment=environment_of(started, "clarabel"),
    )
    record = replace(record, problems=problems(record))
    publish(out, "norms", record, page(record))
    return record


def draw(setting: Setting, seed: int, index: int) -> Drawn:
    """One system, whatever the others are.

    M has random singular vectors and singular values uniform in [q, 1], one of them 1, with q
    uniform in [0, 1]; log d is Gaussian, times the spread for which ‖W‖₂ is what was drawn. The
    spread is found by bisection from ‖μM‖₂ < 1, so that every norm above it is reached.
    """
    generator = chance(seed, index)

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


def certified(drawn: Drawn, setting: Setting) -> System:
    """One system in every norm, each by itself, and in the one that the search chooses."""
    loaded = load_model({"weight_hh": drawn.W, "weight_ih": drawn.U}, CELL)
    parts = parts_of(loaded, setting.input_bound)
    names = at_hand(kind_of(CELL).norms, setting.most)
    norms = {name: state_norm(name, parts) for name in names}
    chosen = certify(loaded, setting.input_bound, (setting.epsilon,))
    planted = diagonal_norm(parts.W, drawn.d[None]).factor
    return System(
        n=loaded.n,
        norm=float(certified_norm(parts.W)),
        planted=float(mul_up(parts.slope, planted)),
        methods={
            name: Method(
                norm.lam if math.isfinite(norm.lam) else None,
                norm.window(setting.epsilon) if norm.lam < 1 else None,
            )
            for name, norm in norms.items()
        },
        verdict=chosen.verdict,
        norm_name=chosen.norm,
        k=chosen.window(setting.epsilon),
    )
