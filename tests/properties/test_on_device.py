"""Runs on a device: systems are drawn on the CPU and moved there; verdicts are those of the CPU."""

from __future__ import annotations

import pytest
import torch
from elsewhere import elsewhere

from rnnbounds.properties.attacks.budget import PROFILES, Budget, profile
from rnnbounds.properties.errors import QuantityError
from rnnbounds.properties.runs.parts import Part, chosen_claims, plan_parts, run_part
from rnnbounds.reports.records.checks import Tally


def tallies(part: Part, device: str) -> dict[str, dict[str, Tally]]:
    """The verdicts of every check of a part, by claim and form."""
    found = run_part(part, profile_name="quick", seed=1, device=device)
    return {
        claim: {form: evidence.tally for form, evidence in seen.items()}
        for claim, seen in found.evidence.items()
    }


def pieces(id: str, *attacks: str) -> list[Part]:
    """The attacks on a claim by itself, with a small budget."""
    every = plan_parts(chosen_claims([id]), attacks, profile("quick"))
    return [part for part in every if part.claims and part.work in attacks]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The profile ``quick`` with a few examples."""
    small = Budget(random=2, targeted=1, gradient=1, ascent=4, batch=3, sequences=2)
    monkeypatch.setitem(PROFILES, "quick", small)


@pytest.mark.parametrize("id", ["contraction-lstm", "projection"])
@pytest.mark.usefixtures("few")
def test_verdicts_of_tensors_that_lie_elsewhere(id) -> None:
    """No line of a part takes the tensors of a device for the CPU's."""
    for part in pieces(id, "random"):
        with elsewhere() as device:
            there = tallies(part, device)
        assert there == tallies(part, "cpu")


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("id", ["truncation", "gradient-gap", "contraction-rnn", "projection"])
@pytest.mark.usefixtures("few")
def test_verdicts_are_those_of_the_cpu(id) -> None:
    """Of every check; what a float leaves open is decided on the CPU."""
    for part in pieces(id, "random", "extremal"):
        assert tallies(part, "cuda") == tallies(part, "cpu")


def test_a_quantity_that_a_kind_has_not() -> None:
    """Is one line with the remedy."""
    assert str(QuantityError("dh_dx", "descent")).endswith("choose another kind")
