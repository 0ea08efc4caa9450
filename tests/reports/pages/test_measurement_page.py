"""The page of a measurement: its verdict and sentence follow from the record, whatever it says."""

import pytest

from rnnbounds.reports.pages.experiment import render_page
from rnnbounds.reports.pages.model.answer import percent_below, percent_text
from rnnbounds.reports.pages.model.page import measurement_page


def measured(ks, shares=None, *, largest=0.5, **fields):
    """The record of a measurement whose k at ε = 0.1 and 0.01 are these."""
    epsilons = (0.1, 0.01)
    curve = [{"k": k, "q50": g / 2, "worst": g} for k, g in ((0, largest), (1, 0.05), (9, 0))]
    found = {
        "model": "model.pt", "cell": "lstm", "shape": {"n": 4, "d": 1}, "sha256": "00",
        "data": {"source": "/home/someone/x.npy", "windows": 40, "length": 9},
        "forgetting": {"windows": 40, "curve": curve},
        "memory": [{"eps": eps, "k": k} for eps, k in zip(epsilons, ks, strict=True)],
        "steps": {
            "windows": 9, "norm": {"median": 0.5, "largest": 0.9}, "lyapunov": {"mean": -0.5},
        },
        "stability": {"largest_ratio": 0.75, "pairs": 9, "expanding": 0},
        "statement": None, "unstated": "they overlap", "near": None,
    }  # fmt: skip
    if shares is not None:
        lines = [
            {"eps": eps, "k": k, "share": share, "beyond": None if k is None else 0}
            for eps, k, share in zip(epsilons, ks, shares, strict=True)
        ]
        found["statement"] = {
            "confidence": 0.95, "presupposes": "they are independent", "lines": lines,
            "windows": {"chosen_on": 20, "held_out": 20}, "share": 0.99, "held_out_needed": 99,
        }  # fmt: skip
    return found | fields


CERTIFICATE = {
    "verdict": "undecided", "inputs": {"what": "[-1, 1]"},
    "truncation": [{"eps": 0.1, "k": None}],
    "next": {"measure": "rnnbounds measure m", "lines": ["train it: rnnbounds.penalty()"]},
}  # fmt: skip


def page_of(seen, problems=(), certificate=CERTIFICATE):
    """The page, which renders."""
    page = measurement_page(seen, certificate, "model.pt", problems, options={})
    assert render_page(page)
    return page


@pytest.mark.parametrize(
    ("seen", "word", "tone"),
    [
        (measured((3, 5), (0.75, 0.9)), "k found", "good"),
        (measured((3, 5)), "k seen, not stated", "open"),
        (measured((3, 5), (0.75, 0)), "k seen, not stated", "open"),
        (measured((3, None), (0.75, None)), "k found for some ε", "open"),
        (measured((None, None), (None, None)), "no k found", "bad"),
    ],
)
def test_the_verdict(seen, word, tone):
    """Green if k is stated at each ε, red if none is seen, else open; red if something fails."""
    page = page_of(seen)
    assert (page.verdict.word, page.verdict.tone, page.problems) == (word, tone, ())
    failing = page_of(seen, ["a share of 0.5 is stated, not 0.9"])
    assert (failing.verdict.tone, len(failing.problems)) == ("bad", 1)


def test_shares_are_rounded_down():
    """So that no page states more than its record."""
    assert [percent_text(r) for r in (0.00123, 0.07, 0.345, 12.34)] == [
        "0.12 %",
        "7 %",
        "34 %",
        "1200 %",
    ]
    assert [percent_below(s) for s in (0.99999, 0.75, 1.0)] == ["99.99 %", "75 %", "100 %"]
