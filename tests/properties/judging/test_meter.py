"""Counter of checks during a run: those of this process and of those it starts."""

from types import SimpleNamespace

import pytest

from rnnbounds.properties.judging import meter
from rnnbounds.properties.judging.judge import judge
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.theory.language.parse import parse_statement


def test_every_check_counts() -> None:
    """A window of a pair is a check."""
    before = meter.total_checks()
    found = judge(
        parse_statement("h_gap <= S_0"), (), build_batch(make_spec(n=2, T=3, K=2, sequences=2))
    )
    assert meter.total_checks() - before == found.verdicts.size == 6


def test_each_process_has_a_count_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """All counts are added up."""
    monkeypatch.setattr(meter, "_all", [SimpleNamespace(value=1)])
    one, two = meter.new_counter(), meter.new_counter()
    one.value, two.value = 2, 4
    assert meter.total_checks() == 7
