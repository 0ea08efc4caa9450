"""``verify``: the main job, on few systems."""

import jsonschema
import pytest

from rnnbounds.commands import attacks as module
from rnnbounds.properties.runs.parts import Part, PartResult
from rnnbounds.reports.records.codec import decode, json_schema, load

CLAIM = "contraction-linear"


@pytest.mark.slow
def test_verify_document_is_the_record(call, tiny, tmp_path):
    """--format json prints run.json, which keeps to the published schema."""
    outcome = call("verify", CLAIM, "-n", 0, "--out", tmp_path / "a" / "b", "--format", "json")
    assert outcome.code == 0
    document = outcome.json
    jsonschema.validate(document, json_schema())
    assert set(document) >= {"schema", "environment", "profile", "seed", "claims"}
    (claim,) = document["claims"]
    assert claim["id"] == CLAIM
    assert set(claim["tally"]) == {"holds", "violated", "undecided", "vacuous"}
    assert set(claim) >= {"latex", "source", "systems", "pairs", "attacks", "worst"}
    assert set(claim["worst"]) >= {"ratio", "lhs", "rhs", "spec"}
    assert all({"pairs", "best_ratio"} <= set(entry) for entry in claim["attacks"].values())
    written = load(tmp_path / "a" / "b" / "run.json")
    assert decode(outcome.out.encode()) == written
    page = (tmp_path / "a" / "b" / "index.html").read_text(encoding="utf-8")
    assert CLAIM in page
    assert sorted(p.name for p in (tmp_path / "a" / "b").iterdir()) == ["index.html", "run.json"]


def test_a_failure_says_how_to_see_it_again(call, tiny, monkeypatch):
    """The first commands that replay what failed stand below what went wrong."""
    commands = [f"rnnbounds replay {number}" for number in range(9)]
    monkeypatch.setattr(module, "run_problems", lambda run: ["it broke"])
    monkeypatch.setattr(module, "replay_commands", lambda run: commands)
    outcome = call("verify", CLAIM, "--attacks", "random", "-n", 0)
    assert outcome.code == 1
    lines = outcome.out.splitlines()
    assert lines[lines.index("FAILS: it broke") :] == [
        "FAILS: it broke", *(f"  {command}" for command in commands[:5]), "1 problem",
    ]  # fmt: skip


def test_the_parts_run_as_asked(call, monkeypatch):
    """Profile, seed, device and the number of processes reach the parts."""
    seen = []

    def record(parts: list[Part], **asked: object) -> list[PartResult]:
        seen.append(tuple(asked[name] for name in ("profile", "seed", "device")))
        seen.append(asked["executor"]._max_workers)
        return []

    monkeypatch.setattr("rnnbounds.properties.runs.run.run_parts", record)
    assert call("verify", CLAIM, "--profile", "ci", "--seed", 7, "-n", 3).code == 1
    assert call("verify", CLAIM, "-n", 2).code == 1
    assert seen == [("ci", 7, "cpu"), 3, ("quick", 0, "cpu"), 2]
