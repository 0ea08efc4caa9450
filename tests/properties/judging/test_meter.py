"""What is counted while a run goes on: the checks of this process and of those it starts."""

import pytest

from properties.attacks.budget import PROFILES
from properties.judging import meter
from properties.judging.judge import judge
from properties.runs.parts import chosen_claims, parts_of
from properties.runs.run import run_calls
from properties.systems.batch import build
from properties.systems.table import system
from theory.language.parse import parse_statement


def test_every_check_counts() -> None:
    """A window of a pair is a check."""
    before = meter.total()
    found = judge(parse_statement("h_gap <= S_0"), (), build(system(n=2, T=3, K=2, sequences=2)))
    assert meter.total() - before == found.verdicts.size == 6


@pytest.mark.slow
def test_checks_of_other_processes_count() -> None:
    """As many as the same parts make here."""
    chosen = chosen_claims(("contraction-linear", "contraction-rnn"))
    calls = [
        (p, 0) for p in parts_of(chosen, ("extremal",), PROFILES["quick"]) if p.pool and p.claims
    ]
    counts = []
    for workers in (0, 2):
        before = meter.total()
        assert len(list(run_calls(calls, profile="quick", workers=workers))) == 2
        counts.append(meter.total() - before)
    assert counts[0] == counts[1] > 0
