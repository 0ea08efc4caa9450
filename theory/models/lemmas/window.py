"""How long a window makes λ^k (p + k q) ≤ ε: by Lambert's function, and by elementary ones.

With c = ln(1/λ) and u = c (k + p/q) the condition is u − ln u ≥ L, L = c p/q + ln(q/(c ε)).
"""

from sympy import Expr, Symbol, log, sqrt

from rnnbounds.theory.axioms.base import EXPONENTIAL, LOGARITHM
from rnnbounds.theory.axioms.functions import LAMBERT_ROOT
from rnnbounds.theory.language import ONE, ZERO, at, le, lt, symbols
from rnnbounds.theory.language.functions import LambertRoot
from rnnbounds.theory.language.terms.variables import j, y, z
from rnnbounds.theory.language.terms.vectors import exponential
from rnnbounds.theory.models.lemmas.growth import TANGENTS
from rnnbounds.theory.models.lemmas.powers import decay_rate, decay_step, positive_rate_uses
from rnnbounds.theory.proof import step

lam, epsilon = symbols("lam epsilon")
rate, DECAY, POSITIVE_RATE = decay_rate(lam), decay_step(lam), positive_rate_uses(lam)
p, q = (Symbol(name, real=True) for name in "pq")


def level(p: Expr, q: Expr) -> Expr:
    """The level L = c p/q + ln(q/(c ε)) of Lambert's function."""
    return rate * p / q + log(q / (rate * epsilon))


def surplus(p: Expr, q: Expr) -> Expr:
    """The surplus ς = ln((p + q)/(c ε)) − 1 of the elementary window."""
    return log((p + q) / (rate * epsilon)) - 1


def lambert_window(p: Expr, q: Expr) -> Expr:
    """The window u(L)/c − p/q by Lambert's function, from which λ^k (p + k q) ≤ ε."""
    return LambertRoot(level(p, q)) / rate - p / q


def elementary(p: Expr, q: Expr) -> Expr:
    """The window (1 + √(2ς) + ς)/c by elementary functions."""
    return _elementary_root(surplus(p, q)) / rate


def _elementary_root(surplus: Expr) -> Expr:
    """1 + √(2ς) + ς, the root in the form that SymPy leaves alone."""
    return 1 + sqrt(2) * sqrt(surplus) + surplus


accuracy_goal = le(lam**j * (p + j * q), epsilon)
scaled_window = rate * (j + p / q)

EXP_OVER_IDENTITY = step(
    "exp(z)/z grows",
    le(z * exponential(y), y * exponential(z)),
    forall=(y, z),
    given=(le(ONE, y), le(y, z)),
).by(EXPONENTIAL.at(y, z - y), at("tangent of exp", z - y), at("exp positive", y))
# λ^k (p + kq) = (q/c) u e^{−u} e^{c p/q}, and e^{−L} = (c ε/q) e^{−c p/q}.
BY_LEVEL = step(
    "enough by its level",
    accuracy_goal,
    forall=(p, q, j),
    given=(lt(ZERO, q), le(scaled_window * exponential(level(p, q)), exponential(scaled_window))),
).by(
    at("decay", j),
    EXPONENTIAL.at(rate * j, rate * p / q),
    EXPONENTIAL.at(rate * p / q, log(q / (rate * epsilon))),
    at("exp positive", rate * j),
    at("exp positive", rate * p / q),
    LOGARITHM.at(q / (rate * epsilon)),
    *POSITIVE_RATE,
    "accuracy",
)

lambert = LambertRoot(z)
AT_ROOT = step(
    "exp at the root",
    le(lambert * exponential(z), exponential(lambert)),
    forall=(z,),
    given=(le(ONE, z),),
).by(
    LAMBERT_ROOT.at(z),
    LOGARITHM.at(lambert),
    EXPONENTIAL.at(z, log(lambert)),
    EXPONENTIAL.at(z + log(lambert), lambert),
)
# exp(u) = u exp(L), and exp(z)/z grows from u ≥ 1 on.
BY_LAMBERT = step(
    "enough by Lambert's function",
    accuracy_goal,
    forall=(p, q, j),
    given=(lt(ZERO, q), le(ONE, level(p, q)), le(lambert_window(p, q), j)),
).by(
    LAMBERT_ROOT.at(level(p, q)),
    at("exp at the root", level(p, q)),
    at("exp(z)/z grows", LambertRoot(level(p, q)), scaled_window),
    at("enough by its level", p, q, j),
    *POSITIVE_RATE,
    "accuracy",
)
BY_TANGENT = step(
    "enough for any window",
    accuracy_goal,
    forall=(p, q, j),
    given=(lt(ZERO, q), le(ZERO, p), le(level(p, q), ONE)),
).by(
    at("tangent of exp", scaled_window - 1),
    EXPONENTIAL.at(scaled_window - 1, 1),
    EXPONENTIAL.at(level(p, q), 1),
    at("exp positive", level(p, q)),
    at("enough by its level", p, q, j),
    *POSITIVE_RATE,
    "accuracy",
)
# s ≥ ln(1 + s + s²/2), by the series of exp.
QUADRATIC = step(
    "exp above its square", le(1 + y + y**2 / 2, exponential(y)), forall=(y,), given=(le(ZERO, y),)
).by("given 1")
root = sqrt(2) * sqrt(z)
elementary_bound = _elementary_root(z)
# v = 1 + √(2ς) + ς has v − ln v ≥ 1 + ς.
ELEMENTARY = step(
    "elementary root",
    le(elementary_bound * exponential(1 + z), exponential(elementary_bound)),
    forall=(z,),
    given=(le(ZERO, z),),
).by(
    at("exp above its square", root),
    EXPONENTIAL.at(1 + z, root),
    at("exp positive", 1 + z),
)
BY_ELEMENTARY = step(
    "enough by elementary functions",
    accuracy_goal,
    forall=(p, q, j),
    given=(le(ZERO, p), le(ONE, j), le(ZERO, surplus(p, q)), le(elementary(p, q), j)),
).by(
    at("elementary root", surplus(p, q)),
    at("exp(z)/z grows", _elementary_root(surplus(p, q)), rate * j),
    at("decay", j),
    at("exp positive", rate * j),
    LOGARITHM.at((p + q) / (rate * epsilon)),
    *POSITIVE_RATE,
    "accuracy",
)

_BEYOND = (DECAY, *TANGENTS, EXP_OVER_IDENTITY)
LAMBERT_STEPS = (*_BEYOND, BY_LEVEL, AT_ROOT, BY_LAMBERT)
ANY_STEPS = (DECAY, *TANGENTS, BY_LEVEL, BY_TANGENT)
ELEMENTARY_STEPS = (*_BEYOND, QUADRATIC, ELEMENTARY, BY_ELEMENTARY)
