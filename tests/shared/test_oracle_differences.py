"""What the oracle notices, on records that are made up."""

import copy
import math

import pytest
from oracle_differences import differences, read, run_differences

CERTIFICATE = {"verdict": "certified", "lambda": 0.5, "truncation": [{"eps": 0.1, "k": 4}]}
TALLY = {"holds": 9, "violated": 0, "undecided": 1, "vacuous": 0}
CLAIM = {
    "id": "a", "tally": TALLY, "pairs": 10, "systems": 3, "escalated": 10,
    "forms": [{"name": "f", "latex": "x", "tally": TALLY}],
    "ledgers": [{"form": "f", "proved": True, "argued": False, "basis": "derived", "human": [],
                 "met": True}],
    "variants": [{"id": "v", "convicted": True, "ledger_fails": True}],
}  # fmt: skip
RUN = {
    "claims": [CLAIM],
    "matrix": {"entries": [{"claim": "a", "column": "c", "standing": "HOLDS"}]},
    "missing_parts": [],
}


def changed(told, path, value):
    """A copy with another value at a path."""
    made = copy.deepcopy(told)
    *places, last = path
    place = made
    for key in places:
        place = place[key]
    place[last] = value
    return made


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("verdict",), "refuted"),
        (("lambda",), math.nextafter(0.5, 1)),
        (("lambda",), math.inf),
        (("lambda",), None),
        (("truncation", 0, "k"), 5),
        (("truncation",), []),
        (("more",), 1),
    ],
)
def test_another_certificate(path, value):
    """Each change of a certificate is one line, both ways, that names where it is."""
    other = changed(CERTIFICATE, path, value)
    for pair in ((CERTIFICATE, other), (other, CERTIFICATE)):
        (line,) = differences(*pair, "c")
        assert all(str(key) in line for key in path)


def test_the_same_certificate():
    """NaN is itself, and numbers may differ by a ratio that is allowed."""
    assert not [*differences(CERTIFICATE | {"a": math.nan}, CERTIFICATE | {"a": math.nan}, "c")]
    assert not [*differences({"a": 1.0}, {"a": 1.001}, "c", within=0.01)]
    assert [*differences({"a": 1.0}, {"a": 1.1}, "c", within=0.01)]


def test_texts():
    """Where a module is, when and with which version make no difference; all else does."""
    before = "impl.cells.kind of rnnbounds 0.1.0, 2026-11-27T10:47:57+00:00, k = 3"
    after = "rnnbounds.impl.cells.kind of rnnbounds 0.2.0, 2027-01-01, k = 3"
    assert not [*differences(before, after, "c")]
    (line,) = differences(before, after.replace("3", "4"), "c")
    assert "k = 3" in line
    assert "k = 4" in line


def test_pages_are_what_is_read():
    """Markup, styles and scripts are not."""
    page = "<html><style>b</style><p>k&nbsp;= <b>3</b></p><script>c</script></html>"
    assert read(page) == read("<div>k&nbsp;=\n<i>3</i></div>") == "k&nbsp;= 3"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("claims",), []),
        (("claims", 0, "pairs"), 9),
        (("claims", 0, "systems"), 2),
        (("claims", 0, "escalated"), 12),
        (("claims", 0, "tally", "holds"), 8),
        (("claims", 0, "tally", "violated"), 1),
        (("claims", 0, "tally", "undecided"), 2),
        (("claims", 0, "forms", 0, "latex"), "y"),
        (("claims", 0, "forms", 0, "tally"), TALLY | {"holds": 8, "vacuous": 1}),
        (("claims", 0, "forms"), []),
        (("claims", 0, "ledgers", 0, "proved"), False),
        (("claims", 0, "variants", 0, "convicted"), False),
        (("claims", 0, "variants"), []),
        (("matrix", "entries", 0, "standing"), "UNDECIDED"),
        (("matrix", "entries"), []),
        (("missing_parts",), ["a/proof"]),
    ],
)
def test_a_run_that_lost_something(path, value):
    """Each loss of a record is told."""
    assert [*run_differences(RUN, changed(RUN, path, value))]


def test_a_run_that_lost_nothing():
    """More pairs, some of them vacuous, a few more exact checks and a new claim are no loss."""
    more = CLAIM | {"pairs": 12, "tally": TALLY | {"holds": 10, "vacuous": 1}, "escalated": 11}
    after = RUN | {"claims": [more, CLAIM | {"id": "new", "escalated": 99}]}
    assert not [*run_differences(RUN, RUN)]
    assert not [*run_differences(RUN, after)]
