"""Deep, stacked and linear recurrences: instances by hand that part each form from its variants."""

from dataclasses import replace
from fractions import Fraction
from math import comb

import pytest
from flint import fmpq
from sympy import Integer

import theory
from theory.claims.memory.linear_memory import binomials, k, mode_radius
from theory.language.claim import Form
from theory.language.statement import Statement
from theory.numbers.evaluate import rational
from theory.proof.methods import Smt
from theory.proof.proof import Proof, check

IDS = (
    "contraction-deep",
    "contraction-stacked",
    "linear-memory",
    "scan-memory",
    "deep-gradient",
)
Values = dict[str, Fraction | int]
HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)

# GELU near √2 in two layers: 1.27 = 1.128², and a ReLU between (1 1; 1 1)/2 and (1 -1; 1 -1)/2.
GELU: Values = {
    "deep_gap": Fraction(127, 100), "deep_state_gap": 1, "lam_deep": Fraction(1275, 1000),
    "lam_layer": Fraction(113, 100), "lam_once": Fraction(113, 100),
}  # fmt: skip
CUT: Values = {
    "deep_gap": HALF, "deep_state_gap": 1, "lam_deep": 1, "lam_radii": 0, "lam_through": 0,
}  # fmt: skip
EXACT: Values = {"deep_gap": QUARTER, "deep_state_gap": 1, "lam_deep": QUARTER}
# A = (0 1; 0 0) in every layer, and 3/2 I in two of them.
NILPOTENT: Values = {"dh_dh_deep": 0, "k": 2, "T": 2, "lam_deep": 1, "W_product": 1}
GROWING: Values = {
    "dh_dh_deep": Fraction(9, 4), "k": 1, "T": 2, "lam_deep": Fraction(9, 4),
    "lam_layer": Fraction(3, 2), "W_product": Fraction(9, 4), "isometric": 1,
}  # fmt: skip
SHRINKING: Values = {"dh_dh_deep": QUARTER, "k": 1, "T": 2, "lam_deep": QUARTER}
# s¹⁺ = s¹/2, s²⁺ = s²/4 + 2 s¹⁺ from (1, 0): 0, 1, 3/4; and both with 1/2 and μ = 1.
STEP: Values = {"stack_gap": HALF, "stack_state_gap": 1, "lam_1": HALF, "lam_2": QUARTER, "mu": 2}
RUN: Values = {
    "top_gap": Fraction(3, 4), "T": 2, "lam_1": HALF, "lam_2": QUARTER, "mu": 2,
    "low_start": 1, "top_start": 0,
}  # fmt: skip
FAST: Values = RUN | {"top_gap": 2, "T": 1, "lam_1": 2, "lam_2": 0, "mu": 1}
EQUAL: Values = RUN | {"top_gap": HALF, "lam_2": HALF, "mu": 1}
MEMORY: Values = {
    "top_memory": Fraction(3, 4), "k": 2, "T": 3, "lam_1": HALF, "lam_2": QUARTER, "mu": 2,
    "low_before": 1, "top_before": 0,
}  # fmt: skip
# λ = i/2, and A = ρI + N with ρ = 1/1024.
TURNING: Values = {
    "mode_gap": QUARTER, "mode_start": 1, "mode_radius": HALF, "mode_real": 0, "k": 2, "T": 3,
}  # fmt: skip
CORNER: Values = {
    "power_norm": 1, "mode_radius": Fraction(1, 1024), "k": 1, "nilpotency": 2,
}  # fmt: skip
CORNER_3: Values = {"power_norm": 1, "mode_radius": 0, "k": 2, "nilpotency": 3}
# Decays 1/2, then 1/4; minLSTM's may fall below its mean's.
SCAN: Values = {
    "scan_gap": Fraction(1, 8), "scan_start": 1, "decay_product": Fraction(1, 8), "k": 2, "T": 3,
    "decay_max": HALF, "decay_last": QUARTER, "decay_least": QUARTER, "decay_zero": QUARTER,
    "decay_of_mean": Fraction(3, 8), "log_concave": 1,
}  # fmt: skip
FULL: Values = SCAN | {"scan_gap": QUARTER, "decay_product": QUARTER}
CONVEX: Values = SCAN | {"decay_of_mean": QUARTER, "log_concave": 0}

