"""Two commits side by side: what is compared is what was called."""

import runpy
from pathlib import Path

import pytest

AGAINST = runpy.run_path(str(Path(__file__).with_name("against.py")))


def test_a_claim_with_fewer_pairs_is_told() -> None:
    """One that is new, or has more, is not."""
    found = AGAINST["fewer"]({"a": 5, "b": 4, "new": 1}, {"a": 5, "b": 7, "gone": 2})
    assert found == ["b: 4 pairs, 7 there", "gone: 0 pairs, 2 there"]


def test_a_call_has_an_exit_code_and_a_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What its own processes do is part of it, since it waits for them."""
    child = "import subprocess; subprocess.run([sys.executable, '-c', 'sum(range(10**6))'])"
    monkeypatch.setitem(
        AGAINST["spend"].__globals__, "PROGRAM", f"import sys; {child}; sys.exit(3)"
    )
    found = AGAINST["spend"](tmp_path, [])
    assert (found.code, found.seconds > 0) == (3, True)
