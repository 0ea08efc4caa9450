"""The claims that carry the others: contraction, the norm's certificate, the rounding of a rollout.

Each variant is refuted here by an instance worked out by hand, in exact or ball arithmetic.
"""

from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from sympy import Expr

import theory
from theory.language.claim import prove, prove_variant
from theory.models.activations import ACTIVATIONS
from theory.numbers.evaluate import ball, rational
from theory.proof.proof import check

IDS = (
    "contraction-linear",
    "contraction-rnn",
    "contraction-weighted",
    "certified-norm",
    "rounding-state",
)


def holds(statement: tuple[Expr, Expr], values: dict[str, fmpq | int | str]) -> bool:
    """lhs <= rhs in rationals where possible, else certainly in balls of 300 bits."""
    lhs, rhs = statement
    exact = {name: fmpq(*Fraction(str(value)).as_integer_ratio()) for name, value in values.items()}
    left, right = rational(lhs, exact), rational(rhs, exact)
    if left is not None and right is not None:
        return bool(left <= right)
    with ctx.workprec(300):
        balls = {name: arb(value) for name, value in exact.items()}
        return bool(ball(lhs, balls) <= ball(rhs, balls))


# An instance for each variant: the claim's form holds on it, and the variant does not.
NILPOTENT = {"step_gap": 2, "state_gap": 1, "W_norm": 5, "W_radius": 0, "L_rho": 1}
SHEAR = {"step_gap": 100, "state_gap": 1, "W_norm": 101, "W_radius": Fraction(1, 2), "L_rho": 1}
STEEP = {"step_gap": "1.07", "state_gap": 1, "W_norm": "0.95", "W_radius": "0.95", "L_rho": "1.13"}
SCALAR = {"step_gap": "0.5", "state_gap": 1, "W_norm": "0.5", "W_radius": "0.5", "L_rho": 1}
INSTANCES = {
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
ROUNDING = {
    "lam": "0.97", "T": 128, "n": 1, "d": 1, "u": Fraction(1, 2**53), "L_rho": 1, "Z_hat": 20,
    "e_rho": 0, "e_relative": 0, "eps_1": Fraction(85, 2**53), "h_rounding": Fraction(400, 2**53),
}  # fmt: skip
SOFTPLUS = ROUNDING | {"e_rho": "2.1e-9", "eps_1": "2.2e-9", "h_rounding": "1.2e-9"}
INSTANCES |= {
    ("rounding-state", "no-accumulation"): ROUNDING,
    ("rounding-state", "exact-activation"): SOFTPLUS,
    ("rounding-state", "relative-error"): SOFTPLUS | {"e_relative": "1e-14"},
    ("rounding-state", "one-step-short"): ROUNDING | {"T": 1, "h_rounding": Fraction(1, 2**53)},
}


@pytest.mark.parametrize("id", IDS)
def test_the_claim_is_proved_by_machine(id: str) -> None:
    """Every form, every step, from at least one textbook axiom that is not the claim."""
    for ledger in prove(theory.claim(id)):
        assert ledger.proved, ledger.failures
        assert {step.kind for step in ledger.steps} == {"machine"}
        assert ledger.axioms


def test_every_variant_has_its_instance() -> None:
    """The instances below are those of all variants of these claims."""
    variants = {(id, variant.id) for id in IDS for variant in theory.claim(id).false_variants}
    assert variants == set(INSTANCES)


@pytest.mark.slow
@pytest.mark.parametrize("key", INSTANCES, ids="/".join)
def test_an_instance_separates_variant_and_form(key: tuple[str, str]) -> None:
    """On it the true statement holds, the false one does not, and its ledger fails."""
    claim = theory.claim(key[0])
    variant = claim.variant(key[1])
    form = claim.form(variant.form)
    values = INSTANCES[key]
    assert holds((form.statement.lhs, form.statement.rhs), values)
    assert holds((variant.statement.rhs, variant.statement.lhs), values)
    assert not holds((variant.statement.lhs, variant.statement.rhs), values)
    assert not prove_variant(claim, variant).proved


def test_the_rnn_ledger_uses_the_table() -> None:
    """It proves the slope of each activation, and a claim of slope 1 for all fails there."""
    (ledger,) = prove(theory.claim("contraction-rnn"))
    assert all(name in ledger.steps[0].detail for name in ACTIVATIONS)


def test_the_weights_must_be_diagonal() -> None:
    """Without that assumption an activation is not known to respect a weighted norm."""
    form = theory.claim("contraction-weighted").form("diagonal")
    rest = tuple(a for a in form.assumptions if a.id != "diagonal")
    ledger = check(form.proof, form.statement, rest)
    assert "'diagonal' is neither granted nor proved" in ledger.failures[0].detail


def test_the_shift_is_what_pays() -> None:
    """Without the gate's shift the certificate has no proof."""
    form = theory.claim("certified-norm").forms[0]
    rest = tuple(a for a in form.assumptions if a.id != "gate")
    assert not check(form.proof, form.statement, rest).proved
