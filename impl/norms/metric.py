"""Dense quadratic norms in which cells with restricted slopes contract, by matrix inequalities.

Slopes of ρ lie in [m, L]. Two runs of s⁺ = κ∘s + ρ(Ws + …) differ by δ⁺ = Aδ + y, A = diag(κ) + mW,
where y_i = e_i (Wδ)_i with 0 ≤ e_i ≤ ℓ = L − m, so that Σ_i Λ_i y_i (ℓ(Wδ)_i − y_i) ≥ 0 for every
Λ ≥ 0. Hence ‖Qδ⁺‖₂ ≤ λ‖Qδ‖₂ for P = QᵀQ if

    [ λ²P − AᵀPA     −AᵀP − ℓWᵀΛ ]
    [ −PA − ℓΛW       2Λ − P     ]  ⪰  0,

a norm that need not be diagonal. For ℓ fixed and P near I in the coordinates of the norm before it,
a semidefinite program makes the margin of the upper left block largest, until it is 0 (Dinkelbach).
What the solver says is a proposal: λ is the least number found for which the matrix is proved
positive definite in balls. Sources: Revay, Wang & Manchester, Recurrent Equilibrium Networks
(2021), with E = I; Boyd et al., Linear Matrix Inequalities, section 2.

The solver Clarabel of semidefinite programs, within limits of size, of steps and of time.

With one thread and its steps counted an answer is the same on every machine: the time is a guard.
An answer is a proposal, which `impl.norms.metric` proves in balls.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import arb, arb_mat, ctx

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.norms.norm_data import NormData
from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.spectra.exact_norm import positive_definite

METRIC_SDP = "quadratic-sdp"  # the norm that needs the solver
MISSING = f"the norm {METRIC_SDP} needs clarabel; install it with: pip install 'rnnbounds[sdp]'"
LARGEST, FAST = 32, 10  # states by name, and those that take a second at most
STEPS = 200  # of the interior point method; what is solved takes a tenth
SECONDS = 60.0  # for a program, several times what one of LARGEST states takes

Array = npt.NDArray[np.float64]


class UnansweredError(InputError):
    """The solver gave up, for a reason in its own words."""

    def __init__(self, status: str) -> None:
        super().__init__(
            f"the solver of the norm {METRIC_SDP} gave up ({status}); choose another norm"
        )


def is_installed() -> bool:
    """True if Clarabel can be imported."""
    return find_spec("clarabel") is not None


def available_norms(norms: Iterable[str], n: int) -> tuple[str, ...]:
    """The norms that a search tries at n states: the solver's only if it is usable."""
    return tuple(norm for norm in norms if reason_to_omit(norm, n) is None)


def reason_to_omit(norm: str, n: int) -> str | None:
    """The reason why a search at n states omits a norm; None if it does not."""
    if norm != METRIC_SDP:
        return None
    if not is_installed():
        return MISSING
    if n <= FAST:
        return None
    return f"{n} states take the solver long; ask for it by name"


def largest_margin(forms: Array, trace: Array) -> Array:
    """The y (m,) with the largest last entry for which Σ_i y_i forms_i ⪰ 0, forms (m, ·, ·), and
    trace·y = Σ trace for all but that one.

    Clarabel has it as the least −y_m with b − A y in a product of cones, a semidefinite matrix as
    the upper half of its columns with √2 off the diagonal. Raises InputError, and
    UnansweredError where it is not solved.
    """
    if not is_installed():
        raise InputError(MISSING)
    clarabel: Any = import_module("clarabel")
    sparse: Any = import_module("scipy.sparse")
    column, row = np.tril_indices(forms.shape[1])
    half = forms[:, row, column] * np.where(row == column, 1.0, np.sqrt(2.0))
    A = np.vstack([np.append(trace, 0.0)[None], -half.T])
    b = np.zeros(len(A))
    b[0] = trace.sum()
    cones = [clarabel.ZeroConeT(1), clarabel.PSDTriangleConeT(forms.shape[1])]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.max_iter, settings.time_limit = STEPS, SECONDS
    objective = np.append(np.zeros(len(trace)), -1.0)
    quadratic = sparse.csc_matrix((len(objective), len(objective)))
    solver = clarabel.DefaultSolver(quadratic, objective, sparse.csc_matrix(A), b, cones, settings)
    solution = solver.solve()
    if str(solution.status) not in ("Solved", "AlmostSolved"):
        raise UnansweredError(str(solution.status))
    return np.asarray(solution.x)


