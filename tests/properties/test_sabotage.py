"""Sabotage: every false variant falls, no true claim does, and variants are near misses."""

import pytest

from properties.budget import Budget
from properties.judge import Verdict, judge
from properties.sabotage import hunt, sabotage
from properties.spec import Kind, SystemSpec, parse_spec
from properties.system import build
from theory import CLAIMS
from theory.claim import Claim, Form, Variant

BUDGET = Budget(random=24, targeted=12, gradient=6, ascent=60, batch=24, sequences=6)
LITTLE = Budget(random=6, targeted=2, gradient=1, ascent=5, batch=6, sequences=2)
VARIANTS = [(entry, variant) for entry in CLAIMS for variant in entry.false_variants]
FORMS = [(entry, form) for entry in CLAIMS for form in entry.forms]
KINDS: dict[str, Kind] = {"linear": "linear", "matrix": "matrix", "descent": "descent"}


def label(value: Claim | Variant | Form) -> str:
    """The name of a parametrised case."""
    return value.name if isinstance(value, Form) else value.id


@pytest.mark.parametrize(("entry", "variant"), VARIANTS, ids=label)
def test_every_variant_is_convicted(entry: Claim, variant: Variant) -> None:
    """The claim's attack finds a violation, which shrinks and replays; the claim's ledger fails."""
    found = sabotage(entry, variant, budget=BUDGET, seed=0)
    assert found.convicted
    assert found.ledger_fails
    assert found.why
    assert found.systems >= 1
    assert (found.special is None) or found.attack == "extremal"
    check = found.counterexample
    assert check is not None
    assert check.verdict == "VIOLATED"
    again = judge(
        variant.statement, variant.assumptions, build(parse_spec(check.replay.split("'")[1]))
    )
    assert (again.verdicts == Verdict.VIOLATED).any()


@pytest.mark.parametrize(("entry", "form"), FORMS, ids=label)
def test_a_true_statement_is_acquitted(entry: Claim, form: Form) -> None:
    """The same hunt finds nothing against the claim itself, and its ledger proves it."""
    truth = form.variant("truth", "the form itself")
    found = sabotage(entry, truth, budget=LITTLE, seed=1)
    assert not found.convicted
    assert not found.ledger_fails
    assert found.counterexample is None
    assert found.attack is None
    assert found.systems > 0


@pytest.mark.parametrize("entry", CLAIMS, ids=label)
def test_variants_are_near_misses(entry: Claim) -> None:
    """At least four variants a claim; at least two hold on the first hundred Gaussian systems."""
    assert len(entry.false_variants) >= 4
    survivors = []
    for variant in entry.false_variants:
        kind = KINDS.get(entry.form(variant.form).about, "rnn")
        spec = SystemSpec(
            kind=kind, activation="tanh" if kind == "rnn" else "identity", regime="gaussian",
            inputs="gaussian", n=4, d=2, T=20, K=8, lam=0.5, batch=100,
        )  # fmt: skip
        seen = judge(variant.statement, variant.assumptions, build(spec)).verdicts
        # VACUOUS alone would be no survival.
        if not (seen == Verdict.VIOLATED).any() and (seen == Verdict.HOLDS).any(axis=(1, 2)).all():
            survivors.append(variant.id)
    assert len(survivors) >= 2


def test_special_variants_stand_without_their_instance() -> None:
    """What is said to fall by one instance alone survives the searches that come before it."""
    for entry, variant in VARIANTS:
        if variant.special not in ("shear-100", "nilpotent-relu"):
            continue
        form = entry.form(variant.form)
        found = hunt(
            variant.statement, variant.assumptions, [form.about], [form], budget=LITTLE,
            attacks=[(a, 1.0) for a in ("random", "targeted", "gradient")], seed=0,
            label=variant.id,
        )  # fmt: skip
        assert found.spec is None


def test_a_hunt_counts_systems_up_to_the_first_violation() -> None:
    """The count ends with the system that fell; the same seed finds the same one."""
    entry = next(c for c in CLAIMS if c.id == "truncation")
    variant = entry.variant("no-horizon")
    one, two = (sabotage(entry, variant, budget=BUDGET, seed=9) for _ in range(2))
    assert one == two
    other = sabotage(entry, variant, budget=BUDGET, seed=10)
    assert other.convicted
