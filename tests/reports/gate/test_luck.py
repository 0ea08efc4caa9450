"""What luck explains: against counting all ways, and against draws of one distribution."""

import random
from collections.abc import Callable
from math import comb

import pytest
from msgspec.structs import replace

from rnnbounds.reports import ClaimRecord, FormRecord, Run
from rnnbounds.reports.gate.luck import hypergeometric_cdf, sign_test, tail_tests
from rnnbounds.reports.gate.runs import compare_runs
from rnnbounds.reports.gate.thresholds import Thresholds
from rnnbounds.reports.gate.tightness import compare_directed_attacks, compare_examples

BINS = 18


@pytest.mark.parametrize("old", [0, 1, 5, 30])
@pytest.mark.parametrize("new", [1, 7, 30])
def test_all_ways_counted(old: int, new: int) -> None:
    """Every hypergeometric tail, and its ends."""
    for marked in range(old + new + 1):
        for most in range(-1, new + 2):
            ways = sum(
                comb(new, k) * comb(old, marked - k) for k in range(min(most, marked) + 1)
            )  # fmt: skip
            expected = ways / comb(old + new, marked)
            assert hypergeometric_cdf(old, new, marked, most) == pytest.approx(
                expected, rel=1e-9, abs=1e-300
            )


def test_many_examples() -> None:
    """Half of four thousand that are gone are no luck; a few more or less are."""
    assert hypergeometric_cdf(4000, 4000, 2000, 0) < 1e-300
    assert 0.3 < hypergeometric_cdf(4000, 4000, 4000, 1990) < 0.5


def test_each_cut() -> None:
    """Above each bin but the last; where none or all lie above it, nothing is tested."""
    assert list(tail_tests((0, 3, 0), (3, 0, 0))) == [(0, pytest.approx(1 / 20))]
    assert list(tail_tests((2, 0), (5, 0))) == []
    assert [bin for bin, _ in tail_tests((1, 1, 1), (1, 1, 1))] == [0, 1]


def test_signs() -> None:
    """What moves by less than the share is not counted, on either side."""
    pairs = [(1.0, 0.999), (1.0, 0.5), (0.5, 0.2), (0.1, 0.11), (0.0, 0.0)]
    assert sign_test(pairs, 0.01) == (3, 2, 0.5)
    assert sign_test([(1.0, 0.5)] * 20, 0.01) == (20, 20, 2.0**-20)


def binned(draw: random.Random, weights: list[float], count: int) -> tuple[int, ...]:
    """So many examples in the bins of a histogram, as likely as the weights say."""
    found = draw.choices(range(BINS), weights, k=count)
    return tuple(found.count(bin) for bin in range(BINS))


def with_examples(run: Run, make: Callable[[ClaimRecord, FormRecord], tuple[int, ...]]) -> Run:
    """The run with examples of each form."""
    claims = (
        replace(
            claim,
            forms=tuple(
                replace(form, examples={"random": make(claim, form)}) for form in claim.forms
            ),
        )
        for claim in run.claims
    )
    return replace(run, claims=tuple(claims))


def copied(draw: random.Random, weights: list[float]) -> tuple[int, ...]:
    """Eight draws, each seven times."""
    return tuple(7 * count for count in binned(draw, weights, 8))


def test_copies_are_no_evidence() -> None:
    """What was drawn once and copied counts once, with what remains to the benefit of luck."""
    (one,) = tail_tests((0, 8), (8, 0))
    (seven,) = tail_tests((0, 56), (56, 0), copies=7)
    assert one == seven
    (more,) = tail_tests((0, 57), (56, 6), copies=7)
    assert more[1] > seven[1]


@pytest.mark.parametrize("drawn", [lambda draw, w: binned(draw, w, 56), copied])
def test_seldom_a_false_alarm(run: Run, drawn: Callable[..., tuple[int, ...]]) -> None:
    """Of fifty pairs of draws from one distribution no more fail than one in ten may."""
    draw = random.Random(1)
    weights = [1.0 + bin for bin in range(BINS)]
    failed = 0
    for _ in range(50):
        runs = [with_examples(run, lambda *_: drawn(draw, weights)) for _ in range(2)]
        pairs = list(zip(runs[0].claims, runs[1].claims, strict=True))
        failed += any(row.kind == "regressed" for row in compare_examples(pairs, 0.1))
    assert failed <= 5


@pytest.mark.parametrize("lost", ["all", "above 0.9"])
def test_a_form_that_is_never_near_its_bound_any_more(run: Run, lost: str) -> None:
    """It fails, by that form alone; the way back is an improvement; of another profile, or of more
    systems, it is no matter, for these draw other batches."""
    same = with_examples(run, lambda claim, form: (56, *(0,) * 17))
    assert compare_runs(same, same, Thresholds()).rows == ()
    near = (*(0,) * 14, 60, 40, 20, 0)
    far = (*(4,) * 13, 68, 0, 0, 0, 0) if lost == "above 0.9" else (120, *(0,) * 17)
    old = with_examples(run, lambda claim, form: near)
    new = with_examples(
        run,
        lambda claim, form: far if (claim.id, form.name) == ("truncation", "finite") else near,
    )
    (row,) = compare_runs(old, new, Thresholds()).failing
    assert row.subject == "truncation (finite), random"
    assert row.what.startswith("examples with lhs/rhs above ")
    assert [one.kind for one in compare_runs(new, old, Thresholds()).rows] == ["improved"]
    for other in (replace(new, profile="ci"), replace(new, systems=10**6)):
        assert compare_runs(old, other, Thresholds()).rows == ()
    assert compare_runs(old, new, Thresholds(chance=0)).failing == ()


