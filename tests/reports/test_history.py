"""Runs that are kept: by content, never changed, in the order of their times."""

import re
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
from msgspec.structs import replace

from rnnbounds.reports import RecordError
from rnnbounds.reports.history import (
    ChangedRecordError,
    History,
    HistoryLineError,
    load_guard_history,
)
from rnnbounds.reports.pages.model.kept_models import guard_history_page, render_guard_history
from rnnbounds.reports.pages.trends import TRENDS, render_trends_page, trends_page
from rnnbounds.reports.records.guarded import GuardResults, ModelOutcome

TITLES = {title for title, *_ in TRENDS}


def at(run, started, **fields):
    """The run as of another time."""
    told = replace(run.environment, started=started, finished="", commit="<b>" + "0" * 9)
    return replace(run, environment=told, **fields)


def test_what_is_kept(run, tmp_path):
    """One file for each run, however often it is kept; the oldest first; nothing is left beside."""
    history = History(tmp_path / "kept")
    assert history.runs() == []
    late, early = at(run, "2026-11-22T10:00:00Z"), at(run, "2026-11-21T10:00:00Z")
    paths = [history.store(told) for told in (late, early, late)]
    assert paths[0] == paths[2] != paths[1]
    assert history.runs() == [early, late]
    assert sorted(history.folder.iterdir()) == sorted(set(paths))


def test_two_writers(run, tmp_path):
    """Writers of one run and of others at once leave each run whole, once."""
    runs = [at(run, "2026-11-21", seed=seed % 3) for seed in range(12)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(History(tmp_path).store, runs))
    assert [told.seed for told in History(tmp_path).runs()] == [0, 1, 2]
    assert len(list(tmp_path.iterdir())) == 3


def test_a_run_that_was_changed(run, tmp_path):
    """It is named, as is one that is none; what else lies there is left alone."""
    history = History(tmp_path)
    path = history.store(run)
    (tmp_path / "notes.json").write_text("{")
    assert history.runs() == [run]
    path.write_bytes(path.read_bytes().replace(b'"seed": 0', b'"seed": 1'))
    with pytest.raises(ChangedRecordError, match="was changed since it was kept; remove it"):
        history.runs()
    path.write_text("{")
    with pytest.raises(RecordError, match=path.name):
        history.runs()


def test_trends(run):
    """A curve each of tightness, pairs, coverage and seconds; a row for each run and claim."""
    runs = [at(run, f"2026-11-{day}", seed=day) for day in (20, 21, 22)]
    page = trends_page(runs)
    assert [section.title for section in page.sections][:4] == [
        "Tightness", "Pairs", "Coverage", "Time",
    ]  # fmt: skip
    told, best = page.tables
    assert [row[2] for row in told.rows] == ["2026-11-20", "2026-11-21", "2026-11-22"]
    assert [row[0] for row in best.rows] == [claim.id for claim in run.claims]
    html = render_trends_page(runs).decode()
    assert html.count("<svg") >= 4
    assert "<b>0" not in html
    assert b"No runs are kept." in render_trends_page([])


def test_axes_of_trends(run):
    """Dates in ISO form below, whole numbers beside counts, and one point is said to be one."""
    runs = [at(run, f"2026-{month}-21T10:00:00Z") for month in ("09", "10", "11")]
    figures = {s.title: s.blocks[0] for s in trends_page(runs).sections if s.title in TITLES}
    for figure in figures.values():
        labels = re.findall(r">(2026-\d\d-\d\d)</text>", figure.svg)
        assert len(labels) >= 2
        assert labels == sorted(labels)
        assert "One point" not in figure.caption
    for title in ("Pairs", "Coverage"):
        (axis,) = re.findall('class="axis y">(.*?)</g>', figures[title].svg)
        labels = re.findall(">([^<]+)</text>", axis)
        assert labels
        assert not any("." in label or "·" in label for label in labels)
    one = trends_page(runs[:1])
    assert one.sections[0].blocks[0].caption.endswith("One point so far.")
    assert one.lead == "One run is kept, of 2026-09-21; a trend takes two."
    undated = trends_page([at(run, "")] * 2).sections[0].blocks[0]
    assert re.findall('class="axis x">(.*?)</g>', undated.svg)[0].count("<text") == 2


def test_the_last_run_leads(run):
    """Its verdict is the page's, and each run's stands in its row."""
    broken = replace(run, missing_parts=("state-bound/random/0",))
    page = trends_page([at(run, "2026-11-20"), at(broken, "2026-11-21")])
    assert page.verdict.tone == "bad"
    assert page.lead == "The last of 2 runs, of 2026-11-21; 1 of them passes."
    assert [row[5].word for row in page.tables[0].rows] == ["passes", "FAILS"]


def outcome(**fields):
    """What a guard found of a model."""
    return ModelOutcome(**({"name": "net", "line": "certified", "verdict": "certified"} | fields))


def test_a_guard_s_history(tmp_path):
    """k and λ of each model against dates, a row a run, the latest first."""
    found = [
        GuardResults(finished=f"2026-11-{day}T09:00:00+00:00", outcomes=(
            outcome(lam=0.5, k=day), outcome(name="free", k=3, verdict="stated"),
        ))
        for day in (20, 21)
    ]  # fmt: skip
    red = outcome(verdict="refuted", problems=("refuted: two states stay apart",))
    found.append(GuardResults(finished="2026-11-22T09:00:00+00:00", outcomes=(red,)))
    path = tmp_path / "h.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in found))
    assert load_guard_history(path) == found
    page = guard_history_page(load_guard_history(path))
    assert (page.verdict.tone, page.failed) == ("bad", True)
    net, free = page.sections
    assert [type(block).__name__ for block in net.blocks] == ["Plot", "Plot", "Table"]
    assert [type(block).__name__ for block in free.blocks] == ["Plot", "Table"]
    latest = net.blocks[-1].rows[0]
    assert (latest[0], latest[1].word, latest[2]) == ("2026-11-22", "FAILS", "refuted")
    assert "2026-11-21" in net.blocks[0].svg
    assert render_guard_history(found[:1])
    assert guard_history_page(found[:2]).verdict.tone == "good"


def test_a_guard_s_history_that_is_none(tmp_path):
    """The line is named; a file that does not exist is empty."""
    path = tmp_path / "h.jsonl"
    assert load_guard_history(path) == []
    path.write_text('{"finished": "2026-11-22", "outcomes": []}\n{}\n')
    with pytest.raises(HistoryLineError, match=r"line 2: .*finished.*; remove it"):
        load_guard_history(path)
