"""Runs on a device wait for it no more often for a long run than a short one; verdicts are those
of the CPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
from any_kind import any_system
from elsewhere import elsewhere
from msgspec.structs import replace

from rnnbounds.properties.attacks.budget import PROFILES, Budget, profile
from rnnbounds.properties.errors import QuantityError
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.runs.parts import Part, chosen_claims, plan_parts, run_part
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.reports.records.record import Tally

# Each asks for the value of a tensor. So does `numpy`, but a tensor on a device has none.
ASKING = ("item", "tolist", "cpu", "nonzero", "__bool__", "__float__", "__int__", "__index__")
# The readings of the claims about windows, norms, Jacobians and adjoints.
NAMES = (
    "h_norm", "h_gap", "y_gap", "grad_gap", "tbptt_gap", "dh_dx", "step_gap", "state_gap_P",
    "forced_gap", "forward_gap", "weight_distance", "proj_gap",
)  # fmt: skip

# Readings that make tensors beside those of the batch, velocities and weights among them.
MADE = (
    "h_gap", "h_norm", "dphi_w_box", "dh_dh_deep", "grad_gap_weights", "weight_distance", "w_gap",
    "trained_gap",
)  # fmt: skip


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Count calls of tensor methods by name within a block."""
    asked: Counter[str] = Counter()

    def counting(name: str) -> Callable[..., Any]:
        own = getattr(torch.Tensor, name)

        def ask(*args: Any, **options: Any) -> Any:
            asked[name] += 1
            return own(*args, **options)

        return ask

    with pytest.MonkeyPatch.context() as patch:
        for name in ASKING:
            patch.setattr(torch.Tensor, name, counting(name))
        yield asked


@pytest.mark.parametrize("name", NAMES)
def test_no_step_waits(name) -> None:
    """T = 8, 16 and 24 steps ask equally often; what is asked once in a process comes first."""
    asked = []
    for T in (16, 8, 24):
        batch = build_batch(
            make_spec(
                activation="tanh", regime="orthogonal", n=3, T=T, K=4, lam=0.5, batch=2, sequences=2
            )
        )
        with counted() as found, np.errstate(all="ignore"):
            MEASURES[name].enclose(batch)
        asked.append(found)
    assert asked[1] == asked[2]


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("kind", ["rnn", "smooth", "lstm", "deep", "training"])
def test_what_is_made_of_a_batch_lies_where_it_does(kind, name) -> None:
    """Tensors that a measure creates without a device would lie elsewhere; but for
    numbers, which are made once."""
    spec = any_system(
        kind, regime="gaussian", n=2, T=4, K=2, lam=0.5, batch=2, sequences=1, steps=2
    )
    first, again = build_batch(spec), build_batch(spec)
    with np.errstate(all="ignore"):
        MEASURES[name].enclose(first)
        with torch.device("meta"):
            MEASURES[name].enclose(again)


def tallies(part: Part, device: str) -> dict[str, dict[str, Tally]]:
    """The verdicts of every check of a part, by claim and form."""
    found = run_part(replace(part, variant_claims=()), profile_name="quick", seed=1, device=device)
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "id", ["contraction-rnn", "contraction-lstm", "projection", "certified-norm"]
)
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
    assert str(QuantityError("dh_dx", "matrix")).endswith("choose another kind")
