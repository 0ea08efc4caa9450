"""SARIF of what fails: valid, complete, inert."""

import json

import pytest
from msgspec.structs import replace

from reports import Tally, problems
from reports.formats.sarif import sarif

FILES = {"truncation": "theory/claims/memory/truncation.py"}
HOSTILE = "<script>\x1b[31m\ud7ff" + "x" * 10**5


def document(run):
    """The document of a run."""
    return json.loads(sarif(run, FILES))


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
    assert {one["message"]["text"] for one in found} >= set(problems(bad)[:3])
    for one in found:
        assert rules[one["ruleIndex"]]["id"] == one["ruleId"]
        assert one["level"] == "error"
        (place,) = one["locations"]
        where = place["physicalLocation"]["artifactLocation"]["uri"]
        assert where == FILES.get(one["ruleId"], "theory/claims")
    if what == "claim":
        assert found[0]["properties"]["replay"] == [failing[0].replay]


def test_it_has_what_the_standard_asks_for(run):
    """The properties that the published schema requires, at each place, of the type it says."""
    told = document(replace(run, claims=(), missing_parts=("a", "b")))
    assert told["version"] == "2.1.0"
    assert told["$schema"].endswith("/sarif-schema-2.1.0.json")
    assert isinstance(told["runs"], list)
    for one in told["runs"]:
        assert isinstance(one["tool"]["driver"]["name"], str)
        assert one["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
        for rule in one["tool"]["driver"]["rules"]:
            assert isinstance(rule["id"], str)
        for result in one["results"]:
            assert result["message"]["text"]
            assert result["locations"][0]["physicalLocation"]["region"]["startLine"] >= 1
            assert all(isinstance(v, str) for v in result["partialFingerprints"].values())


def test_hostile_strings(run):
    """They are cut, and hold nothing that moves a cursor."""
    claim = replace(run.claims[0], id=HOSTILE, title=HOSTILE, tally=Tally(violated=1))
    data = sarif(replace(run, claims=(claim,), profile=HOSTILE[:99]), {})
    assert len(data) < 50_000
    assert b"\\u001b" not in data
