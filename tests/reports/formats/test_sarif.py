"""SARIF of what fails: valid, complete, inert."""

import json

import jsonschema
import pytest
from msgspec.structs import replace

from rnnbounds.reports import Tally, run_problems
from rnnbounds.reports.formats.sarif import fingerprint, sarif

FILES = {"truncation": "theory/claims/memory/truncation.py"}
OWN = "pyproject.toml"
HOSTILE = "<script>\x1b[31m\ud7ff" + "x" * 10**5


def document(run):
    """The document of a run."""
    return json.loads(sarif(run, FILES, OWN))


def test_a_run_that_passes(run):
    """A rule for each claim, and no result."""
    (only,) = document(run)["runs"]
    driver = only["tool"]["driver"]
    assert [rule["id"] for rule in driver["rules"]] == [*(c.id for c in run.claims), "run"]
    assert driver["rules"][1]["shortDescription"]["text"] == "Truncation after k steps"
    assert only["results"] == []


@pytest.mark.parametrize("what", ["claim", "run"])
def test_a_run_that_fails(run, check, what):
    """A result for each problem, of its rule, where the claim is stated, with its replay."""
    first, second, third = run.claims
    failing = (check("truncation", 1.1, "VIOLATED"),)
    bad = {
        "claim": replace(
            run, claims=(first, replace(second, tally=Tally(holds=1, violated=1), failing=failing),
                         third)),
        "run": replace(run, missing_parts=("truncation/random",)),
    }[what]  # fmt: skip
    (only,) = document(bad)["runs"]
    rules = only["tool"]["driver"]["rules"]
    found = only["results"]
    assert {one["message"]["text"] for one in found} >= set(run_problems(bad)[:3])
    for one in found:
        assert rules[one["ruleIndex"]]["id"] == one["ruleId"]
        assert one["level"] == "error"
        (place,) = one["locations"]
        where = place["physicalLocation"]["artifactLocation"]["uri"]
        assert where == FILES.get(one["ruleId"], OWN)
    if what == "claim":
        assert found[0]["properties"]["replay"] == [failing[0].replay]


def test_no_file_is_no_location(run):
    """What no file is known of has none, rather than one that is not there."""
    (only,) = json.loads(sarif(replace(run, missing_parts=("a", "b")), {}))["runs"]
    assert [one["locations"] for one in only["results"]] == [[]] * len(only["results"])
    bad = sarif(replace(run, missing_parts=("a",)), {}, ".github/workflows/my bounds.yml")
    assert b'"uri": ".github/workflows/my%20bounds.yml"' in bad


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1 check VIOLATED (form h)", "1,203 checks VIOLATED (form h)"),
        ("the false variant 'k-1' survived 1 system", "the false variant 'k-1' survived 9 systems"),
        ("c: 3 of 400 systems judged", "c: 12 of 500 systems judged"),
        ("4 checks, but 5 elsewhere", "14 checks, but 1,500 elsewhere"),
        ("the forms count 1/2/3/4, but", "the forms count 1/0/0/0, but"),
    ],
)
def test_fingerprints_are_stable(one, other):
    """Counts that the next seed changes are no part of them."""
    assert fingerprint("claim", one) == fingerprint("claim", other)


def test_fingerprints_tell_problems_apart():
    """By the claim, what is wrong, the form, the variant and the part: digits in names count."""
    lines = (
        "3 checks VIOLATED (form h)", "3 checks UNDECIDED (form h)", "3 checks VIOLATED (form h2)",
        "the false variant 'k-1' survived 9 systems", "the false variant 'k-2' survived 9 systems",
        "the part 'a/rnn-48x20' never reported", "the part 'a/rnn-4x20' never reported",
    )  # fmt: skip
    found = {fingerprint(id, line) for line in lines for id in ("claim", "claim-2")}
    assert len(found) == 2 * len(lines)


def thing(required="", **properties):
    """An object as SARIF's schema has them all: nothing but what it names, and an open bag."""
    bag = {"properties": {"type": "object"}}
    return {
        "type": "object", "additionalProperties": False, "required": required.split(),
        "properties": bag | properties,
    }  # fmt: skip


# The published schema 2.1.0 of what is written here, by hand: it is on no package index, and what
# it knows beyond this is refused. https://docs.oasis-open.org/sarif/sarif/v2.1.0/
TEXT = {"type": "string"}
SOME = {"type": "array", "minItems": 0, "uniqueItems": True}
MESSAGE = thing(text=TEXT) | {"anyOf": [{"required": ["text"]}, {"required": ["id"]}]}
ARTIFACT = thing(uri=TEXT | {"pattern": r"^[!-~]*$"}, uriBaseId=TEXT, description=MESSAGE)
LEVEL = {"enum": ["none", "note", "warning", "error"]}
RULE = thing(
    "id", id=TEXT, shortDescription=thing("text", text=TEXT),
    fullDescription=thing("text", text=TEXT), defaultConfiguration=thing(level=LEVEL),
)  # fmt: skip
PLACE = thing(
    artifactLocation=ARTIFACT, region=thing(startLine={"type": "integer", "minimum": 1})
) | {"anyOf": [{"required": ["artifactLocation"]}, {"required": ["address"]}]}
RESULT = thing(
    "message", ruleId=TEXT, ruleIndex={"type": "integer", "minimum": -1}, level=LEVEL,
    message=MESSAGE, locations={"type": "array", "items": thing(physicalLocation=PLACE)},
    partialFingerprints={"type": "object", "additionalProperties": TEXT},
)  # fmt: skip
DRIVER = thing("name", name=TEXT, version=TEXT, rules=SOME | {"items": RULE})
SARIF = thing(
    "version runs",
    version={"enum": ["2.1.0"]},
    runs={"type": "array", "items": thing(
        "tool", tool=thing("driver", driver=DRIVER), results=SOME | {"items": RESULT,
        "uniqueItems": False}, columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        originalUriBaseIds={"type": "object", "additionalProperties": ARTIFACT},
    )},
    **{"$schema": TEXT},
)  # fmt: skip


def test_it_is_what_the_standard_asks_for(run, check):
    """A run that fails in each way, and one that passes; what the standard lacks is refused."""
    validator = jsonschema.Draft202012Validator(SARIF)
    failing = (check("truncation", 1.1, "VIOLATED"),)
    first, second, third = run.claims
    second = replace(second, tally=Tally(holds=1, violated=1), failing=failing)
    bad = replace(run, claims=(first, second, third), missing_parts=("a", "b"))
    version = replace(run.environment, versions={"rnnbounds": "0.1.0"})
    for told in (run, bad, replace(bad, environment=version), replace(run, claims=())):
        assert list(validator.iter_errors(document(told))) == []
    assert document(bad)["$schema"].endswith("/sarif-schema-2.1.0.json")
    broken = document(bad)
    broken["runs"][0]["results"][0] |= {"level": "fatal", "where": 1}
    del broken["runs"][0]["results"][1]["message"]
    assert len(list(validator.iter_errors(broken))) == 3


def test_hostile_strings(run):
    """They are cut, and hold nothing that moves a cursor."""
    claim = replace(run.claims[0], id=HOSTILE, title=HOSTILE, tally=Tally(violated=1))
    data = sarif(replace(run, claims=(claim,), profile=HOSTILE[:99]), {})
    assert len(data) < 50_000
    assert b"\\u001b" not in data
