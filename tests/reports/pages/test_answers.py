"""The page of an answer, its sentences and pictures: whatever the records say."""

import re
from fractions import Fraction

import pytest

from rnnbounds.reports.pages.experiment import render_page
from rnnbounds.reports.pages.figures import Bracket, draw_brackets
from rnnbounds.reports.pages.model.answer import (
    answer_sentence,
    epsilon_meaning,
    epsilon_share,
    factor_text,
    ladder_lines,
    measurement_sentence,
    needed_text,
    next_steps,
    output_bound,
    percent_below,
    percent_text,
    size_line,
    statement_sentence,
    witness_meaning,
)
from rnnbounds.reports.pages.model.details import detail_sections
from rnnbounds.reports.pages.model.facts import norms_table
from rnnbounds.reports.pages.model.memory import memory_section, next_sections
from rnnbounds.reports.pages.model.page import certificate_page, measurement_page

CERTIFIED = {
    "verdict": "certified",
    "truncation": [{"eps": 0.1, "k": 23}, {"eps": 0.01, "k": 35}],
    "constants": {"B_h": 1.4375},
    "readout": None,
}


def test_epsilon_in_units() -> None:
    """Of the output, or of a readout's predictions; nothing is said of what is not bounded."""
    assert epsilon_meaning(CERTIFIED) == (
        "ε bounds the Euclidean distance of two outputs h, where ‖h‖₂ ≤ 1.4375"
    )
    read = CERTIFIED | {"readout": {"tensor": "head.weight", "norm": 3.0}}
    assert Fraction(output_bound(read)) >= Fraction(3 * 1.4375)
    assert epsilon_meaning(read).endswith("distance of two y, where ‖y‖₂ ≤ 4.31251")
    assert output_bound(CERTIFIED | {"constants": {"B_h": None}}) is None
    assert "where" not in epsilon_meaning(CERTIFIED | {"constants": {}})


def test_shares_and_factors_are_rounded_up() -> None:
    """ε looks no smaller than it is, and λ is below 1 where it is; an infinite one is a sign."""
    for epsilon, whole in ((0.1, 1.4375), (0.1, 3.0), (1e-9, 7.0), (2.0, 3.0)):
        share = Fraction(epsilon_share(epsilon, whole).split()[0])
        assert share >= 100 * Fraction(epsilon) / Fraction(whole)
    factors = [factor_text(lam) for lam in (0.1234564, 1 - 2.0**-53, float("inf"))]
    assert factors == ["0.123457", "0.99999999999999989", "∞"]


def test_shares_of_windows_are_rounded_down():
    """So that no page states more than its record."""
    assert [percent_text(r) for r in (0.00123, 0.345, 12.34)] == ["0.12 %", "34 %", "1200 %"]
    shares = {0.999987: "99.9986 %", 0.5623: "56 %", 0.9446: "94.4 %", 0.75: "75 %", 1.0: "100 %"}
    assert {share: percent_below(share) for share in shares} == shares
    assert all(Fraction(percent_below(i / 999)[:-2]) <= Fraction(i, 999) * 100 for i in range(999))


def test_ends_of_a_bracket_that_are_not_known() -> None:
    """Nothing green of a model that is not certified, nothing red where nothing was found."""
    assert 'class="enough block"' not in draw_brackets([Bracket("ε = 1", 5)])
    assert 'class="short block"' not in draw_brackets([Bracket("ε = 1", 0, 5)])
    assert 'class="open block"' not in draw_brackets([Bracket("ε = 1", 7, 7)])


def test_bars_show_a_k_that_will_do() -> None:
    """Without one there are none; k that are refuted far beyond do not stretch the axis."""
    attacked = {"attacked": {"no_k_below": [{"eps": 0.1, "k": 2049}]}}
    told = CERTIFICATE | {"verdict": "refuted"} | attacked
    assert "Drawing" not in repr(memory_section(told))
    drawn = draw_brackets([Bracket("ε = 0.1", 2049, seen=10)])
    assert max(map(int, re.findall(r">(\d+)</text>", drawn))) == 30


WITNESS = {"kind": "unstable-orbit", "text": "it has one", "input": [0.0], "distance": 0.5}