INSTANCES: dict[tuple[str, str], Values] = {
    ("contraction-deep", "largest-layer"): GELU,
    ("contraction-deep", "slope-once"): GELU,
    ("contraction-deep", "spectral-radii"): CUT,
    ("contraction-deep", "norm-of-the-product"): CUT,
    ("contraction-deep", "one-thousandth"): EXACT,
    ("deep-gradient", "depth-not-counted"): GROWING,
    ("deep-gradient", "next-power"): SHRINKING,
    ("deep-gradient", "any-matrix"): NILPOTENT,
    ("deep-gradient", "half-of-it"): NILPOTENT,
    ("deep-gradient", "one-more-step"): GROWING,
    ("contraction-stacked", "larger-factor"): STEP | {"stack_gap": 1, "v_top": 1},
    ("contraction-stacked", "weight-inverted"): STEP | {"stack_gap": 2, "v_top": HALF},
    ("contraction-stacked", "coupling-dropped"): RUN,
    ("contraction-stacked", "old-state"): FAST,
    ("contraction-stacked", "factor-dropped"): EQUAL,
    ("contraction-stacked", "slower-layer"): MEMORY,
    ("linear-memory", "real-part"): TURNING,
    ("linear-memory", "next-power"): TURNING,
    ("linear-memory", "radius-alone"): CORNER,
    ("linear-memory", "any-constant"): CORNER,
    ("linear-memory", "degree-too-low"): CORNER_3,
    ("scan-memory", "mean-input-of-any"): CONVEX,
    ("scan-memory", "mean-input-exactly"): SCAN,
    ("scan-memory", "one-more-decay"): SCAN,
    ("scan-memory", "last-decay"): SCAN,
    ("scan-memory", "least-decay"): SCAN,
    ("scan-memory", "zero-input"): SCAN,
    ("scan-memory", "next-power"): FULL,
}
# The instance is no system of the form's: its variant drops the assumption that it does not meet.
DROPPED = ("any-matrix", "half-of-it", "mean-input-of-any")


def holds(statement: Statement, values: Values) -> bool:
    """The statement in rationals."""
    env = {name: fmpq(*Fraction(value).as_integer_ratio()) for name, value in values.items()}
    lhs, rhs = rational(statement.lhs, env), rational(statement.rhs, env)
    assert lhs is not None
    assert rhs is not None
    return bool(lhs <= rhs if statement.relation == "<=" else lhs == rhs)


def test_every_variant_has_its_instance() -> None:
    """The instances below are those of all variants of these claims."""
    variants = {(id, variant.id) for id in IDS for variant in theory.claim(id).false_variants}
    assert variants == set(INSTANCES)


@pytest.mark.parametrize("key", INSTANCES, ids="/".join)
def test_an_instance_separates_variant_and_form(key: tuple[str, str]) -> None:
    """On it the true statement holds, and the false one does not."""
    claim = theory.claim(key[0])
    variant = claim.variant(key[1])
    form = claim.form(variant.form)
    assert not holds(variant.statement, INSTANCES[key])
    if key[1] not in DROPPED:
        assert holds(form.statement, INSTANCES[key])
    else:
        assert set(variant.assumptions) < set(form.assumptions)


@pytest.mark.parametrize("terms", [1, 2, 3])
def test_binomials(terms: int) -> None:
    """Σ_{i<terms} C(7, i) ρ^{7−i}."""
    found = binomials(Integer(7), terms).subs(mode_radius, 2)
    assert found == sum(comb(7, i) * 2 ** (7 - i) for i in range(terms))
    assert k in binomials(k, terms).free_symbols


def test_a_derivative_is_no_shorter_only_where_the_map_is() -> None:
    """The lower bound on a derivative is refused unless the step names that φ is no shorter."""
    equal = theory.claim("deep-gradient").form("equality")
    bare = [
        replace(step, method=Smt(*(use for use in step.needs if use != "no less")))
        if step.id == "one step more, at least"
        else step
        for step in equal.proof.steps
    ]
    ledger = check(Proof(tuple(bare)), equal.statement, equal.assumptions, minimal=False)
    assert "nothing used states what it requires" in ledger.failures[0].detail


def test_nilpotency_is_what_stops_the_sum() -> None:
    """The ledger for N² = 0 proves nothing of N³ = 0, nor the other way round."""
    two, three = (theory.claim("linear-memory").form(f"jordan-{m}") for m in (2, 3))

    def swapped(one: Form, other: Form) -> bool:
        index = next(a for a in other.assumptions if a.id == "index")
        assumptions = tuple(index if a.id == "index" else a for a in one.assumptions)
        return check(one.proof, one.statement, assumptions, minimal=False).stands

    assert not swapped(two, three)
    assert not swapped(three, two)
