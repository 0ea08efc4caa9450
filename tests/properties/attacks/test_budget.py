"""Budgets: counts by profile, smaller batches where a quantity is costly."""

from itertools import pairwise

import pytest

from rnnbounds.properties.attacks import extremal
from rnnbounds.properties.attacks.attack import Attack, attacks, chosen_attacks
from rnnbounds.properties.attacks.budget import PROFILES, batch_size, profile
from rnnbounds.properties.errors import InputError, UnknownChoiceError
from rnnbounds.properties.judging.judge import form_quantities
from rnnbounds.properties.measures.measure import NEEDS
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.theory import CLAIMS, claim
from rnnbounds.theory.language.vocabulary import VOCABULARY


def test_profiles_grow() -> None:
    """ci attacks more than quick in every count of examples, deep more than ci."""
    sizes = [profile(name) for name in ("quick", "ci", "deep")]
    for less, more in pairwise(sizes):
        assert less.random < more.random
        assert less.targeted < more.targeted
        assert less.gradient < more.gradient
    assert set(PROFILES) == {"quick", "ci", "deep"}


def test_unknown_names() -> None:
    """Unknown profiles and attacks, and no attack at all, are one line with the choices."""
    with pytest.raises(UnknownChoiceError, match="quick, ci, deep"):
        profile("slow")
    for names in (["random", "brute"], [], [""]):
        with pytest.raises(UnknownChoiceError, match="random, targeted, gradient, extremal"):
            chosen_attacks(names)


def test_two_attacks_of_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are refused, whichever file they stand in."""
    monkeypatch.setattr(extremal, "ATTACKS", (*extremal.ATTACKS, Attack("random", print)))
    attacks.cache_clear()
    with pytest.raises(InputError, match="two attacks are named 'random'; rename one of them"):
        attacks()
    monkeypatch.undo()
    assert tuple(attacks()) == ("random", "targeted", "gradient", "extremal")


def test_attacks_in_their_own_order() -> None:
    """Any order and repetition of names gives the attacks once, in order."""
    assert chosen_attacks(reversed(attacks())) == tuple(attacks()) == chosen_attacks(["all"])
    assert chosen_attacks(["gradient", "random", "random"]) == ("random", "gradient")


def test_batches_are_as_small_as_the_costliest_quantity() -> None:
    """A plain claim has the profile's batch, one with a referee's reading a small one."""
    budget = profile("quick")
    plain = [form for form in claim("truncation").forms if form.about == "rnn"]
    assert batch_size(budget, form_quantities(*plain)) == (budget.batch, budget.sequences)
    rooms = [
        measure.needs.efficient_size[0]
        for measure in MEASURES.values()
        if measure.needs.efficient_size
    ]
    for entry in CLAIMS:
        batch, sequences = batch_size(budget, form_quantities(*entry.forms))
        assert 1 <= batch <= max(budget.batch, *rooms)
        assert 1 <= sequences <= budget.sequences
    costly = [form for form in claim("receptive-field").forms if form.about == "rnn"]
    assert batch_size(budget, form_quantities(*costly)) == MEASURES["field_gap"].needs.max_size


def test_what_asks_is_measured_or_certified() -> None:
    """No entry is a misspelt name."""
    assert {VOCABULARY[name].role for name in NEEDS} == {"certified", "measured"}