@pytest.mark.parametrize("seen", [None, {}])
def test_a_refuted_page_says_what_that_means(seen):
    """After the witness, and before what was measured; to measure is said where nobody did."""
    seen = seen if seen is None else measured((3, 5))
    told = CERTIFICATE | {"verdict": "refuted", "witness": WITNESS}
    lead = certificate_page(told, "m.pt", measurement=seen).lead
    assert lead.startswith("m.pt does not contract: it has one, 0.5 from the nearest recorded")
    assert "Under the constant input 0 a difference of states, however small, can grow;" in lead
    assert ("measure it" in lead) == (seen is None)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("eigenvalue", "whatever the inputs are"), ("two-orbits", "under that constant input"),
        ("growth", "never come nearer; on your data this need not be so"),
    ],
)  # fmt: skip
def test_the_meaning_of_a_witness(kind, words):
    """Only an eigenvalue's difference of states stays whatever the inputs are."""
    told = witness_meaning({"witness": {"kind": kind, "input": [1.0]}})
    assert words in told
    assert ("on your data" in told) == (kind != "eigenvalue")


def test_a_weak_share_says_what_a_strong_one_takes():
    """If there were too few windows; not if some of many were beyond ε."""
    few, many = measured((3, 5), (0.5, 0.5)), measured((3, 5), (0.5, 0.5))
    many["statement"]["windows"]["held_out"] = 50
    words = "; 20 held-out windows say no more, a share of 0.9 takes 36."
    assert statement_sentence(few).endswith(f"50 % of windows drawn like these{words}")
    assert statement_sentence(many).endswith("of windows drawn like these.")


def test_factors_of_one_or_more_prove_nothing() -> None:
    """The table says so; and only where there is one."""
    told = CERTIFIED | {"norms_tried": [{"norm": "spectral", "lambda": 1.5, "k": None}]}
    assert norms_table(told).caption == "Where λ ≥ 1 the norm proves nothing: λ is an upper bound."
    small = CERTIFIED | {"norms_tried": [{"norm": "perron", "lambda": 0.5, "k": 3}]}
    assert norms_table(small).caption == ""


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
            "windows": 9, "last": 9, "norm": {"median": 0.5, "largest": 0.9},
            "lyapunov": {"mean": -0.5},
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
        (measured((3, 5), (0.95, 0.9)), "k found", "good"),
        (measured((3, 5)), "k seen, not stated", "open"),
        (measured((3, 5), (0.75, 0)), "k seen, not stated", "open"),
        (measured((3, 5), (0.95, 0.89)), "k stated of few windows", "open"),
        (measured((3, 5), (0.14, 0.56)), "k stated of few windows", "open"),
        (measured((3, None), (0.75, None)), "k found for some ε", "open"),
        (measured((None, None), (None, None)), "no k found", "bad"),
    ],
)
def test_the_verdict(seen, word, tone):
    """Green if k is stated of nine windows in ten at each ε, red if none is seen, else open; red if
    something fails. Lines for CI stand there if k is stated of nine windows in ten at some ε."""
    page = page_of(seen)
    assert (page.verdict.word, page.verdict.tone, page.problems) == (word, tone, ())
    shares = [line["share"] or 0 for line in (seen["statement"] or {"lines": ()})["lines"]]
    assert (b"rnnbounds guard" in render_page(page)) == any(share >= 0.9 for share in shares)
    failing = page_of(seen, ["a share of 0.5 is stated, not 0.9"])
    assert (failing.verdict.tone, len(failing.problems)) == ("bad", 1)


def test_numbers_that_were_asked_for_keep_their_digits():
    """δ of what is certified near data, as ε: no rounding makes it larger than it was."""
    memory = [{"eps": 0.0100000001, "k": 3}]
    near = {"delta": 0.12345678, "pasts": 0, "windows": 7, "gaps": [], "memory": memory}
    told = repr(memory_section(CERTIFICATE, measured((3, 5), near=near, memory=memory)))
    assert "inputs within 0.12345678 of" in told
    assert "0.0100000001" in told


def test_a_proved_lower_bound_stands_in_the_first_line():
    """An undecided model whose memory was attacked is never said to have nothing known about it."""
    undecided = {"verdict": "undecided"}
    attacked = {"no_k_below": [{"eps": 0.1, "k": 0}, {"eps": 0.01, "k": 16}]}
    assert "which says nothing about it" in answer_sentence(undecided, "m.pt")
    for document in (undecided, undecided | {"reason": "for these inputs, no box is proved"}):
        told = answer_sentence(document | {"attacked": attacked}, "m.pt")
        assert told.endswith("but at ε = 0.01 no k below 16 will do")
        assert "nothing" not in told