_PROGRAMS = 16
_CONVERGED = 1 - 1e-7
_FLOOR = 1e-9  # of the lower right block
_PRECISION = 128
_ROUNDED = 2.0**-52  # relative error of what was rounded once, and more
_MARGINS = (1e-12, 1e-10, 1e-8, 1e-6, 1e-4)  # by which λ may exceed what floats say

Proposal = tuple[Array, Array]  # P (n, n) and Λ (n,)


@dataclass(frozen=True, eq=False)
class SlopeSystem:
    """Differences δ⁺ = Aδ + y with y_i between 0 and ℓ(Wδ)_i: A, W (n, n) in floats, and in balls
    that hold the exact matrices."""

    A: Array
    W: Array
    span: float
    A_balls: arb_mat
    W_balls: arb_mat


def slope_system(p: NormData) -> SlopeSystem:
    """The system of a cell: vanilla, with its exact weights, or an echo-state network's, whose
    weights and κ were rounded once."""
    W = p.W[0].detach().cpu().numpy()
    least, n = max(p.least, -p.slope), len(W)
    kept = np.zeros(n) if p.retention is None else p.retention.cpu().numpy()
    with ctx.workprec(_PRECISION):
        spread = arb(0) if p.retention is None else arb(0, _ROUNDED)
        W_balls = arb_mat(
            [[arb(w) * (1 + spread) + _lost(w, spread) for w in row] for row in W.tolist()]
        )
        A_balls = arb(least) * W_balls
        for i, kappa in enumerate(kept.tolist()):
            A_balls[i, i] += arb(kappa) * (1 + spread)
        span = float_above(arb(p.slope) - arb(least))
    return SlopeSystem(np.diag(kept) + least * W, W, span, A_balls, W_balls)


def _lost(w: float, spread: arb) -> arb:
    """The loss of a product by underflow: none of an exact weight, or of 0."""
    return arb(0) if w == 0 or spread.is_zero() else arb(0, math.ulp(0.0))


@dataclass(frozen=True, eq=False)
class MetricNorm:
    """‖Qs‖₂ for Q (n, n), the multipliers Λ (n,) and the factor λ; infinite if none is proved."""

    Q: Array
    multipliers: Array
    factor: float


def metric_norm(
    system: SlopeSystem,
    d: Array,
    solver: Callable[[SlopeSystem, Array, float], Proposal] | None = None,
) -> MetricNorm:
    """The norm with the least factor that the programs find, from the diagonal weights d (n,).

    Raises InputError, and UnansweredError if the solver gives up on the first program.
    """
    propose = solver or _ask
    n, Q = len(system.W), np.diag(d / d.max())
    best = MetricNorm(np.eye(n), np.ones(n), np.inf)
    with np.errstate(all="ignore"):
        inverse = 1 / np.diag(Q)
        A, W = (np.diag(Q)[:, None] * M * inverse for M in (system.A, system.W))
        rate = float(np.linalg.norm(A, 2) + system.span * np.linalg.norm(W, 2))
        for _ in range(_PROGRAMS):
            if not 0 < rate < np.inf:
                break
            try:
                found = _candidate(system, *propose(system, Q, rate))
            except UnansweredError:
                if not best.factor < np.inf:
                    raise
                break
            if not found.factor < best.factor:
                break
            converged = found.factor > _CONVERGED * best.factor
            best, Q, rate = found, found.Q, found.factor
            if converged:
                break
    return replace(best, factor=certified_rate(system, best))


