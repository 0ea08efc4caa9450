"""How long a model remembers, on a page."""

from rnnbounds.reports.pages.model.memory import memory_section

FORGETTING = {"windows": 1, "curve": [{"k": 1, "q50": 0.1, "q90": 0.1, "worst": 0.1}]}


def test_numbers_that_were_asked_for_keep_their_digits():
    """δ of what is certified near data, as ε: no rounding makes it larger than it was."""
    whole = {"verdict": "undecided", "input_bound": 1.0, "truncation": []}
    near = {"delta": 0.12345678, "pasts": 0, "gaps": [], "memory": [{"eps": 0.0100000001, "k": 3}]}
    seen = {"near": near, "memory": near["memory"], "statement": None, "forgetting": FORGETTING}
    told = repr(memory_section(whole, seen))
    assert "inputs within 0.12345678 of" in told
    assert "0.0100000001" in told
