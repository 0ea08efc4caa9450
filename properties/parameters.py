"""The numbers that a spec gives, by the names of the vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from properties.regimes import Array

if TYPE_CHECKING:
    from properties.system import Batch

# The parameters that only members of exact kinds have.
OF_EXACT = ("states", "w_abs", "same_activation", "sigmoidal", "driven")


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
    if spec.kind == "training":
        numbers["alpha"] = batch.step_size
    with np.errstate(all="ignore"):
        reach = batch.constant("S_0").hi / (1 - batch.constant("lam").hi)
        target = np.where(np.isfinite(reach) & (reach > 0), spec.epsilon * reach, 0.0)
    return numbers | {"epsilon": target} | of_exact(batch)


def of_exact(batch: Batch) -> dict[str, Array]:
    """What the exact members add to the parameters, (B, 1, 1) each; NaN where they do not."""
    given = [member.parameters() for member in batch.exact]
    rows = {name: [one.get(name, np.nan) for one in given] or [np.nan] for name in OF_EXACT}
    return {name: np.array(row).reshape(-1, 1, 1) for name, row in rows.items()}


def quadratic(batch: Batch, name: str) -> Array:
    """The constants of p(w) = −βw²/2 and p^k(w) = p(w) + εw, given by the spec; they have no
    others but a factor λ."""
    spec = batch.spec
    given = {"beta": spec.lam, "eps_k": spec.epsilon, "lam": 0.5}
    value = np.full((len(spec.members), 1, 1), given.get(name, np.inf))
    return np.repeat(value, batch.K + 1, axis=2) if name == "eps_k" else value