def certified_rate(system: SlopeSystem, found: MetricNorm) -> float:
    """A λ near the factor in floats for which the matrix inequality is proved; infinity if none
    is."""
    Q, multipliers, guess = found.Q, found.multipliers, found.factor
    numbers = np.concatenate([[guess], Q.flatten(), multipliers])
    if not (np.isfinite(numbers).all() and (multipliers >= 0).all()):
        return math.inf
    with ctx.workprec(_PRECISION):
        root, ell = arb_mat(Q.tolist()), arb(system.span)
        P = root.transpose() * root
        Lambda = arb_mat(np.diag(multipliers).tolist())
        corner = P * system.A_balls + ell * (Lambda * system.W_balls)
        lower = 2 * Lambda - P
        image = root * system.A_balls
        for margin in _MARGINS:
            lam = guess * (1 + margin)
            upper = arb(lam) ** 2 * P - image.transpose() * image
            if positive_definite(_joined(upper, corner, lower)):
                return lam
    return math.inf


def _ask(system: SlopeSystem, Q: Array, rate: float) -> Proposal:
    """The solver's P and Λ; raises InputError and UnansweredError."""
    inverse = np.linalg.inv(Q)
    A, W = Q @ system.A @ inverse / rate, system.span / rate * system.W @ inverse
    P, multipliers = _program(A, W, Q)
    return Q.T @ P @ Q, multipliers


def _program(A: Array, W: Array, Q: Array) -> Proposal:
    """P and Λ for λ = 1, ℓ = 1 and differences Q⁻¹u.

    The semidefinite matrix is that of the inequality with P in the coordinates of u, less s in the
    upper left block and a little in the other; tr P = n.
    """
    n = len(W)
    column, row = np.tril_indices(n)
    images, size = np.hstack([A, Q]), 2 * n
    units = np.zeros((len(row), n, n))
    units[np.arange(len(row)), row, column] = units[np.arange(len(row)), column, row] = 1.0
    forms = np.zeros((len(row) + n + 1, size, size))
    forms[: len(row)] = -(images.T @ units @ images)
    forms[: len(row), :n, :n] += units
    for i in range(n):
        form = forms[len(row) + i]
        form[n + i, :n] = form[:n, n + i] = -W[i]
        form[n + i, n + i] = 2.0
    forms[-1] = -np.diag(np.repeat([1.0, _FLOOR], n))
    found = largest_margin(forms, np.concatenate([(row == column).astype(float), np.zeros(n)]))
    return np.tensordot(found[: len(row)], units, 1), found[len(row) : -1]


def _candidate(system: SlopeSystem, P: Array, multipliers: Array) -> MetricNorm:
    """The norm with QᵀQ = P and Λ up to one scale, in which the largest entry of Q is 1, and the
    least λ in floats; infinite where P or 2Λ − P is not positive definite."""
    n = len(P)
    try:
        Q = np.linalg.cholesky((P + P.T) / 2).T
        scale = np.abs(Q).max()
        Q, scaled = Q / scale, multipliers / scale**2
        P = Q.T @ Q
        rest = np.linalg.cholesky(2 * np.diag(scaled) - P)
        inverse = np.linalg.inv(Q)
        corner = P @ system.A + system.span * scaled[:, None] * system.W
        both = np.vstack([np.linalg.solve(rest, corner) @ inverse, Q @ system.A @ inverse])
        return MetricNorm(Q, scaled, float(np.linalg.norm(both, 2)))
    except np.linalg.LinAlgError:
        return MetricNorm(np.eye(n), np.ones(n), np.inf)


def _joined(upper: arb_mat, corner: arb_mat, lower: arb_mat) -> arb_mat:
    """[[upper, −cornerᵀ], [−corner, lower]]."""
    first = [a + b for a, b in zip(upper.tolist(), (-corner.transpose()).tolist(), strict=True)]
    second = [a + b for a, b in zip((-corner).tolist(), lower.tolist(), strict=True)]
    return arb_mat(first + second)