FULL = (*(0,) * 14, 60, 400, 200, 0)


@pytest.mark.parametrize(
    ("left", "told"),
    [
        ({"random": (0,) * BINS}, ("regressed", "examples measured", "660 → 0")),
        ({"random": (27, *(0,) * 17)}, ("regressed", "examples measured", "660 → 27")),
        ({"random": (660,)}, ("regressed", "bins of its examples", "18 bins → 1 bin")),
        ({}, ("gone", "attacks", "random")),
    ],
)
def test_examples_that_are_no_longer_measured(
    run: Run, left: dict[str, tuple[int, ...]], told: tuple[str, str, str]
) -> None:
    """Too few to be less tight than they were, or none, in no bins of before: of one form."""
    old = with_examples(run, lambda *_: FULL)
    claims = [
        replace(claim, forms=(replace(claim.forms[0], examples=left), *claim.forms[1:]))
        if claim.id == "truncation" else claim
        for claim in old.claims
    ]  # fmt: skip
    found = compare_runs(old, replace(old, claims=tuple(claims)), Thresholds()).failing
    assert told in [(row.kind, row.what, " → ".join(filter(None, (row.before, row.after))))
                    for row in found]  # fmt: skip
    assert all(row.subject.startswith("truncation (finite)") for row in found)


@pytest.mark.parametrize("shift", [1.0000001, None])
def test_examples_in_other_bins(run: Run, shift: float | None) -> None:
    """They are not compared, which is said of each claim."""
    old = with_examples(run, lambda *_: FULL)

    def moved(claim: ClaimRecord) -> ClaimRecord:
        edges = claim.histogram.edges
        edges = edges[1:] if shift is None else (shift * edges[0], *edges[1:])
        counts = claim.histogram.counts[-len(edges) - 1 :]
        return replace(claim, histogram=replace(claim.histogram, edges=edges, counts=counts))

    new = replace(old, claims=tuple(map(moved, old.claims)))
    found = compare_runs(old, new, Thresholds()).failing
    assert {(row.subject, row.what) for row in found} == {
        (claim.id, "bins of its examples") for claim in run.claims
    }
    assert (
        compare_runs(run, replace(run, claims=tuple(map(moved, run.claims))), Thresholds()).rows
        == ()
    )


def test_few_examples_may_be_none(run: Run) -> None:
    """A form that hardly any draw meets is met by none under another seed; older records count
    none, which is no loss."""
    rare, none = (
        with_examples(run, lambda *_: (27, *(0,) * 17)),
        with_examples(run, lambda *_: (0,) * 18),
    )
    assert compare_runs(rare, none, Thresholds()).rows == ()
    assert compare_runs(none, rare, Thresholds()).rows == ()
    assert compare_runs(run, rare, Thresholds()).rows == ()


@pytest.mark.parametrize("ratio", [None, 0.0])
def test_an_attack_that_measures_nothing_any_more(run: Run, ratio: float | None) -> None:
    """No ratio at all is as much a fall as a ratio of 0 is."""
    claims = [replace(run.claims[1], id=f"claim-{i}") for i in range(20)]
    lost = replace(run.claims[1].attacks["gradient"], best_ratio=ratio)
    pairs = [(old, replace(old, attacks=old.attacks | {"gradient": lost})) for old in claims]
    (row,) = compare_directed_attacks(pairs, 0.01, 0.001)
    assert (row.kind, row.subject) == ("regressed", "the run, gradient")
    assert [
        row.kind for row in compare_directed_attacks([(b, a) for a, b in pairs], 0.01, 0.001)
    ] == ["improved"]


def test_an_attack_that_finds_nothing_any_more(run: Run) -> None:
    """Each claim's ratio may fall by luck; those of twenty do not."""
    claims = [replace(run.claims[1], id=f"claim-{i}") for i in range(20)]
    pairs = [
        (old, replace(old, attacks=old.attacks | {
            "gradient": replace(old.attacks["gradient"], best_ratio=0.5 + i / 100)}))
        for i, old in enumerate(claims)
    ]  # fmt: skip
    (row,) = compare_directed_attacks(pairs, 0.01, 0.001)
    assert (row.kind, row.subject) == ("regressed", "the run, gradient")
    assert "lower in 20 of 20 claims" in row.after
    assert [
        row.kind for row in compare_directed_attacks([(b, a) for a, b in pairs], 0.01, 0.001)
    ] == ["improved"]
    assert list(compare_directed_attacks(pairs[:5], 0.01, 0.001)) == []
    assert list(compare_directed_attacks([(old, old) for old, _ in pairs], 0.01, 0.001)) == []
