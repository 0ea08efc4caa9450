"""The certificate of a user's model: its contraction factor, its memory and all constants.

For a cell that contracts by λ < 1 in a norm ‖·‖_* with ‖h‖₂ ≤ C‖h‖_* and drive S = sup ‖φ(0, x)‖_*,

    ‖h_T − h_T^k‖₂ ≤ C S λᵏ/(1 − λ)    for every T and every input with ‖x_t‖₂ ≤ B,

so the truncated model remembers the last k inputs to within ε. Every number is rounded so that
this stays true for the weights as stored, in real arithmetic. Source: Miller & Hardt, Lemma 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch

from impl.adapters import LoadedModel, Source, load_model
from impl.certified_training import Task, TrainingCertificate, certify_training
from impl.errors import InputError, RangeError, UnknownNameError
from impl.norm import certified_norm
from impl.norms import NORMS, Parts, StateNorm, parts_of, state_norm
from impl.outward import add_up, div_up, mul_up, norm_up, subtract_down
from impl.refute import Witness, refute
from impl.rounding import HEADROOM, absolute_norms
from impl.window import least_window

SCHEMA = "rnnbounds/certificate/1"
EPSILONS = (1e-2, 1e-4, 1e-6)

Verdict = Literal["certified", "refuted", "undecided"]


class NormError(InputError):
    """A norm that says nothing about this kind of cell."""


@dataclass(frozen=True)
class Certificate:
    """What is certified about one model; see `to_json` for the record that is written.

    verdict: `certified` (λ < 1 in `norm`), `refuted` (a `witness` shows that no norm makes the cell
    a contraction of ℝⁿ), or `undecided` (no norm tried certifies it, which says nothing).
    lam: the factor in `norm`, which is the best one found unless certified.
    windows: pairs (ε, k), ε in the Euclidean norm of the state; k None where nothing is known.
    tried: (norm, its factor, its k at the smallest ε). weights: those of the norm (`StateNorm`).
    rounding: a bound on ‖fl(h_t) − h_t‖₂ for all t when the cell is run in its own dtype with
    accurate activations, None if none is known. training: what is certified about training it.
    """

    model: str
    cell: str
    n: int
    d: int
    dtype: str
    digest: str
    norm: str
    lam: float
    verdict: Verdict
    input_bound: float
    constants: dict[str, float]
    windows: tuple[tuple[float, int | None], ...]
    tried: tuple[tuple[str, float, int | None], ...]
    weights: tuple[float, ...] | tuple[tuple[float, ...], ...] | None
    rounding: float | None
    witness: Witness | None
    training: TrainingCertificate

    @property
    def stable(self) -> bool | None:
        """True if certified, False if refuted, None if undecided."""
        return {"certified": True, "refuted": False}.get(self.verdict)

    def window(self, epsilon: float) -> int | None:
        """The k of one of the ε that were asked for; raises RangeError for any other."""
        if epsilon not in dict(self.windows):
            asked = ", ".join(f"{eps:g}" for eps, _ in self.windows)
            raise RangeError("ε", epsilon, f"one of {asked}")
        return dict(self.windows)[epsilon]

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data; what is infinite is null."""
        return {
            "schema": SCHEMA,
            "model": self.model,
            "cell": self.cell,
            "shape": {"n": self.n, "d": self.d},
            "dtype": self.dtype,
            "sha256": self.digest,
            "norm": self.norm,
            "lambda": _finite(self.lam),
            "verdict": self.verdict,
            "stable": self.stable,
            "input_bound": self.input_bound,
            "constants": {name: _finite(value) for name, value in self.constants.items()},
            "truncation": [{"eps": eps, "k": k} for eps, k in self.windows],
            "norms_tried": [
                {"norm": name, "lambda": _finite(lam), "k": k} for name, lam, k in self.tried
            ],
            "weights": self.weights,
            "rounding": {"dtype": self.dtype, "state": self.rounding},
            "witness": None if self.witness is None else self.witness.to_json(),
            "training": self.training.to_json(),
        }


def certify(
    model: Source | LoadedModel,
    input_bound: float,
    epsilons: Sequence[float] = EPSILONS,
    norm: str = "auto",
    *,
    cell: str | None = None,
    training: Task | None = None,
) -> Certificate:
    """Certify, refute or leave undecided that a model is stable under inputs ‖x_t‖₂ ≤ B.

    `model` and `cell` as in `load_model`; `norm` is one of `NORMS`, or "auto", which keeps the one
    with the least k at the smallest ε; `training` is the training that is asked about. The model is
    the cell in real arithmetic with the weights as stored and with b = b_ih + b_hh unrounded; both
    runs of a gap start from the zero state.
    Raises an InputError for what is no model, for B < 0, ε ≤ 0, NaN and unknown norms.
    Sources: Miller & Hardt, section 2, Lemma 1; Rump and Higham for the rounding.
    """
    loaded = load_model(model, cell)
    bound, epsilons = _checked(input_bound, epsilons)
    linear = loaded.cell.activation.name == "identity"
    parts = parts_of(loaded, bound)
    norms = [state_norm(name, parts) for name in _names(norm, linear)]
    smallest = min(epsilons)
    best = min(norms, key=lambda tried: _rank(tried, smallest))
    witness = None if best.lam < 1 else refute(loaded, bound)
    undecided: Verdict = "undecided" if witness is None else "refuted"
    states = _state_bound(loaded, best)
    trained = certify_training(loaded, bound, epsilons, training or Task(), states)
    return Certificate(
        model=loaded.source,
        cell=loaded.name,
        n=loaded.n,
        d=loaded.d,
        dtype=loaded.dtype,
        digest=loaded.digest,
        norm=best.name,
        lam=best.lam,
        verdict="certified" if best.lam < 1 else undecided,
        input_bound=bound,
        constants=_constants(loaded, parts, best, states) | trained.named,
        windows=tuple((epsilon, _window(best, epsilon)) for epsilon in epsilons),
        tried=tuple((tried.name, tried.lam, _window(tried, smallest)) for tried in norms),
        weights=best.weights,
        rounding=_rounding(loaded, best, bound, states),
        witness=witness,
        training=trained,
    )


