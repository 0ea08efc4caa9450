"""Small budgets, so that whole attacks run in seconds."""

import sys
from pathlib import Path

import pytest

from rnnbounds.properties.attacks import budget
from rnnbounds.properties.attacks.budget import Budget

sys.path.insert(0, str(Path(__file__).parent))  # what several processes of a test share

SMALL = Budget(random=4, targeted=3, gradient=2, ascent=20, batch=6, sequences=2)


@pytest.fixture
def small() -> Budget:
    """A budget of a few examples."""
    return SMALL


@pytest.fixture
def small_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The profile ``quick``, made small (spawned workers do not see it)."""
    monkeypatch.setitem(budget.PROFILES, "quick", SMALL)