def test_the_ladder_of_an_undecided_model():
    """A rung for each kind of answer, no other's k; ε with the same rungs share a line."""
    near = {"windows": 7, "memory": [{"eps": 0.1, "k": 4}, {"eps": 0.01, "k": None}]}
    seen = measured((3, None), (0.56, None), near=near)
    undecided = CERTIFICATE | {
        "truncation": [{"eps": 0.1, "k": None}, {"eps": 0.01, "k": None}],
        "attacked": {"no_k_below": [{"eps": 0.1, "k": 16}, {"eps": 0.01, "k": 0}]},
    }
    assert ladder_lines(undecided, seen) == [
        "k at ε = 0.1: ≥ 16 for some inputs · 3 seen · 3 stated of 56 % of windows like these · "
        "4 proved near 7 of the 40 windows · undecided for all inputs",
        "k at ε = 0.01: longer than windows of 9 inputs can show · undecided near 7 of "
        "the 40 windows · "
        "undecided for all inputs",
    ]
    assert ladder_lines(CERTIFIED) == [
        "k at ε = 0.1: 23 proved for all inputs", "k at ε = 0.01: 35 proved for all inputs",
    ]  # fmt: skip
    none = {**undecided, "attacked": None}
    assert ladder_lines(none) == ["k at ε = 0.1 and 0.01: undecided for all inputs"]
    assert (
        size_line(seen) == "ε = 0.1 and 0.01 are 20 % and 2 % of the largest ‖h_T‖₂ seen, 0.5, "
        "of the output h"
    )


def test_an_undecided_page_has_one_next_step():
    """The measurement where none was made, else what the call suggests, else the advice; what
    undecided means stands there, and the other steps are folded."""
    calls = ["certify k near: rnnbounds measure m --near=0.001"]
    first = [next_steps(CERTIFICATE, calls, measured)[0] for measured in (False, True)]
    assert first == ["see what it remembers of recorded inputs: rnnbounds measure m", calls[0]]
    assert next_steps(CERTIFICATE, (), measured=True) == ["train it: rnnbounds.penalty()"]
    (section,) = next_sections(CERTIFICATE, calls)
    kinds = [type(block).__name__ for block in section.blocks]
    assert kinds == ["Paragraph", "Paragraph", "Code", "Folded"]


def test_windows_that_a_share_takes():
    """The least numbers with shareⁿ ≤ α/ε's, and 0.9 only where less is stated."""
    weak, strong = (measured((3, 5), shares)["statement"] for shares in ((0.5, 0.9), (0.9, 0.95)))
    told = needed_text(weak)
    assert told.startswith("a share of 0.9 takes 36 and one of 0.99 takes 99 held-out windows")
    assert Fraction(9, 10) ** 36 <= Fraction(1, 40) < Fraction(9, 10) ** 35
    assert needed_text(strong).startswith("a share of 0.99 takes 99 held-out windows")


@pytest.mark.parametrize("k", [23, 21])
def test_the_bound_that_is_drawn_gives_the_printed_k(k):
    """Another one is not drawn: it would contradict the k. ε is drawn wherever a curve is."""
    constants = {"equivalence": 1.0, "drive": 0.5, "radius": 9.0}
    document = CERTIFIED | {
        "lambda": 0.5, "constants": constants, "truncation": [{"eps": 2.0**-k, "k": 23}],
    }  # fmt: skip
    document |= {"inputs": {"what": "[-1, 1]"}}
    for seen in (None, measured((3, 5))):
        told = repr(memory_section(document, seen))
        assert ("certified: C λᵏ" in told) == (k == 23)
        assert ("label='ε'" in told) == (k == 23 or seen is not None)


def test_a_k_near_the_data_stands_with_its_windows():
    """In the sentence, the bar's words and legend, the table's head, and the table of its own."""
    near = {
        "delta": 0.1, "pasts": 0, "windows": 7, "width": 0.5, "advice": None,
        "gaps": [{"k": 4, "gap": 0.05}],
        "memory": [
            {"eps": 0.1, "k": 4, "certified": {"windows": 7, "k": 4}},
            {"eps": 0.01, "k": None, "certified": {"windows": 0, "k": None}},
        ],
    }  # fmt: skip
    seen = measured((3, None), near=near)
    assert "within 0.1 of 7 of the 40 windows" in measurement_sentence(seen)
    told = repr(memory_section(CERTIFICATE, seen))
    assert "k = 4 is proved near 7 of the 40 windows" in told
    assert told.count("proved near 7 of the 40 windows") >= 3
    section, *_ = detail_sections(seen)
    assert "Certified of 7 of the 40 windows, evenly" in section.blocks[0].text
    assert [row[-1] for row in section.blocks[1].rows] == ["all 7", "none of 7"]


def test_other_verdicts_are_no_certified_k():
    """The column of all inputs is not named after a verdict that the model does not have."""
    heads = [
        memory_section(one | {"inputs": {"what": "[-1, 1]"}}).blocks[-1].columns
        for one in (CERTIFICATE, CERTIFICATE | {"verdict": "refuted"})
    ]
    assert heads == [("ε", "for all inputs")] * 2
