"""A record that contradicts itself is refused, wherever records are read."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from rnnbounds.reports import RecordError, Run, Tally, encode, is_passed, load
from rnnbounds.reports.records.consistency import find_contradictions
from rnnbounds.reports.records.matrix import Column, Entry, Matrix
from rnnbounds.reports.records.record import Histogram


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


def first(run: Run):
    """The first claim."""
    return run.claims[0]


SPOILED: dict[str, Callable[[Run], Run]] = {
    "twice among the claims": lambda run: replace(run, claims=(*run.claims, first(run))),
    "twice among the forms": lambda run: claim(run, forms=first(run).forms * 2),
    "twice among the ledgers": lambda run: claim(run, ledgers=first(run).ledgers * 2),
    "twice among the false variants": lambda run: claim(run, variants=first(run).variants * 2),
    "but the tally": lambda run: claim(run, tally=replace(first(run).tally, violated=5)),
    "checks, but": lambda run: claim(run, checks=7),
    "the forms count": lambda run: form(run, tally=Tally(holds=1)),
    "but the tally counts none": lambda run: claim(
        run, failing=(replace(first(run).tightest[0], verdict="UNDECIDED"),)
    ),
    "a check is VIOLATED": lambda run: claim(
        run, tightest=(*first(run).tightest, replace(first(run).tightest[-1], verdict="VIOLATED"))
    ),
    "without finite numbers": lambda run: worst(run, lhs="inf"),
    "the larger side on the left": lambda run: worst(run, lhs=9.0, ratio=None),
    "HOLDS": lambda run: worst(run, ratio=1.5),
    "more checks have a ratio above 1": lambda run: bins(run, counts=beyond(run)),
    "a greatest ratio": lambda run: form(run, best_ratio=1.5),
    "a greatest ratio of checks": lambda run: form(run, reached={"random": "nan"}),
    "a greatest ratio of checks that hold": lambda run: attack(run, best_ratio=1.5),
    "is refuted, but by no attack": lambda run: variant(run, attack=None),
    "the counter-example to": lambda run: variant(run, counterexample=first(run).tightest[0]),
    "the expected parts are not those": lambda run: replace(
        run, expected_parts=run.expected_parts[1:]
    ),
    "/proof has no results": lambda run: claim(run, ledgers=()),
    "/random has no results": lambda run: claim(run, attacks={}),
    "that fail, but its tally none": lambda run: entry(
        run, standing="VIOLATED", tallies={"linear": replace(first(run).tally, violated=5)}
    ),
}  # fmt: skip


def test_a_record_without_contradictions(run, whole, tmp_path):
    """It is read, with a matrix and without."""
    for one in (run, whole):
        assert find_contradictions(one) == []
        (tmp_path / "run.json").write_bytes(encode(one))
        assert load(tmp_path / "run.json") == one


@pytest.mark.parametrize("text", SPOILED)
def test_each_contradiction_is_refused(whole, tmp_path, text):
    """One line that names the file, the contradiction and the remedy."""
    spoiled = SPOILED[text](whole)
    assert any(text in line for line in find_contradictions(spoiled))
    assert not is_passed(spoiled)
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
