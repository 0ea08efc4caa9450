"""``report``, ``compare`` and ``claims --run`` look at a record's consistency alike."""

import json

import pytest


@pytest.fixture
def record(call, tiny, tmp_path):
    """The record of a run of one claim by one attack."""
    arguments = ("certified-norm", "-n", 0, "--attacks", "random", "--out", tmp_path / "run")
    assert call("verify", *arguments).code == 0
    return tmp_path / "run" / "run.json"


def violated(told):
    """An entry that holds with five violated checks."""
    entry = next(e for e in told["matrix"]["entries"] if e["standing"] == "HOLDS")
    next(iter(entry["tallies"].values()))["violated"] = 5


def twice(told):
    """An entry that is there twice."""
    told["matrix"]["entries"].append(told["matrix"]["entries"][0])


def claimed_twice(told):
    """A claim that is there twice."""
    told["claims"].append(told["claims"][0])


def counted(told):
    """A claim that counts violated checks which none of its forms has."""
    told["claims"][0]["tally"]["violated"] = 5


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [violated, twice, claimed_twice, counted])
def test_a_record_that_contradicts_itself_is_refused(refused, record, tmp_path, spoil):
    """One line, exit 2, by whichever command it is read, and nothing is written."""
    told, bad = json.loads(record.read_text()), tmp_path / "bad.json"
    spoil(told)
    bad.write_text(json.dumps(told))
    for command in (
        ("compare", record, bad),
        ("compare", bad, record),
        ("report", bad, "--out", tmp_path / "out"),
        ("claims", "--run", bad),
        ("claims", "--matrix", "--run", bad),
    ):
        line = refused(*command)
        assert "bad.json: the record contradicts itself: " in line
        assert line.endswith("; write the run again")
    assert not (tmp_path / "out").exists()
