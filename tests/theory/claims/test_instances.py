"""Instances by hand that part each form from its false variants.

Of the claims that carry the others (contraction, the norm's certificate, rounding), and of deep,
stacked and linear recurrences: exact, or in ball arithmetic.
"""

from dataclasses import replace
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from sympy import Expr

import theory
from theory.language import Statement
from theory.numbers.evaluate import ball, rational
from theory.proof import Form, Variant

Values = dict[str, Fraction | int | str]
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
CORNERED: Values = {"dh_dh_deep": 0, "isometric": 0, "k": 2, "T": 2, "lam_deep": 1, "W_product": 1}
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

LAYERED: dict[tuple[str, str], Values] = {
    ("contraction-deep", "largest-layer"): GELU,
    ("contraction-deep", "slope-once"): GELU,
    ("contraction-deep", "spectral-radii"): CUT,
    ("contraction-deep", "norm-of-the-product"): CUT,
    ("contraction-deep", "one-thousandth"): EXACT,
    ("deep-gradient", "depth-not-counted"): GROWING,
    ("deep-gradient", "next-power"): SHRINKING,
    ("deep-gradient", "any-matrix"): CORNERED,
    ("deep-gradient", "half-of-it"): CORNERED,
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
NILPOTENT: Values = {"step_gap": 2, "state_gap": 1, "W_norm": 5, "W_radius": 0, "L_rho": 1}
SHEAR: Values = {
    "step_gap": 100,
    "state_gap": 1,
    "W_norm": 101,
    "W_radius": Fraction(1, 2),
    "L_rho": 1,
}
STEEP: Values = {
    "step_gap": "1.07",
    "state_gap": 1,
    "W_norm": "0.95",
    "W_radius": "0.95",
    "L_rho": "1.13",
}
SCALAR: Values = {"step_gap": "0.5", "state_gap": 1, "W_norm": "0.5", "W_radius": "0.5", "L_rho": 1}
CARRYING: dict[tuple[str, str], Values] = {
    ("contraction-linear", "spectral-radius"): NILPOTENT,
    ("contraction-linear", "radius-below-one"): SHEAR,
    ("contraction-linear", "root-twice"): SHEAR,
    ("contraction-linear", "one-thousandth"): SCALAR,
    ("contraction-rnn", "spectral-radius"): NILPOTENT,
    ("contraction-rnn", "radius-below-one"): NILPOTENT,
    ("contraction-rnn", "unit-slope"): STEEP,
    ("contraction-rnn", "root-twice"): SHEAR,
    ("contraction-rnn", "one-thousandth"): SCALAR,
    # W = [[.5, 100], [0, .5]], μ = .75: ‖W e₂‖ = 133 λ_P (the condition number is about 370).
    ("contraction-weighted", "without-condition"): {
        "h_gap": 100, "h_start": 1, "lam_P": "0.75", "kappa": 370, "k": 1, "T": 2,
    },
    ("contraction-weighted", "root-of-condition"): {
        "h_gap": 100, "h_start": 1, "lam_P": "0.75", "kappa": 370, "k": 1, "T": 2,
    },
    # W = [[2, 4], [-1, -2]] with ReLU: λ_P = .886, and diag(1, 0) W stretches by 2.12.
    ("contraction-weighted", "any-quadratic"): {
        "step_gap_P": "2.12", "state_gap_P": 1, "lam_P": "0.886", "L_rho": 1,
        "step_gap_D": 2, "state_gap_D": 1, "lam_D": 4,
    },
    # W = [[0, 1], [0, 0]] in the norm of diag(ε, 1)
    ("contraction-weighted", "plain-norm"): {
        "step_gap": 1, "state_gap": 1, "lam_D": "0.01", "step_gap_D": "0.01", "state_gap_D": 1,
    },
    ("contraction-weighted", "radius-of-w"): {
        "step_gap_v": 2, "state_gap_v": 1, "lam_v": 4, "L_rho": 1, "W_radius": 0,
    },
    ("contraction-weighted", "without-equivalence"): {
        "step_gap": 100, "state_gap": 1, "lam_v": "0.51", "step_gap_v": "0.5", "state_gap_v": 1,
    },
    ("contraction-weighted", "unit-slope"): {
        "step_gap_v": "1.07", "state_gap_v": 1, "lam_v": "1.0735", "L_rho": "1.13",
    },
    ("certified-norm", "singular-value"): {
        "W_norm_exact": 1, "s_gate": "1.00000001", "s_svd": "0.9999999999999999",
    },
    ("certified-norm", "power-iteration"): {"W_norm_exact": 1, "s_gate": "1.01", "s_power": "0.99"},
    ("certified-norm", "unshifted"): {
        "W_norm_exact": 1, "s_gate": "1.00000001", "s_unshifted": "0.9999999999999999",
    },
    ("certified-norm", "unscaled"): {
        "W_norm_exact": "3.6e-162", "s_gate": "3.7e-162", "s_unscaled": "3.5e-162",
    },
    ("certified-norm", "unsquared"): {"W_norm_exact": 4, "s_gate": 4},
}  # fmt: skip
ROUNDING: Values = {
    "lam": "0.97", "T": 128, "n": 1, "d": 1, "u": Fraction(1, 2**53), "L_rho": 1, "Z_hat": 20,
    "e_rho": 0, "e_relative": 0, "eps_1": Fraction(85, 2**53), "h_rounding": Fraction(400, 2**53),
}  # fmt: skip
SOFTPLUS: Values = ROUNDING | {"e_rho": "2.1e-9", "eps_1": "2.2e-9", "h_rounding": "1.2e-9"}
CARRYING |= {
    ("rounding-state", "no-accumulation"): ROUNDING,
    ("rounding-state", "exact-activation"): SOFTPLUS,
    ("rounding-state", "relative-error"): SOFTPLUS | {"e_relative": "1e-14"},
    ("rounding-state", "one-step-short"): ROUNDING | {"T": 1, "h_rounding": Fraction(1, 2**53)},
}
# Networks and their unitary candidates: two steps, and two units.
USUAL: Values = {
    "T": 2, "n": 2, "separation": 0, "W_rank": 0, "pattern_constant": 1, "scalar_W": 1,
}  # fmt: skip
SWAP: Values = USUAL | {"states": 4, "active": 2}
NILPOTENT_W: Values = USUAL | {"states": 3, "W_rank": 1, "active": 2, "scalar_W": 0}
NEARLY: Values = USUAL | {"states": 3, "separation": Fraction(1, 2**20)}
# Eigenvalues that differ: n + 1 states, in other coordinates of the state.
DIAGONAL: Values = USUAL | {"states": 3, "W_rank": 2, "active": 2, "scalar_W": 0}
TURN: Values = USUAL | {"n": 1, "states": 2, "active": 2, "W_rank": 1}
BLOCK: Values = {"n": 1, "states": 2, "multiplicity": 1, "multiplicity_any": 1}
ISOMETRIC: Values = {"n": 2, "states": 3, "multiplicity": 0, "multiplicity_any": 2}
SCALAR_W: Values = {
    "n": 1,
    "w_abs": Fraction(1, 2),
    "same_activation": 1,
    "sigmoidal": 1,
    "sigmoid_gap": 1,
}
SEVERAL: Values = SCALAR_W | {"n": 2, "driven": 1, "W_radius": Fraction(1, 2)}
PLANTS: Values = {
    "unit_count": 4, "equal_classes": 3, "sign_classes": 2, "sample_rank": 2,
    "analytic_classes": 2, "analytic_rank": 1,
}  # fmt: skip
LIMITS: dict[tuple[str, str], Values] = {
    ("urnn-tight", "at-2n"): SWAP,
    ("urnn-tight", "bounded-away"): NEARLY,
    ("urnn-tight", "one-fewer-suffices"): NEARLY,
    ("urnn-tight", "one-more"): SWAP,
    ("urnn-tight", "any-contraction"): NILPOTENT_W,
    ("urnn-tight", "rank-of-w"): DIAGONAL,
    ("urnn-tight", "half-the-rank"): DIAGONAL | {"n": 3, "states": 4, "W_rank": 3, "active": 3},
    ("urnn-tight", "one-more-than-active"): SWAP | {"T": 5},
    ("urnn-tight", "one-step-shorter"): TURN,
    ("urnn-tight", "any-contraction-active"): NILPOTENT_W,
    ("urnn-tight", "one-less"): BLOCK,
    ("urnn-tight", "unit-eigenvalues"): ISOMETRIC,
    ("urnn-sigmoid", "unit-weight"): SCALAR_W | {"w_abs": 1, "sigmoid_gap": 0},
    ("urnn-sigmoid", "no-approximation"): SCALAR_W | {"sigmoid_gap": Fraction(1, 100)},
    ("urnn-sigmoid", "relu-too"): SCALAR_W | {"sigmoidal": 0, "sigmoid_gap": 0},
    ("urnn-sigmoid", "mixed"): SCALAR_W
    | {"same_activation": 0, "sigmoid_gap": 0, "w_abs": Fraction(1, 4)},
    ("urnn-sigmoid", "radius-one"): SEVERAL | {"W_radius": 1, "sigmoid_gap": 0},
    ("urnn-sigmoid", "constant-output"): SEVERAL | {"driven": 0, "sigmoid_gap": 0},
    ("urnn-sigmoid", "every-unit"): PLANTS,
    ("urnn-sigmoid", "signs-apart"): PLANTS,
    ("urnn-sigmoid", "any-analytic"): PLANTS,
}
INSTANCES = LAYERED | CARRYING | LIMITS


def order(left: Expr, right: Expr, values: Values) -> int:
    """The sign of left - right, in rationals where possible, else for certain in 300 bits."""
    env = {name: fmpq(*Fraction(str(value)).as_integer_ratio()) for name, value in values.items()}
    one, two = rational(left, env), rational(right, env)
    if one is not None and two is not None:
        return (one > two) - (one < two)
    with ctx.workprec(300):
        balls = {name: arb(value) for name, value in env.items()}
        gap = ball(left, balls) - ball(right, balls)
        assert gap > 0 or gap < 0
        return 1 if gap > 0 else -1


def holds(statement: Statement, values: Values) -> bool:
    """The statement at the values."""
    sign = order(statement.lhs, statement.rhs, values)
    return {"<=": sign <= 0, "<": sign < 0, "==": sign == 0, "!=": sign != 0}[statement.relation]


def implied(part: Form | Variant, values: Values) -> bool:
    """Whether a condition that speaks of the values fails, or the statement holds."""
    conditions = [a.condition for a in part.assumptions if a.condition is not None]
    known = (s for s in conditions if {symbol.name for symbol in s.symbols} <= set(values))
    return not all(holds(s, values) for s in known) or holds(part.statement, values)


def test_every_variant_has_its_instance() -> None:
    """The instances are those of all variants of these claims."""
    ids = {id for id, _ in INSTANCES}
    variants = {(id, variant.id) for id in ids for variant in theory.claim(id).false_variants}
    assert variants == set(INSTANCES)


@pytest.mark.parametrize("key", INSTANCES, ids="/".join)
def test_an_instance_separates_variant_and_form(key: tuple[str, str]) -> None:
    """On it the true statement holds, and the false one does not."""
    claim = theory.claim(key[0])
    variant = claim.variant(key[1])
    assert not implied(variant, INSTANCES[key])
    assert implied(claim.form(variant.form), INSTANCES[key])


def test_w_zero_without_two_times() -> None:
    """One time alone is matched with n states: the ledger needs T ≥ 2."""
    form, values = theory.claim("urnn-tight").form("needed"), SWAP | {"T": 1, "states": 2}
    rest = tuple(a for a in form.assumptions if a.id != "two steps")
    assert not implied(replace(form, assumptions=rest), values)
    assert implied(form, values)
