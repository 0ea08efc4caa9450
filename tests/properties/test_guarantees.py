"""Random certified models keep to what is guaranteed of them, and a broken one fails the run."""

import re
from dataclasses import replace
from math import inf

import pytest
import torch
from msgspec import structs

from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.format.fields import Window
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.properties import guarantees as module
from rnnbounds.properties.attacks.budget import profile
from rnnbounds.properties.guarantees import (
    GROUPS,
    GUARANTEES,
    Subject,
    attack_group,
    decide,
    rounding_checks,
    subjects,
)
from rnnbounds.properties.runs.parts import Part, PartResult, failures, guarantee_parts, plan_parts
from rnnbounds.properties.runs.record import merge_record
from rnnbounds.reports.records.outcome import run_problems
from rnnbounds.theory import CLAIMS

LEAST = {  # of a bound that some model of the group uses
    "linear": {"window": 0.85, "λ": 1.0, "gain": 0.999, "rounding": 0.1},
    "leaky-identity": {"window": 0.9, "λ": 0.999, "gain": 0.999, "rounding": 0.01},
}


QUICK = ("linear", "rnn-tanh", "rnn-relu", "deep-tanh", "leaky-tanh")


@pytest.mark.parametrize(
    "group", [g if g in QUICK else pytest.param(g, marks=pytest.mark.slow) for g in GROUPS]
)
def test_guarantees_hold(group: str) -> None:
    """Of every cell; those of linear units nearly use their bounds up."""
    for told in attack_group(group, 1, 0):
        assert (told.tally.violated, told.tally.undecided) == (0, 0), told.failing
        assert told.failing == ()
        assert told.tally.holds or (group, told.name) == ("others", "λ")
        assert LEAST.get(group, {}).get(told.name, 0.0) <= told.used <= 1


def less(subject: Subject) -> Subject:
    """The same model with a certificate that says a little too much of each guarantee."""
    told, shrunk = subject.told, 1 - 2.0**-20
    changed = structs.replace(
        told, lam=told.lam * shrunk,
        truncation=tuple(Window(0.9 * one.eps, one.k) for one in told.truncation),
        constants={**told.constants, "gain": 0.99 * told.constants["gain"]},
        rounding=structs.replace(told.rounding, state=told.rounding.state / 64),
    )  # fmt: skip
    return replace(subject, told=changed)


def test_a_broken_guarantee_fails_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Certificates that promise a little more than is true: each guarantee fails its part, and the
    run that it is part of."""
    honest = subjects("leaky-identity", 1, 0)
    monkeypatch.setattr(module, "subjects", lambda *asked: map(less, honest))
    found = {told.name: told for told in attack_group("leaky-identity", 1, 0)}
    result = PartResult(part=Part("guarantees", pool="linear"), guarantees=tuple(found.values()))
    failed = "\n".join(failures(result))
    run = merge_record([result], claims=(), attacks=(), profile="quick", seed=0)
    problems = "\n".join(run_problems(run))
    for name in GUARANTEES:
        assert found[name].tally.violated > 0
        assert re.search(f"{name}: .*violated", failed)
        assert re.search(f"the guarantee {name}: .*VIOLATED", problems)


def test_they_are_part_of_a_run_of_all_claims() -> None:
    """And of no other; a group that never reported is named."""
    names = [part.name for part in plan_parts(CLAIMS, (), profile("quick")) if part.pool in GROUPS]
    assert names == [f"guarantees/{group}" for group in GROUPS]
    assert guarantee_parts(CLAIMS[:1]) == []
    missing = merge_record([], claims=CLAIMS, attacks=(), profile="quick", seed=0).missing_parts
    assert {*names} <= {*missing}


def test_where_nothing_is_promised_of_rounding_nothing_is_attacked() -> None:
    """Erf in bfloat16 has no bound."""
    parts = torch.nn.RNN(1, 2).state_dict().items()
    model = load_model({name: (part / 8).bfloat16() for name, part in parts}, "rnn-erf")
    told = certify(model, inputs=1.0, eps=0.5)
    assert told.verdict == "certified"
    assert told.rounding.state == inf
    assert list(rounding_checks(Subject("erf", model, told))) == []


def test_ties_are_decided_exactly() -> None:
    """‖(3, 4)‖ is at most 5 and not less, in rationals; what balls leave open stays open."""
    norm = module.euclidean(2)
    ends = (lambda: [3.0, 4.0]), (lambda: [0.0, 0.0])
    assert decide(module.Check(ends, module.fmpq(25), norm)) == ("holds", 1.0)
    assert decide(module.Check(ends, 25 - module.fmpq(1, 2**90), norm))[0] == "violated"
    root = (lambda: [module.arb(2).sqrt(), module.arb(0)]), (lambda: [0.0, 0.0])
    assert decide(module.Check(root, module.fmpq(2), norm))[0] == "undecided"


def test_norms_are_as_their_names_say() -> None:
    """‖(1, −2)‖ in each norm of a linear model, from the weights that are printed."""
    told = {
        subject.told.norm: subject for subject in subjects("linear", 3, 1) if subject.widths == (2,)
    }
    s = torch.tensor([[1.0], [-2.0]], dtype=torch.float64)
    plain = {"spectral": 5**0.5, "infinity": 2.0, "one": 3.0}
    for name, subject in told.items():
        weights = torch.tensor(subject.told.weights or (), dtype=torch.float64)
        wanted = plain.get(name) or float(
            {
                "perron": lambda w: (s[:, 0].abs() / w).max(),
                "diagonal": lambda w: (s[:, 0] * w).norm(),
                "quadratic": lambda w: (w @ s[:, 0]).norm(),
            }[name](weights)
        )
        exact = float(
            module.arb(module.square(subject.norm, [module.fmpq(1), module.fmpq(-2)])).sqrt()
        )
        assert exact == pytest.approx(wanted)
        assert float(module.float_norm(subject.norm, s)) == pytest.approx(wanted)
    assert len(told) >= 3
