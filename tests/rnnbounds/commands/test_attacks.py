"""``verify`` and ``sabotage``: the main job, on few systems."""

import jsonschema
import pytest

from rnnbounds.commands import attacks as module
from rnnbounds.properties.attacks.sabotage import ProofOutcome
from rnnbounds.properties.errors import InputError
from rnnbounds.properties.runs.parts import Part, PartResult
from rnnbounds.reports import decode, json_schema, load
from rnnbounds.reports.records.record import VariantRecord
from rnnbounds.theory import claim

CLAIM = "certified-norm"


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


@pytest.mark.parametrize(
    ("options", "processes"), [((), 3), (("--seeds", "1-4"), 12), (("--systems", "1000000"), 64)]
)
def test_as_many_workers_as_there_is_work_for(refused, tiny, monkeypatch, options, processes):
    """Under several seeds, and where systems are drawn on, more than for one run."""

    def asked(count: int, fork: bool) -> None:
        raise InputError(f"{count} of them")

    monkeypatch.setattr(module, "local_executor", asked)
    line = refused("verify", CLAIM, "--attacks", "random", "-n", "64", *options)
    assert line == f"rnnbounds: {processes} of them"


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
    """Profile, seed, device and the number of processes reach the parts; all cores by default."""
    seen = []

    def record(parts: list[Part], **asked: object) -> list[PartResult]:
        seen.append(tuple(asked[name] for name in ("profile", "seed", "device")))
        seen.append(asked["executor"].workers)
        return []

    monkeypatch.setattr(module, "run_parts", record)
    assert call("verify", CLAIM, "--profile", "ci", "--seed", 7, "-n", 3).code == 1
    assert call("verify", CLAIM).code == 1
    assert seen == [("ci", 7, "cpu"), 3, ("quick", 0, "cpu"), module.CORES]


@pytest.mark.slow
def test_sabotage_document(call, tiny):
    """[{claim, variant, convicted, systems, attack}]; exit 0 when all are convicted."""
    outcome = call("sabotage", CLAIM, "-n", 0, "--format", "json")
    assert outcome.code == 0
    assert len(outcome.json) >= 4
    for entry in outcome.json:
        assert set(entry) >= {"claim", "variant", "convicted", "systems", "attack"}
        assert entry["claim"] == CLAIM
        assert entry["convicted"] is True
        assert entry["systems"] >= 1
        assert entry["attack"] in ("random", "targeted", "gradient", "extremal")


def variant(**changes: object) -> VariantRecord:
    """A convicted variant, but for the changes."""
    told = {
        "id": "off-by-one", "text": "", "form": "gate", "statement": "h_gap <= 0", "mathml": "",
        "special": None, "convicted": True, "attack": "random", "systems": 7,
        "counterexample": None, "ledger_fails": True,
    }  # fmt: skip
    return VariantRecord(**(told | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "code", "word"),
    [
        ({}, 0, "yes"),
        ({"convicted": False, "attack": None}, 1, "SURVIVED"),
        ({"ledger_fails": False}, 1, "PROVES IT"),
    ],
)
def test_exit_codes_of_sabotage(call, monkeypatch, changes, code, word):
    """A variant that survives, or that the ledger proves, fails the command and is shown."""

    def results(parts: list[Part], **_: object) -> list[PartResult]:
        told = tuple(variant(**{"id": one.id} | changes) for one in claim(CLAIM).false_variants)
        no = {one.id: ProofOutcome(one.ledger_fails, "") for one in told}
        return [
            PartResult(part=part, variants={CLAIM: told}, refused={CLAIM: no}) for part in parts
        ]

    monkeypatch.setattr(module, "run_parts", results)
    outcome = call("sabotage", CLAIM)
    assert outcome.code == code
    assert word in outcome.out
    outcome = call("sabotage", CLAIM, "--format", "json")
    assert outcome.code == code
    assert outcome.json[0]["convicted"] is changes.get("convicted", True)


def test_sabotage_fails_where_a_variant_is_told_of_by_no_part(call, monkeypatch):
    """What was not attacked was not convicted either."""
    monkeypatch.setattr(module, "run_parts", lambda parts, **_: [])
    outcome = call("sabotage", CLAIM, "-n", 0)
    assert outcome.code == 1
    assert f"FAILS: {CLAIM}/sabotage is missing" in outcome.out
    assert call("sabotage", CLAIM, "-n", 0, "--format", "json").code == 1


@pytest.mark.slow
def test_systems_are_drawn_on(call, tiny, tmp_path):
    """Until there are as many as asked; the record and the page say how many that was."""
    options = ("--attacks", "random", "--systems", "60", "--out", tmp_path)
    assert call("verify", CLAIM, "-n", 0, *options).code == 0
    run = load(tmp_path / "run.json")
    assert run.claims[0].systems >= run.systems == 60
    assert "60 systems or more of each claim" in (tmp_path / "index.html").read_text("utf-8")
