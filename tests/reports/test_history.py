"""Runs that are kept: by content, never changed, in the order of their times."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec.structs import replace

from reports import RecordError
from reports.history import History, KeptError
from reports.pages.trends import render_trends, trends


def at(run, started, **fields):
    """The run as of another time."""
    told = replace(run.environment, started=started, finished="", commit="<b>" + "0" * 9)
    return replace(run, environment=told, **fields)


def test_what_is_kept(run, tmp_path):
    """One file for each run, however often it is kept; the oldest first; nothing is left beside."""
    history = History(tmp_path / "kept")
    assert history.runs() == []
    late, early = at(run, "2026-11-22T10:00:00Z"), at(run, "2026-11-21T10:00:00Z")
    paths = [history.keep(told) for told in (late, early, late)]
    assert paths[0] == paths[2] != paths[1]
    assert history.runs() == [early, late]
    assert sorted(history.folder.iterdir()) == sorted(set(paths))


def test_two_writers(run, tmp_path):
    """Writers of one run and of others at once leave each run whole, once."""
    runs = [at(run, "2026-11-21", seed=seed % 3) for seed in range(12)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(History(tmp_path).keep, runs))
    assert [told.seed for told in History(tmp_path).runs()] == [0, 1, 2]
    assert len(list(tmp_path.iterdir())) == 3


def test_a_run_that_was_changed(run, tmp_path):
    """It is named, as is one that is none; what else lies there is left alone."""
    history = History(tmp_path)
    path = history.keep(run)
    (tmp_path / "notes.json").write_text("{")
    assert history.runs() == [run]
    path.write_bytes(path.read_bytes().replace(b'"seed": 0', b'"seed": 1'))
    with pytest.raises(KeptError, match="was changed since it was kept; remove it"):
        history.runs()
    path.write_text("{")
    with pytest.raises(RecordError, match=path.name):
        history.runs()


def test_trends(run):
    """A curve each of tightness, pairs, coverage and seconds; a row for each run and claim."""
    runs = [at(run, f"2026-11-{day}", seed=day) for day in (20, 21, 22)]
    page = trends(runs)
    assert [section.title for section in page.sections][:4] == [
        "Tightness", "Pairs", "Coverage", "Time",
    ]  # fmt: skip
    told, best = page.tables
    assert [row[2] for row in told.rows] == ["2026-11-20", "2026-11-21", "2026-11-22"]
    assert [row[0] for row in best.rows] == [claim.id for claim in run.claims]
    html = render_trends(runs).decode()
    assert html.count("<svg") >= 4
    assert "<b>0" not in html
    assert b"0 runs" in render_trends([])
