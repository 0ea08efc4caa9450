"""The window of Theorem 1: how many inputs suffice for the outputs of two trained models to agree.

After N projected gradient steps of sizes α/t on the full and on the truncated loss, c = αβ,

    ‖w − ŵ‖ ≤ M_N ε_k,  M_N = [Γ(N+1+c)/(Γ(N+1)Γ(1+c)) − 1]/β ≤ αN^c min(1 + ln N, 1 + 1/c),
    ‖y_T − y_T^k‖ ≤ λᵏ(K_0 + kK_1) for every T and k ≥ 1,

and λᵏ(K_0 + kK_1) ≤ ε is u e^{−u} ≤ q with u = ln(1/λ)(k + K_0/K_1): solved by Lambert's W_{−1},
in logarithms, as q may be far below the least float. Source: Miller & Hardt, Theorem 1.
"""

import math

from flint import arb, ctx

from rnnbounds.impl.errors import RangeError

CAP = 2**31  # windows of so many steps are nobody's truncated model

_PRECISION = 320
_NEWTON = 80


def amplification(alpha: float, beta: float, steps: int) -> arb:
    """A ball whose upper end is at least M_N, for N = steps and any α ≥ 0 and β ≥ 0.

    The limit α Σ 1/t where β = 0. NaN where β is NaN or infinite.
    """
    if steps == 0 or alpha == 0:
        return arb(0)
    size = abs(math.frexp(alpha)[1] + math.frexp(beta)[1])  # bits that ln Γ may lose
    with ctx.workprec(_PRECISION + size):
        a, N = arb(alpha), arb(steps)
        if beta == 0:
            return a * ((N + 1).digamma() + arb.const_euler())
        c = a * arb(beta)
        middle = a * (c * N.log()).exp() * (1 + N.log()).min(1 + 1 / c)
        exact = ((N + 1 + c).lgamma() - (N + 1).lgamma() - (1 + c).lgamma()).expm1() / arb(beta)
        known = [form for form in (middle, exact) if form.is_finite() and form.upper() > 0]
        return min(known, key=lambda form: form.upper(), default=arb.nan())


def training_window(
    K_0: float | arb, K_1: float | arb, lam: float, epsilon: float, cap: int = CAP
) -> int | None:
    """The least k_0 ≥ 1 such that λᵏ(K_0 + kK_1) ≤ ε for every k ≥ k_0, verified in balls.

    None if nothing is known (λ ≥ 1, constants that are not finite) or k_0 exceeds ``cap``. At a tie
    that balls cannot decide it may be greater by one. Raises RangeError unless ε > 0.
    """
    if not 0 < epsilon < math.inf:
        raise RangeError("ε", epsilon, "a number > 0")
    with ctx.workprec(_PRECISION):
        first, slope = (arb(K).upper() for K in (K_0, K_1))
        lost = _bits(first / slope) if first > 0 and slope > 0 else 0
    with ctx.workprec(_PRECISION + lost):
        if not (0 <= lam < 1 and first.is_finite() and slope.is_finite()):
            return None
        if not (first >= 0 and slope >= 0):
            raise RangeError("K_0 and K_1", f"{K_0}, {K_1}", "numbers ≥ 0")
        if lam == 0 or (first.is_zero() and slope.is_zero()):
            return 1 if cap >= 1 else None
        return _search(first, slope, arb(lam), arb(epsilon), cap)


def _search(first: arb, slope: arb, lam: arb, epsilon: arb, cap: int) -> int | None:
    rate = -lam.log()

    def small(k: int) -> bool:
        return bool(lam**k * (first + k * slope) <= epsilon)

    def turn(k: int) -> arb:
        """Positive where the bound falls from k on, negative where it has risen up to k."""
        return (k * slope + first) * rate - slope

    guess = _guess(first, slope, rate, epsilon)
    if not guess <= cap:  # and not where it is NaN
        return None
    k = max(1, math.floor(guess))
    if k == 1 and _peak(first, slope, rate) <= epsilon:
        return 1
    while k <= cap and not (turn(k) >= 0 and small(k)):
        k += 1
    while k > 1 and small(k - 1):
        if turn(k - 1) <= 0:
            return 1
        k -= 1
    return k if k <= cap else None


def _peak(first: arb, slope: arb, rate: arb) -> arb:
    """The maximum of λᵏ(K_0 + kK_1) over all real k ≥ 0."""
    if not first * rate < slope:
        return first
    return slope / rate * (rate * first / slope - 1).exp()


def _guess(first: arb, slope: arb, rate: arb, epsilon: arb) -> float:
    """u(L)/c − K_0/K_1 in floats, or log_{1/λ}(K_0/ε) if K_1 = 0."""
    if slope.is_zero():
        return float((first / epsilon).log() / rate)
    shift = first / slope
    L = rate * shift - (epsilon / slope).log() - rate.log()
    return 0.0 if not L > 1 else float(lambert(L) / rate - shift)


def _bits(shift: arb) -> int:
    """How many bits k = u/c − K_0/K_1 loses to cancellation."""
    logarithm = float((shift.log() / arb(2).log()).mid())
    return max(0, math.ceil(logarithm)) if math.isfinite(logarithm) else 0


def lambert(L: arb) -> arb:
    """The root u ≥ 1 of u − ln u = L, that is −W_{−1}(−e^{−L}), for L ≥ 1.

    By Newton's method from 1 + √(2(L−1)) + L − 1, which is above the root; as u − ln u is convex,
    all iterates are. Source: Chatzigeorgiou, Bounds on the Lambert function (2013).
    """
    excess = L - 1
    u = 1 + (2 * excess).sqrt() + excess
    for _ in range(_NEWTON):
        following = (u * (L + u.log() - 1) / (u - 1)).mid()
        if not following < u:
            break
        u = following
    return u
