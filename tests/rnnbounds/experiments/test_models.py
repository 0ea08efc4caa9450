"""The table of models: small, every line with an answer, and as the documentation has it.

``python tests/rnnbounds/experiments/test_models.py report/models/models.json`` writes the table and
the record that it comes from to docs/records.
"""

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from rnnbounds import disk
from rnnbounds.experiments.engine.record import CertificateSummary, decode_record
from rnnbounds.experiments.engine.running import experiment_page, run_experiment
from rnnbounds.experiments.models.line import ModelLine
from rnnbounds.experiments.models.run import (
    EXPERIMENT,
    MODELS_BY_TASK,
    Sizes,
    judge_runs,
    models_table,
)

RECORDS = Path(__file__).parents[3] / "docs" / "records"
TABLE, CARRIED = RECORDS / "models.md", RECORDS / "models.json"
SMALL = Sizes(steps=2, states=2, windows=8, count=1)


@pytest.mark.slow
def test_small_run(tmp_path):
    """One model of each task, certified, attacked, measured: no line without an answer."""
    pytest.importorskip("statsmodels")
    pytest.importorskip("sklearn")
    record = run_experiment(EXPERIMENT, tmp_path, setting=SMALL)
    lines = [ModelLine(one) for one in record.runs]
    assert [line.run.task for line in lines] == list(MODELS_BY_TASK)
    assert all(line.is_answered for line in lines)
    assert (record.outcome.holds, record.problems) == ("holds", ())
    assert experiment_page(record, EXPERIMENT).tables
    assert decode_record((tmp_path / "models.json").read_bytes()) == record


def test_the_table_is_of_the_record():
    """The table is the carried record's, in which no line is without an answer."""
    record = decode_record(CARRIED.read_bytes())
    assert TABLE.read_text(encoding="utf-8") == markdown(record)
    assert record.problems == ()
    assert record.outcome.holds == "holds"
    lines = [ModelLine(one) for one in record.runs]
    assert len(lines) >= 12
    assert all(line.is_answered for line in lines)
    assert judge_runs(record.runs, Sizes()) == record.outcome


def test_what_is_no_answer():
    """A line without what to do next, a projection that is not certified, and a certified k that
    is refuted are told."""
    (one,) = (
        run for run in decode_record(CARRIED.read_bytes()).runs
        if (run.task, run.model, run.variant) == ("sunspots", "RNN ReLU", "projected")
    )  # fmt: skip
    lost = replace(
        one, certificate=CertificateSummary("undecided", "perron", None, 0.01, None, "all")
    )
    told = judge_runs([lost], Sizes())
    assert told.holds == "does not hold"
    assert told.problems == ("sunspots, projected RNN ReLU: projected, and undecided",)
    refuted = replace(one, figures={**one.figures, "k attacked": 10.0**6})
    assert "no k below 1000000 will do" in judge_runs([refuted], Sizes()).problems[0]


def markdown(record):
    """The table in Markdown."""
    told = models_table(record.runs)
    lines = [told.columns, ["---"] * len(told.columns), *told.rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write(path):
    """Both places; SystemExit where the record is not one to be carried."""
    data = Path(path).read_bytes()
    record = decode_record(data)
    if record.problems or record.outcome.holds != "holds" or len(record.runs) < 12:
        raise SystemExit(f"{path}: {record.outcome.said}; run the experiment again")
    disk.write({CARRIED: data, TABLE: markdown(record).encode()})


if __name__ == "__main__":
    write(sys.argv[1])
