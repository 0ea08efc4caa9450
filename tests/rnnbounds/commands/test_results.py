"""What ``verify`` makes of a run beside its record: the gate and summaries."""

from msgspec.structs import replace

from rnnbounds.reports.records.codec import encode, load
from rnnbounds.shell.results import JOB_SUMMARY, RequestedOutputs

ONE = ("verify", "contraction-linear", "-n", 0, "--attacks", "random")


def test_all_of_it(call, tiny, record, tmp_path, monkeypatch):
    """One run: compared with its baseline, told in Markdown, on the pages."""
    step = tmp_path / "step.md"
    step.write_text("before\n")
    monkeypatch.setenv(JOB_SUMMARY, str(step))
    names = {name: tmp_path / "out" / name for name in ("s.md", "page")}
    outcome = call(
        *ONE, "--seed", 1, "--baseline", record, "--summary", names["s.md"],
        "--out", names["page"],
    )  # fmt: skip
    assert (outcome.code, outcome.err) == (0, "")
    assert "nothing changed by more than the thresholds allow\n" in outcome.out
    told = names["s.md"].read_text()
    assert told.startswith("## rnnbounds: all bounds hold\n")
    assert "from quick, seed 0, " in told
    assert step.read_text() == "before\n" + told
    assert (names["page"] / "run.json").exists()


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
    assert "REGRESSED: contraction-linear: textbook theorems: " in outcome.out


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
