"""What ``verify`` makes of a run beside its record: the gate, summaries, SARIF, history."""

import json
from pathlib import Path

from msgspec.structs import replace

from rnnbounds.reports import encode, load
from rnnbounds.shell.results import JOB_SUMMARY, RequestedOutputs, claim_files

ROOT = Path(__file__).parents[3]
ONE = ("verify", "certified-norm", "-n", 0, "--attacks", "random")


def test_all_of_it(call, tiny, record, tmp_path, monkeypatch):
    """One run: compared with its baseline, told in Markdown and SARIF, kept, on the pages."""
    step = tmp_path / "step.md"
    step.write_text("before\n")
    monkeypatch.setenv(JOB_SUMMARY, str(step))
    names = {name: tmp_path / "out" / name for name in ("s.md", "s.sarif", "kept", "page")}
    outcome = call(
        *ONE, "--seed", 1, "--baseline", record, "--summary", names["s.md"], "--sarif",
        names["s.sarif"], "--history", names["kept"], "--out", names["page"],
    )  # fmt: skip
    assert (outcome.code, outcome.err) == (0, "")
    assert "nothing regressed, and nothing else changed\n" in outcome.out
    told = names["s.md"].read_text()
    assert told.startswith("## rnnbounds: all bounds hold\n")
    assert "from quick, seed 0, " in told
    assert step.read_text() == "before\n" + told
    assert json.loads(names["s.sarif"].read_text())["runs"][0]["results"] == []
    run = load(names["page"] / "run.json")
    kept = [path for path in names["kept"].iterdir() if path.suffix == ".json"]
    assert [load(path) for path in kept] == [run]
    assert "Runs over time" in (names["kept"] / "index.html").read_text()


def test_a_regression_fails(call, tiny, record):
    """All bounds hold, but the baseline had a ledger more and an axiom less; exit 1."""
    run = load(record)
    claim = run.claims[0]
    (ledger, *rest) = claim.ledgers
    fewer = replace(ledger, axioms=ledger.axioms[1:])
    record.write_bytes(encode(replace(run, claims=(replace(claim, ledgers=(fewer, *rest)),))))
    outcome = call(*ONE, "--baseline", record)
    assert outcome.code == 1
    assert "all bounds hold" in outcome.out
    assert "REGRESSED: certified-norm: textbook theorems: " in outcome.out


def test_a_baseline_is_not_written_over(refused, record, tmp_path):
    """By whatever link; it is read once, before the run."""
    link = tmp_path / "link.json"
    link.symlink_to(record)
    for words in (("--summary", link), ("--out", record.parent)):
        assert "are one file" in refused(*ONE, "--baseline", record, *words)
    wanted, run = RequestedOutputs(record).check(), load(record)
    record.unlink()
    found = wanted.changes(run)
    assert found is not None
    assert found.rows == ()


def test_a_summary_that_is_lost(record, tmp_path, monkeypatch, caplog):
    """The step's summary is a courtesy: where it cannot be written the run stands."""
    monkeypatch.setenv(JOB_SUMMARY, str(tmp_path))
    assert RequestedOutputs().write(load(record), None) == []
    assert "no summary in GITHUB_STEP_SUMMARY" in caplog.text


def test_where_claims_are_stated(monkeypatch, tmp_path):
    """In a checkout every claim has its file, which names it; elsewhere there is none."""
    from rnnbounds.theory import CLAIMS

    monkeypatch.chdir(ROOT)
    found = claim_files()
    assert set(found) == {claim.id for claim in CLAIMS}
    for id, file in found.items():
        assert f'"{id}"' in (ROOT / file).read_text(), id
    monkeypatch.chdir(tmp_path)
    assert claim_files() == {}


def test_what_fails_is_shown_at_a_file_that_is_there(record, tmp_path, monkeypatch):
    """Of the user's own project: the workflow that asked for the run, else pyproject.toml."""

    def places():
        RequestedOutputs(sarif=tmp_path / "s.sarif").write(
            replace(run, missing_parts=("a/proof",)), None
        )
        results = json.loads((tmp_path / "s.sarif").read_text())["runs"][0]["results"]
        assert results
        return {
            place["physicalLocation"]["artifactLocation"]["uri"]
            for one in results
            for place in one["locations"]
        }

    run = load(record)
    monkeypatch.chdir(tmp_path)
    workflow = tmp_path / ".github" / "workflows" / "bounds.yml"
    monkeypatch.setenv("GITHUB_WORKFLOW_REF", f"me/mine/{workflow.relative_to(tmp_path)}@refs/x")
    assert places() == set()
    (tmp_path / "pyproject.toml").touch()
    assert places() == {"pyproject.toml"}
    workflow.parent.mkdir(parents=True)
    workflow.touch()
    assert places() == {".github/workflows/bounds.yml"}
    monkeypatch.setenv("GITHUB_WORKFLOW_REF", "")
    assert places() == {"pyproject.toml"}
