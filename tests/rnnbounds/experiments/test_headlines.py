"""What an experiment says of itself follows from its numbers: other numbers, another headline."""

import math

import pytest
from msgspec.structs import replace

from rnnbounds.experiments import HOMES, find_experiment
from rnnbounds.experiments.engine.page import build_page, headline_text, lead_text, record_verdict
from rnnbounds.experiments.engine.record import CertificateSummary, Curve, Outcome, Record, Run
from rnnbounds.experiments.models.line import ATTACKED, NEXT, SEEN
from rnnbounds.experiments.replications.deep_cell import VARIANTS
from rnnbounds.experiments.stable import data_stability, gradient_decay, truncation_curve
from rnnbounds.experiments.unitary import permuted_digits
from rnnbounds.reports.pages.experiment import render_page
from rnnbounds.reports.records.record import Environment


def certificate(k):
    """Certified with that k, or undecided."""
    said = "undecided" if k is None else "certified"
    return CertificateSummary(
        verdict=said, norm="perron", lam=0.5, epsilon=0.1, k=k, inputs="‖x‖₂ ≤ 1"
    )


def run(model="RNN", variant="free", seed=0, task="words", **more):
    """One run."""
    return Run(task=task, model=model, variant=variant, seed=seed, **more)


def pair(name, good, bad, *, variants=("stable", "unstable")):
    """Two runs whose first figure differs."""
    return [
        run(variant=variants[0], figures={name: good}, certificate=certificate(3)),
        run(variant=variants[1], figures={name: bad}),
    ]


def digits(urnn, rnn):
    """Runs of the last accuracy of both kinds."""
    kinds = dict.fromkeys(permuted_digits.KINDS, 0.3) | {"URNN": urnn, "RNN": rnn}
    losses = {"training loss": Curve((1.0,), (1.0,))}
    names = (permuted_digits.COMMONEST, permuted_digits.END)
    return [
        run(kind, figures=dict(zip(names, (0.1, end), strict=True)), curves=losses)
        for kind, end in kinds.items()
    ]


def deep(plain, remedies):
    """The deepest cells, as trained plainly and by each remedy."""
    model = f"{max(find_experiment('deep-cell').setting.depths)} layers"
    ends = dict.fromkeys(VARIANTS, remedies) | {"plain": plain}
    return [run(model, way, figures={"right, %": end}) for way, end in ends.items()]


def overlapping():
    """Remedies that are better in the mean, not from every seed."""
    worse, better = deep(10.0, 12.0), deep(30.0, 40.0)
    return [*worse, *(replace(one, seed=1) for one in better)]


def remembering(k, attacked=0, **words):
    """A model of `models`."""
    figures = {"held-out, %": 1.0, ATTACKED: attacked, SEEN: 3}
    return [run(figures=figures, certificate=certificate(k), told={"stated": "x"} | words)]


TRUNCATED, GRADIENT = truncation_curve.NAME, gradient_decay.NAME
ALONG = (data_stability.EXPONENT, data_stability.RATIO)
PERPLEXITY = "held out, perplexity"
# name, runs, whether it holds, words that are said of them, words that are not
CASES = [
    ("gradient-decay", [run(figures={GRADIENT: 0.0})], "holds", "in 1 of 1 networks", "Not from"),
    ("gradient-decay", [run(figures={GRADIENT: 1.0})], "does not hold", "in 0 of 1", "1 of 1"),
    ("gradient-decay", [run(figures={GRADIENT: None})], "does not hold", "in 0 of 1", "1 of 1"),
    ("truncation-curve", [run(figures={TRUNCATED: 0.0})], "holds", "1 of 1 networks", "Not from"),
    ("truncation-curve", [run(figures={TRUNCATED: 99.0})], "does not hold", "0 of 1", "1 of 1"),
    ("data-stability", [run(figures=dict(zip(ALONG, (-0.5, 0.5), strict=True)))], "holds",
     "no step of them did", "took two states apart"),
    ("data-stability", [run(figures=dict(zip(ALONG, (0.5, 1.5), strict=True)))], "does not hold",
     "in 1 of them a step took two states apart", "no step"),
    ("data-stability", [run(figures=dict(zip(ALONG, (-0.5, None), strict=True)))], "holds",
     "in 1 of them a step took two states apart", "no step"),
    ("data-stability", [run(certificate=certificate(3))], "undecided", "Every network", "exponent"),
    ("stable-vs-unstable", pair(PERPLEXITY, 5.0, 5.0), "holds", "in 1 of 1 pairs", "more in"),
    ("stable-vs-unstable", pair(PERPLEXITY, 9.0, 5.0), "does not hold", "+80.0 %", "1 of 1"),
    ("stable-vs-unstable", pair(PERPLEXITY, None, 5.0), "does not hold", "0 of 1", "1 of 1"),
    ("permuted-digits", digits(0.9, 0.5), "holds", "URNN 90 %, RNN 50 %", "nan"),
    ("permuted-digits", digits(0.5, 0.9), "does not hold", "RNN 90 %, URNN 50 %", "nan"),
    ("permuted-digits", digits(0.5, 0.5), "undecided", "50 %", "nan"),
    ("deep-cell", deep(10.0, 100.0), "holds", "plain 10", "plain 100"),
    ("deep-cell", deep(100.0, 100.0), "does not hold", "plain 100", "nan"),
    ("deep-cell", overlapping(), "undecided", "plain 20 ±", "nan"),
    ("models", remembering(4, 2), "holds", "Of 1 models 1 are certified", "Without an answer"),
    ("models", remembering(None), "does not hold", "Without an answer", "certified k"),
    ("models", remembering(None, **{NEXT: "train it"}), "holds", "0 are certified", "certified k"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "runs", "holds", "said", "unsaid"), CASES)
