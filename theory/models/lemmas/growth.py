"""Growth of exp, log and the product of steps: lemmas that several ledgers share."""

from sympy import log

from rnnbounds.theory.axioms.base import EXPONENTIAL, LOGARITHM
from rnnbounds.theory.axioms.functions import GAMMA
from rnnbounds.theory.language import ONE, ZERO, at, eq, le, lt
from rnnbounds.theory.language.functions import STEP_PRODUCT, StepProduct
from rnnbounds.theory.language.terms.variables import j, m, y, z
from rnnbounds.theory.language.terms.vectors import exponential
from rnnbounds.theory.proof import step

TANGENT = step("tangent of exp", le(1 + y, exponential(y)), forall=(y,)).by()
EXP_POSITIVE = step("exp positive", lt(ZERO, exponential(y)), forall=(y,)).by()
TANGENTS = (TANGENT, EXP_POSITIVE)

# −ln(1 − u) ≥ u at u = 1/(j + 2).
LOGARITHM_GROWS = step("growth of log", le(1 / (j + 2), log(j + 2) - log(j + 1)), forall=(j,)).by(
    LOGARITHM.at(j + 1),
    LOGARITHM.at(j + 2),
    EXPONENTIAL.at(log(j + 2), log(j + 1) - log(j + 2)),
    at("tangent of exp", log(j + 1) - log(j + 2)),
)
power = exponential(z * log(j + 1))  # (j + 1)^z
next_power = exponential(z * log(j + 2))
POWER_GROWS = step(
    "growth of a power",
    le((1 + z / (j + 2)) * power, next_power),
    forall=(z, j),
    given=(le(ZERO, z),),
).by(
    at("growth of log", j),
    EXPONENTIAL.at(z * log(j + 1), z * (log(j + 2) - log(j + 1))),
    at("tangent of exp", z * (log(j + 2) - log(j + 1))),
    at("exp positive", z * log(j + 1)),
)
POWER_LARGE = step(
    "power of a natural number", le(ONE, power), forall=(z, j), given=(le(ZERO, z),)
).by_induction(base=EXPONENTIAL.at(0, 0), step=at("growth of a power", z, j))
LOGARITHM_POSITIVE = step("log not negative", le(ZERO, log(j + 1)), forall=(j,)).by_induction(
    step=at("growth of log", j)
)
POWERS = (*TANGENTS, LOGARITHM_GROWS, POWER_GROWS)

EMPTY_PRODUCT = step(
    "empty product", eq(StepProduct(0, z), ONE), forall=(z,), given=(le(ZERO, z),)
).by(STEP_PRODUCT.at(0, z), GAMMA.at(1 + z))
NEXT_FACTOR = step(
    "next factor",
    eq((m + 1) * StepProduct(m + 1, z), (m + 1 + z) * StepProduct(m, z)),
    forall=(m, z),
    given=(le(ZERO, z),),
).by(STEP_PRODUCT.at(m, z), STEP_PRODUCT.at(m + 1, z), *map(GAMMA.at, (m + 1, 1 + z, m + 1 + z)))
PRODUCT = (EMPTY_PRODUCT, NEXT_FACTOR)
# The chain Π (1 + c/t) ≤ (1 + c) N^c, and Π (1 + c/t) ≤ 1 + c N^c (1 + ln N).
PRODUCT_BY_ZETA = step(
    "product by a power",
    le(StepProduct(j + 1, z), (1 + z) * power),
    forall=(z, j),
    given=(le(ZERO, z),),
).by_induction(
    base=("given 1", at("empty product", z), at("next factor", 0, z), EXPONENTIAL.at(0, 0)),
    step=(at("next factor", j + 1, z), at("growth of a power", z, j)),
)
PRODUCT_BY_LOGARITHM = step(
    "product by a logarithm",
    le(StepProduct(j + 1, z), 1 + z * power * (1 + log(j + 1))),
    forall=(z, j),
    given=(le(ZERO, z),),
).by_induction(
    base=("given 1", at("empty product", z), at("next factor", 0, z), EXPONENTIAL.at(0, 0)),
    step=(
        at("next factor", j + 1, z),
        at("growth of a power", z, j),
        at("power of a natural number", z, j + 1),
        at("growth of log", j),
        at("log not negative", j),
    ),
)
