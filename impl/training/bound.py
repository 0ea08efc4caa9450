"""Theorem 1 for a training run of N steps: its scales, its window, its largest step size.

Source: Miller & Hardt, Theorem 1.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from flint import arb, ctx

from rnnbounds.impl.errors import RangeError
from rnnbounds.impl.numbers.outward import add_up
from rnnbounds.impl.training.window import CAP, amplification, training_window

_PRECISION = 320
_BISECTIONS = 60
_LEAST, _GREATEST = -1022, 1023  # exponents of the step sizes that are looked at


@dataclass(frozen=True)
class TrainingConstants:
    """Constants that are uniform on Ω, each an upper bound or infinity, by their usual names.

    ``radii`` are those of Ω by torch's names.
    """

    lam: float
    S_0: float
    B_h: float
    L_f: float
    L_w: float
    L_p: float
    beta_p: float
    G_0: float
    G_1: float
    D_1: float
    beta: float
    radii: Mapping[str, float]
    beta_hh: float = math.inf
    beta_wh: float = math.inf
    beta_ww: float = math.inf

    @property
    def gamma(self) -> float:
        """γ = G_0 + G_1: gradients at equal weights of Ω are within γ k λᵏ."""
        return float(add_up(self.G_0, self.G_1))

    def scales(self, alpha: float, steps: int) -> tuple[arb, arb]:
        """K_0 and K_1 of ‖y_T − y_T^k‖ ≤ λᵏ(K_0 + kK_1): their upper ends are bounds.

        K_0 = L_f(L_w M_N G_0 + S_0)/(1 − λ) and K_1 = L_f L_w M_N G_1/(1 − λ).
        """
        with ctx.workprec(_PRECISION):
            drive = arb(self.L_f) * arb(self.S_0) / (1 - arb(self.lam))
            moved = self._moved(alpha, steps)
            if moved.is_zero():  # in no steps nothing moves, whatever G_0 and G_1
                return drive, moved
            return drive + moved * arb(self.G_0), moved * arb(self.G_1)

    def window(self, alpha: float, steps: int, epsilon: float, cap: int = CAP) -> int | None:
        """The least certified k with ‖y_T − y_T^k‖₂ ≤ ε after training, for every T.

        None where the bound is vacuous: no such k, or one above ``cap`` (say, the length of the
        sequences, beyond which a truncated model is the full one). Raises RangeError for α < 0,
        N < 0 and ε ≤ 0.
        """
        if not 0 <= alpha < math.inf:
            raise RangeError("α", alpha, "a number ≥ 0")
        if steps < 0:
            raise RangeError("N", steps, "at least 0")
        K_0, K_1 = self.scales(alpha, steps)
        if self.lam > 0 or K_1.is_zero():
            return training_window(K_0, K_1, self.lam, epsilon, cap)
        with ctx.workprec(_PRECISION):  # λᵏ(K_0 + kλ⁻¹D) is D at k = 1 and nothing beyond
            drift = self._moved(alpha, steps) * arb(self.D_1)
            if not (K_0.is_finite() and drift.is_finite()):
                return None
            k = 1 if drift <= epsilon else 2
        return k if k <= cap else None

    def _moved(self, alpha: float, steps: int) -> arb:
        """L_f L_w M_N/(1 − λ), what a unit of ε_k becomes in the outputs."""
        moved = amplification(alpha, self.beta, steps)
        gain = arb(self.L_f) * arb(self.L_w) / (1 - arb(self.lam))
        return moved if moved.is_zero() else gain * moved


def largest_rate(
    constants: TrainingConstants, steps: int, epsilon: float, cap: int = CAP
) -> float | None:
    """The largest α, to the last bits, for which N steps α/t have a certified window ≤ cap.

    The number itself was tried, up to 2¹⁰²³. None if there is none: even without any step the
    window is too long, or the constants are infinite.
    """

    def says(alpha: float) -> bool:
        return constants.window(alpha, steps, epsilon, cap) is not None

    low, high = _LEAST, _GREATEST  # α = 2^low is taken to say something, 2^high not
    if not says(2.0**low):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if says(2.0**middle) else (low, middle)
    rate, step = 2.0**low, 2.0 ** (low - 1)
    for _ in range(_BISECTIONS):
        rate = rate + step if says(rate + step) else rate
        step /= 2
    return rate
