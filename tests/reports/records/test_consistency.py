"""A record that contradicts itself is refused, wherever records are read."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from rnnbounds.reports import RecordError, Run, Tally, encode, load
from rnnbounds.reports.records.checks.curve import Curve, Point
from rnnbounds.reports.records.consistency import find_contradictions
from rnnbounds.reports.records.matrix import Column, Entry, Matrix
from rnnbounds.reports.records.record import Cost, Histogram


def matrix_of(run: Run) -> Matrix:
    """Every claim holds on one column, with all of its checks."""
    return Matrix(
        columns=(Column(name="linear", title="linear", cells=("linear",)),),
        entries=tuple(
            Entry(
                claim=claim.id, column="linear", standing="HOLDS", forms=("finite", "uniform"),
                tallies={"linear": claim.tally},
            )
            for claim in run.claims
        ),
    )  # fmt: skip


@pytest.fixture
def whole(run) -> Run:
    """A run of three claims with its matrix, which contradicts itself nowhere."""
    return replace(run, matrix=matrix_of(run))


def claim(run: Run, **fields) -> Run:
    """The run with other fields in its first claim."""
    return replace(run, claims=(replace(run.claims[0], **fields), *run.claims[1:]))


def form(run: Run, **fields) -> Run:
    """The run with other fields in the first form of its first claim."""
    first, *others = run.claims[0].forms
    return claim(run, forms=(replace(first, **fields), *others))


def ledger(run: Run, **fields) -> Run:
    """The run with other fields in the first ledger of its first claim."""
    first, *others = run.claims[0].ledgers
    return claim(run, ledgers=(replace(first, **fields), *others))


def attack(run: Run, **fields) -> Run:
    """The run with other fields in what the random attack found of its first claim."""
    attacks = run.claims[0].attacks
    return claim(run, attacks=attacks | {"random": replace(attacks["random"], **fields)})


def variant(run: Run, **fields) -> Run:
    """The run with other fields in the first false variant of its first claim."""
    first, *others = run.claims[0].variants
    return claim(run, variants=(replace(first, **fields), *others))


def entry(run: Run, **fields) -> Run:
    """The run with other fields in the first entry of its matrix."""
    first, *others = run.matrix.entries
    return replace(run, matrix=replace(run.matrix, entries=(replace(first, **fields), *others)))


def clock(run: Run, **fields) -> Run:
    """The run with other fields in its environment."""
    return replace(run, environment=replace(run.environment, **fields))


def worst(run: Run, **fields) -> Run:
    """The run with other fields in the tightest check of its first claim."""
    check = replace(first(run).worst, **fields)
    return claim(run, worst=check, tightest=(check, *first(run).tightest[1:]))


def bins(run: Run, **fields) -> Run:
    """The run with other fields in the histogram of its first claim."""
    return claim(run, histogram=replace(first(run).histogram, **fields))


def beyond(run: Run) -> tuple[int, ...]:
    """The counts of its first claim's histogram, its one but last bin's above 1."""
    *counts, last, none = first(run).histogram.counts
    assert last > 0 == none
    return (*counts, none, last)


def curve(*points: tuple[int, float, float]) -> Curve:
    """A curve of windows, left sides and right sides."""
    return Curve(against="k", points=tuple(Point(at=k, lhs=l, rhs=r) for k, l, r in points))


def first(run: Run):
    """The first claim."""
    return run.claims[0]


SPOILED: dict[str, Callable[[Run], Run]] = {
    "twice among the claims": lambda run: replace(run, claims=(*run.claims, first(run))),
    "twice among the forms": lambda run: claim(run, forms=first(run).forms * 2),
    "twice among the ledgers": lambda run: claim(run, ledgers=first(run).ledgers * 2),
    "twice among the false variants": lambda run: claim(run, variants=first(run).variants * 2),
    "twice among the attacks": lambda run: replace(run, attacks=("random", *run.attacks)),
    "twice among the axioms": lambda run: replace(run, axioms=run.axioms * 2),
    "twice among the expected parts": lambda run: replace(
        run, expected_parts=run.expected_parts * 2
    ),
    "twice among the columns": lambda run: replace(
        run, matrix=replace(run.matrix, columns=run.matrix.columns * 2)
    ),
    "twice among the entries of the matrix": lambda run: replace(
        run, matrix=replace(run.matrix, entries=(*run.matrix.entries, run.matrix.entries[0]))
    ),
    "is HOLDS against its own counts": lambda run: entry(
        run, tallies={"linear": replace(first(run).tally, violated=5)}
    ),
    "NOT APPLICABLE against its own counts": lambda run: entry(
        run, standing="NOT APPLICABLE", reason="so"
    ),
    "VIOLATED against its own counts": lambda run: entry(run, standing="VIOLATED"),
    "ARGUED against its own counts or proofs": lambda run: entry(run, standing="ARGUED"),
    "counts on cells of another column": lambda run: entry(
        run, tallies={"lstm": first(run).tally}
    ),
    "names a form of another claim": lambda run: entry(run, forms=("finite", "new")),
    "is of no claim or column": lambda run: entry(run, claim="new"),
    "the matrix counts": lambda run: entry(run, tallies={"linear": Tally(holds=7)}),
    "is not proved, and yet derived": lambda run: ledger(run, basis="derived", proved=False),
    "does not name what it presupposes": lambda run: ledger(run, basis="restates"),
    "finite does not name": lambda run: ledger(run, basis="derived", presupposed=("bounded",)),
    "which it does not assume": lambda run: ledger(
        run, basis="inclusion assumed", presupposed=("nothing",)
    ),
    "but the tally": lambda run: claim(run, tally=replace(first(run).tally, violated=5)),
    "the forms count": lambda run: form(run, tally=Tally(holds=1)),
    "checks, but": lambda run: claim(run, checks=7),
    "checks of attacks, but": lambda run: attack(run, checks=7),
    "systems of attacks, but": lambda run: attack(run, systems=7),
    "pairs of attacks, but": lambda run: attack(run, pairs=7),
    "escalations of forms, but": lambda run: form(run, escalated=7),
    "judged checks, but": lambda run: claim(
        run, histogram=replace(first(run).histogram, unmeasured=7)
    ),
    "vacuous checks, but": lambda run: claim(run, vacuous_by_assumption={"h_0 = 0": 7}),
    "the form finite reached another ratio": lambda run: form(run, best_ratio=0.5),
    "in other bins than its checks": lambda run: form(run, examples={"random": (1, 2)}),
    "has more examples than checks": lambda run: form(
        run, examples={"random": (10**9, *(0,) * (len(first(run).histogram.counts) - 1))}
    ),
    "the random attack reached another ratio": lambda run: attack(run, best_ratio=0.5),
    "the worst check is not the first": lambda run: claim(run, worst=first(run).tightest[1]),
    "the worst check has another ratio": lambda run: claim(
        run, worst=first(run).tightest[1], tightest=first(run).tightest[1:]
    ),
    "not in order": lambda run: claim(
        run, tightest=(*first(run).tightest, first(run).tightest[0])
    ),
    "of another claim or form": lambda run: claim(
        run, tightest=(*first(run).tightest, replace(first(run).tightest[-1], form="new"))
    ),
    "among the tightest that does not hold": lambda run: claim(
        run, tightest=(*first(run).tightest, replace(first(run).tightest[-1], verdict="VIOLATED"))
    ),
    "among the failing that does not fail": lambda run: claim(
        run, failing=first(run).tightest[:1]
    ),
    "a ratio above 1": lambda run: claim(
        run, tightest=(*first(run).tightest, replace(first(run).tightest[-1], ratio=1.5))
    ),
    "but the tally counts none": lambda run: claim(
        run, failing=(replace(first(run).tightest[0], verdict="UNDECIDED"),)
    ),
    "is refuted, but by no attack": lambda run: variant(run, attack=None),
    "is not refuted, but has a counter-example": lambda run: variant(run, convicted=False),
    "the counter-example to": lambda run: variant(run, counterexample=first(run).tightest[0]),
    "which the claim does not list": lambda run: variant(run, form="new"),
    "an axiom is not among those of the run": lambda run: replace(run, axioms=()),
    "an attack is not among those of the run": lambda run: replace(
        run, attacks=run.attacks[:-1]
    ),
    "the expected parts are not those": lambda run: replace(
        run, expected_parts=run.expected_parts[1:]
    ),
    "but is listed as missing": lambda run: replace(
        run, missing_parts=run.expected_parts[:1]
    ),
    "or the reverse": lambda run: claim(run, ledgers=()),
    "the run took -5.0 seconds": lambda run: clock(run, seconds=-5.0),
    "truncation took -0.5 seconds": lambda run: clock(run, durations={"truncation": -0.5}),
    "it finished at 1999-11-21T10:01:40Z, before": lambda run: clock(
        run, finished="1999-11-21T10:01:40Z"
    ),
    "it took 5.0 seconds, but ended 100 after its start": lambda run: clock(run, seconds=5.0),
    "'yesterday' is no time": lambda run: clock(run, started="yesterday"),
    "more systems than pairs": lambda run: attack(run, systems=10**9),
    "an error below 0": lambda run: worst(run, rhs_error=-1e-16),
    "its left side is the larger one": lambda run: worst(run, lhs=2.0),
    "its left side is the smaller one": lambda run: claim(
        run, failing=(replace(first(run).worst, verdict="VIOLATED", lhs=0.1, ratio=None),)
    ),
    "the ratio of a check is not that of its sides": lambda run: worst(run, lhs=0.5, ratio=0.5),
    "the edges of its histogram are in no order": lambda run: bins(
        run, edges=first(run).histogram.edges[::-1]
    ),
    "more checks have a ratio above 1 than": lambda run: bins(run, counts=beyond(run)),
    "more examples of the form finite have a ratio above 1": lambda run: form(
        run, examples={"random": (*(0,) * (len(first(run).histogram.counts) - 1), 1)}
    ),
    "an UNDECIDED check has a ratio": lambda run: claim(
        run, tally=Tally(holds=1, undecided=10**6)
    ),
    "more checks of the form finite were decided beyond float64": lambda run: form(
        run, escalated=10**9
    ),
    "the least cost of the form finite is above": lambda run: form(
        run, cost=Cost(least=2.0, greatest=1.0)
    ),
    "the curve of the form finite is not in increasing order": lambda run: form(
        run, curve=curve((3, 0.1, 0.2), (2, 0.1, 0.2))
    ),
    "the curve of the form finite has a side": lambda run: form(
        run, curve=curve((2, 0.1, 0.2), (3, -0.1, 0.2))
    ),
}  # fmt: skip


def test_a_record_without_contradictions(run, whole, tmp_path):
    """It is read, with a matrix and without."""
    for one in (run, whole):
        assert find_contradictions(one) == []
        (tmp_path / "run.json").write_bytes(encode(one))
        assert load(tmp_path / "run.json") == one


@pytest.mark.parametrize(
    "fields",
    [
        {"started": "", "finished": "", "seconds": 0.0},
        {"started": "2026-11-21T10:00:00", "finished": "2026-11-21T11:01:40+01:00"},
        {"seconds": 100.999},
        {"seconds": 99.001},
    ],
)
def test_times_that_can_be(whole, fields):
    """None at all, one of another zone, and fractions of seconds that the two ends leave out."""
    assert find_contradictions(clock(whole, **fields)) == []


@pytest.mark.parametrize("text", SPOILED)
def test_each_contradiction_is_refused(whole, tmp_path, text):
    """One line that names the file, the contradiction and the remedy."""
    spoiled = SPOILED[text](whole)
    assert any(text in line for line in find_contradictions(spoiled))
    (tmp_path / "run.json").write_bytes(encode(spoiled))
    with pytest.raises(
        RecordError, match=r"the record contradicts itself: .*; write the run again"
    ):
        load(tmp_path / "run.json")


def test_a_name_that_stands_twice_in_one_object(whole, tmp_path):
    """JSON's readers differ on which of the two they take."""
    data = encode(whole).replace(b'"seed": 0', b'"seed": 0, "seed": 1')
    (tmp_path / "run.json").write_bytes(data)
    with pytest.raises(RecordError, match="'seed' stands twice in one object"):
        load(tmp_path / "run.json")


def test_histograms_must_have_their_counts(whole):
    """What a record cannot even say is refused by its types."""
    with pytest.raises(ValueError, match="one count below"):
        Histogram(edges=(1.0,), counts=(1,))
