"""Diagonal norms in which gated cells contract, by multipliers for the ranges of their gates.

Two runs of unit j under the same inputs differ by numbers v ∈ ℝᴷ that are linear in the difference
Δ of their states, v_j = E_j Δ, and by y ∈ ℝᴹ with y_m = α_m (G v̂)_m for v̂ = (v, y) and a number α_m
in [l_m, u_m], which is a gate, or a product of gates, states and slopes between two runs. What
comes next is linear in them, Δ⁺_r = (O v̂)_r. Since (y_m − l_m q)(u_m q − y_m) ≥ 0 for q = (G v̂)_m,
for all multipliers τ ≥ 0

    Σ_r p_r (Δ⁺_r)² ≤ v̂ᵀ Q v̂,    Q = Σ_r p_r O_rᵀO_r + Σ_m τ_m sym (y_m − l_m q)(u_m q − y_m),

and where the block Q_yy is negative definite this is at most vᵀ S v, S = Q_vv − Q_vy Q_yy⁻¹ Q_yv.
So a step contracts by λ in ‖(d_i s_i)‖₂ with d_i² = p_i if λ²P − Σ_j E_jᵀ S_j E_j ⪰ 0, which sees
the signs of the weights and that one gate acts on several numbers. The program of
`impl.norms.solver.server` proposes P and τ; λ is the least number found for which the matrices are
proved definite in balls. Sources: Boyd et al., Linear Matrix Inequalities, sections 2 and 5;
Megretski & Rantzer (1997) for multipliers of intervals.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from flint import arb, arb_mat, ctx

from rnnbounds.impl.norms.solver.client import SOLVER
from rnnbounds.impl.numbers.spectra.definite import positive_definite

_PROGRAMS = 12
_CONVERGED = 1 - 1e-3
_FLOOR = 1e-9
_PRECISION = 128
_MARGINS = (1e-10, 1e-8, 1e-6, 1e-4)  # by which λ may exceed what floats say

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GateSystem:
    """E (n, K, N), G (M, K + M), O (R, K + M) with N = R n, Δ⁺_{rn+j} being output r of unit j; the
    ranges low and high (n, M). All are floats that stand for themselves."""

    E: Array
    G: Array
    O: Array
    low: Array
    high: Array

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """n, K, N and M."""
        n, K, N = self.E.shape
        return n, K, N, len(self.G)


@dataclass(frozen=True, eq=False)
class GateNorm:
    """‖(d_i s_i)‖₂ for d (N,), the multipliers τ (n, M) and the factor λ; infinite if none is
    proved."""

    d: Array
    multipliers: Array
    factor: float


@np.errstate(all="ignore")
def gate_norm(system: GateSystem, start: Array, rate: float) -> GateNorm:
    """The norm with the least factor that the programs find, from the weights start (N,) and above
    that rate, which is best not too small.

    Raises MissingSolverError, and UnansweredError if the solver's process ends before its answer.
    """
    n, _, N, M = system.sizes
    best = GateNorm(np.ones(N), np.ones((n, M)), math.inf)
    d = start / start.max()
    for _ in range(_PROGRAMS):
        if not (0 < rate < math.inf and np.isfinite([system.low, system.high]).all()):
            break
        scaled = d.reshape(-1, n).T  # of the outputs of each unit
        P, multipliers = SOLVER.gate_program(
            system.E / d, system.G, system.O, scaled, system.low, system.high, rate**2, _FLOOR
        )
        new = d * np.sqrt(np.maximum(P, _FLOOR))
        multipliers = np.maximum(multipliers / new.max() ** 2, np.finfo(float).tiny)
        new /= new.max()
        found = GateNorm(new, multipliers, factor_in_floats(system, new, multipliers))
        converged = found.factor > _CONVERGED * best.factor
        if found.factor < best.factor:
            best = found
        if converged or not found.factor < math.inf:
            break
        d, rate = best.d, best.factor
    return GateNorm(best.d, best.multipliers, certified_factor(system, best))


def factor_in_floats(system: GateSystem, d: Array, multipliers: Array) -> float:
    """The least λ for these weights and multipliers, about; infinite where Q_yy is not definite."""
    n, K, N, _ = system.sizes
    total = np.zeros((N, N))
    try:
        for j in range(n):
            Q = _form(system, j, d[j::n] ** 2, multipliers[j])
            root = np.linalg.cholesky(-Q[K:, K:])
            half = np.linalg.solve(root, Q[K:, :K])
            E = system.E[j] / d
            total += E.T @ (Q[:K, :K] + half.T @ half) @ E
        return float(np.sqrt(np.linalg.eigvalsh(total)[-1]))
    except np.linalg.LinAlgError:
        return math.inf


def _form(system: GateSystem, j: int, p: Array, tau: Array) -> Array:
    """Q of unit j."""
    y = np.eye(system.G.shape[1])[-len(system.G) :]
    left = y - system.low[j][:, None] * system.G
    right = system.high[j][:, None] * system.G - y
    products = (left * tau[:, None]).T @ right
    found: Array = (system.O * p[:, None]).T @ system.O + (products + products.T) / 2
    return found


def certified_factor(system: GateSystem, found: GateNorm) -> float:
    """A λ near the factor in floats for which the inequalities are proved; infinity if none is."""
    if not found.factor < math.inf:
        return math.inf
    n, K, N, M = system.sizes
    with ctx.workprec(_PRECISION):
        O, G = arb_mat(system.O.tolist()), arb_mat(system.G.tolist())
        y = arb_mat([[arb(int(c == K + m)) for c in range(K + M)] for m in range(M)])
        total = arb_mat(N, N)
        for j in range(n):
            p = _diagonal([arb(a) ** 2 for a in found.d[j::n].tolist()])
            low, high, tau = (
                _diagonal(list(map(arb, part[j].tolist())))
                for part in (system.low, system.high, found.multipliers)
            )
            product = (y - low * G).transpose() * tau * (high * G - y)
            Q = O.transpose() * p * O + (product + product.transpose()) / 2
            rows = Q.tolist()
            inner = -arb_mat([row[K:] for row in rows[K:]])
            side = arb_mat([row[:K] for row in rows[K:]])
            if not positive_definite(inner):
                return math.inf
            S = arb_mat([row[:K] for row in rows[:K]]) + side.transpose() * inner.solve(side)
            E = arb_mat(system.E[j].tolist())
            total += E.transpose() * S * E
        P = _diagonal([arb(a) ** 2 for a in found.d.tolist()])
        for margin in _MARGINS:
            lam = found.factor * (1 + margin)
            if positive_definite(arb(lam) ** 2 * P - total):
                return lam
    return math.inf


def _diagonal(values: list[arb]) -> arb_mat:
    n = len(values)
    return arb_mat([[v if i == j else arb(0) for j in range(n)] for i, v in enumerate(values)])