def _checked(input_bound: float, epsilons: Sequence[float]) -> tuple[float, tuple[float, ...]]:
    if not 0 <= input_bound < math.inf:
        raise RangeError("the input bound B", input_bound, "a number ≥ 0")
    if not epsilons:
        raise RangeError("the list of ε", "empty", "at least one number > 0")
    for epsilon in epsilons:
        if not 0 < epsilon < math.inf:
            raise RangeError("ε", epsilon, "a number > 0")
    return float(input_bound), tuple(map(float, epsilons))


def _names(norm: str, linear: bool) -> list[str]:
    if norm == "auto":
        return [name for name in NORMS if linear or name != "quadratic"]
    if norm not in NORMS:
        raise UnknownNameError("norm", norm, ["auto", *NORMS])
    if norm == "quadratic" and not linear:
        raise NormError("the quadratic norm certifies linear systems only; use the diagonal norm")
    return [norm]


def _scale(norm: StateNorm) -> float:
    return float(mul_up(norm.equivalence, norm.drive))


def _window(norm: StateNorm, epsilon: float) -> int | None:
    return least_window(_scale(norm), norm.lam, epsilon)


def _rank(norm: StateNorm, epsilon: float) -> tuple[bool, float, float]:
    """Certified first, then the shortest window, then the smallest factor."""
    k = _window(norm, epsilon) if norm.lam < 1 else None
    return (not norm.lam < 1, math.inf if k is None else k, norm.lam)


def _state_bound(model: LoadedModel, norm: StateNorm) -> float:
    """B_h ≥ ‖h_t‖₂: the least of C S/(1 − λ) and M_ρ√n."""
    box = mul_up(model.cell.activation.bound, norm_up(torch.ones(model.n, dtype=torch.float64)))
    gap = subtract_down(1.0, norm.lam).clamp(min=0.0)
    contracted = div_up(_scale(norm), gap) if gap > 0 else torch.tensor(math.inf)
    return min(float(box), float(contracted))


def _constants(
    model: LoadedModel, parts: Parts, norm: StateNorm, states: float
) -> dict[str, float]:
    """All constants of states: those of the cell in the Euclidean norm, then those of the norm."""
    U_norm = float(certified_norm(model.cell.U))
    return {
        "L_rho": parts.slope,
        "M_rho": model.cell.activation.bound,
        "W_norm": float(certified_norm(parts.W)),
        "U_norm": U_norm,
        "L_x": float(mul_up(parts.slope, U_norm)),
        "B_x": parts.B,
        "S_0": state_norm("spectral", parts).drive,
        "B_h": states,
        "drive": norm.drive,
        "equivalence": norm.equivalence,
        "reach": norm.reach,
    }


def _rounding(model: LoadedModel, norm: StateNorm, bound: float, states: float) -> float | None:
    """Higham's bound in the model's own dtype, carried through the norm: C c ε_1/(1 − λ).

    As long as the computed states stay below 1.01 B_h, a step is off by ε_1 in the Euclidean norm,
    by c ε_1 in ‖·‖_*, and the contraction keeps the sum below c ε_1/(1 − λ). Nothing is known where
    the dtype may overflow.
    """
    if not norm.lam < 1:
        return None
    info = torch.finfo(getattr(torch, model.dtype))
    unit = info.eps / 2
    terms = (model.n + model.d + 3) * unit  # one more than with a single bias
    if terms >= 0.5:
        return None
    W, U, _ = absolute_norms(model.cell)
    b = [abs(i) + abs(h) for i, h in zip(model.bias("bias_ih"), model.bias("bias_hh"), strict=True)]
    bias = mul_up(norm_up(torch.tensor(b, dtype=torch.float64)), 1 + 2.0**-50)
    Z = add_up(add_up(mul_up(W, mul_up(HEADROOM, states)), mul_up(U, bound)), bias)
    rho = model.cell.activation
    relative = terms / (1 - terms) * (1 + 2.0**-50)
    computed = mul_up(1 + 2 * relative, Z)  # the pre-activations and all their partial sums
    if not max(float(computed), HEADROOM * states) < info.max:
        return None
    summation = mul_up(mul_up(rho.slope, relative), Z)
    library = mul_up(unit * 2.0**54, rho.error(model.n, computed))
    underflow = model.n * (model.n + model.d + 3) * info.tiny
    step = add_up(add_up(summation, library), underflow if float(Z) > 0 else 0.0)
    spread = mul_up(mul_up(norm.equivalence, norm.reach), step)
    error = float(div_up(spread, subtract_down(1.0, norm.lam)))
    return error if error <= 0.0099 * states < math.inf or error == 0 else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
