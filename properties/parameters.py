"""The numbers that a spec gives, by the names of the vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from properties.causal.model import stated_fields
from properties.kinds import CAUSAL
from properties.regimes import Array

if TYPE_CHECKING:
    from properties.system import Batch

# The parameters that only causal models have, and those that only members of exact kinds have.
FIELDS = ("R", "R_undilated", "R_widest", "R_halved", "R_overlap")
OF_EXACT = (
    "states", "w_abs", "same_activation", "sigmoidal", "driven",
    "depth", "isometric", "v_top", "mode_radius", "mode_real", "nilpotency", "log_concave",
)  # fmt: skip


def parameters(batch: Batch) -> dict[str, Array]:
    """Every parameter, along (batch, sequence, window); epsilon is a share of S_0/(1 − λ)."""
    spec = batch.spec
    plain = {
        "T": spec.T, "n": spec.n, "d": spec.d, "alpha": spec.alpha, "a_1": spec.lam,
        "N": spec.steps, "inverse_steps": spec.schedule == "inverse",
        "constant_steps": spec.schedule == "constant", "u": 2.0**-53,
    }  # fmt: skip
    numbers = {name: np.full((1, 1, 1), float(value)) for name, value in plain.items()}
    numbers |= {"k": batch.windows, "t": spec.T - batch.windows}
    if spec.kind == "training" or (batch.cells is not None and spec.steps):
        numbers["alpha"] = batch.step_size
    with np.errstate(all="ignore"):
        reach = reach_of(batch)
        target = np.where(np.isfinite(reach) & (reach > 0), spec.epsilon * reach, 0.0)
    return numbers | {"epsilon": target} | of_exact(batch) | of_causal(batch)


def reach_of(batch: Batch) -> Array:
    """S_0/(1 − λ), what any run of any length may forget; of a cell that of its output."""
    if batch.spec.kind in CAUSAL:
        return np.zeros((1, 1, 1))  # nothing runs
    names = ("S_0", "lam") if batch.cells is None else ("S_0_box", "lam_box")
    drive, lam = (batch.constant(name).hi for name in names)
    size = 1.0 if batch.cells is None else batch.constant("C_box").hi
    found: Array = size * drive / (1 - lam)
    return found


def of_exact(batch: Batch) -> dict[str, Array]:
    """What the exact members add to the parameters, (B, 1, 1) each; NaN where they do not."""
    given = [member.parameters() for member in batch.exact]
    rows = {name: [one.get(name, np.nan) for one in given] or [np.nan] for name in OF_EXACT}
    return {name: np.array(row).reshape(-1, 1, 1) for name, row in rows.items()}


def of_causal(batch: Batch) -> dict[str, Array]:
    """The receptive fields of causal models, and what they are mistaken for; NaN of others."""
    found = stated_fields(batch) if batch.spec.kind in CAUSAL else dict.fromkeys(FIELDS, np.nan)
    return {name: np.full((1, 1, 1), value) for name, value in found.items()}


def quadratic(batch: Batch, name: str) -> Array:
    """The constants of p(w) = −βw²/2 and p^k(w) = p(w) + εw, given by the spec; they have no
    others but a factor λ."""
    spec = batch.spec
    given = {"beta": spec.lam, "eps_k": spec.epsilon, "lam": 0.5}
    value = np.full((len(spec.members), 1, 1), given.get(name, np.inf))
    return np.repeat(value, batch.K + 1, axis=2) if name == "eps_k" else value