def test_a_headline_follows_the_numbers(name, runs, holds, said, unsaid):
    """Of records with other numbers."""
    found = outcome(name, runs)
    assert found.holds == holds
    assert said in found.said
    assert unsaid not in found.said


def outcome(name, runs):
    """What the experiment says of these runs."""
    one = find_experiment(name)
    return one.judge(runs, one.setting)


def record(found, **fields):
    """A record of that outcome."""
    return Record(**({
        "name": "x", "title": "X", "question": "q", "conclusion": "it is so.", "source": "s",
        "rule": "r", "outcome": found, "options": (), "settings": {}, "sources": {},
        "runs": (run(figures={"loss": 1.0}),), "environment": Environment(),
    } | fields))  # fmt: skip


@pytest.mark.parametrize("holds", ["holds", "does not hold", "undecided"])
def test_a_page_that_fails_concludes_nothing(holds):
    """Whatever was found, where something certified broke; else the verdict is the outcome's."""
    fine, broken = record(Outcome(holds, "All.")), record(Outcome(holds, "All.", ("it fell",)))
    assert record_verdict(fine).word == f"{holds} at this size"
    assert record_verdict(fine).tone == {"holds": "good", "undecided": "open"}.get(holds, "bad")
    assert lead_text(fine) == "Tried: it is so. Found: All."
    assert headline_text(fine) == f"{record_verdict(fine).word.capitalize()}. All."
    assert (record_verdict(broken).word, record_verdict(broken).tone) == ("fails", "bad")
    assert lead_text(broken).startswith("Nothing is concluded")
    assert headline_text(broken) == "Fails. All."
    assert f"{holds} at this size" not in render_page(build_page(broken)).decode()


def test_a_certified_bound_that_fell_fails_what_holds():
    """Numbers that hold beside a contradiction."""
    told = outcome("models", remembering(4, attacked=9))
    assert told.holds == "holds"
    assert record_verdict(record(told)).tone == "bad"


def test_figures_of_runs_without_numbers():
    """A value that is not finite has no dot; a run without figures no picture."""
    whole = record(Outcome("holds", "All."), runs=(
        run(figures={"loss": None}), run(seed=1, figures={"loss": 2.0}),
        run(variant="other", figures={"loss": math.inf}), run(task="none", figures={}),
    ))  # fmt: skip
    html = render_page(build_page(whole)).decode()
    assert html.count("<svg") == 1
    assert "RNN, other: none" in html
    assert render_page(build_page(replace(whole, runs=whole.runs[3:])))


@pytest.mark.parametrize("name", HOMES)
def test_titles_conclude_nothing(name):
    """A title is there before the numbers: it names the matter."""
    title = find_experiment(name).title
    assert not title.startswith(("How gradients vanish", "An answer for", "Whether"))
    assert not set(title.split()) & {"vanish", "holds", "works", "better"}
