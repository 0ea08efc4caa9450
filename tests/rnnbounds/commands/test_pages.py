"""``report``: the page again."""

import csv
import os
from pathlib import Path

import pytest

from rnnbounds.reports.records.codec import load


def test_the_same_page(call, verified, tmp_path):
    """From run.json alone the identical page is made, and the record is copied."""
    out = tmp_path / "again"
    outcome = call("report", verified / "run.json", "--out", out)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == f"wrote {out / 'index.html'} and {out / 'run.json'}\n"
    for name in ("index.html", "run.json"):
        assert (out / name).read_bytes() == (verified / name).read_bytes()
    document = call("report", verified / "run.json", "--out", out, "--format", "json").json
    assert document == {"page": str(out / "index.html"), "problems": []}


@pytest.mark.slow
def test_no_home_and_no_settings_of_others(python, verified, tmp_path, monkeypatch):
    """To the same bytes and without a word where nothing can be kept, whatever a matplotlibrc in
    the current folder asks for."""
    for variable in ("MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(verified / "run.json" / "below-a-file"))
    odd = "font.size: 40\nsvg.fonttype: path\npath.sketch: 5, 9, 3\nnonsense: 1\ntext.usetex: True"
    (tmp_path / "matplotlibrc").write_text(odd)
    program = "import sys; from rnnbounds.cli import main; sys.exit(main())"
    ran = python("-c", program, "report", verified / "run.json", "--out", "again")
    assert (ran.returncode, ran.stderr) == (0, "")
    again = (tmp_path / "again" / "index.html").read_bytes()
    assert again == (verified / "index.html").read_bytes()


def test_the_points_of_its_curves(call, verified, tmp_path):
    """--csv: beside the page, to the last digit; without it no such file."""
    record, out = verified / "run.json", tmp_path / "again"
    outcome = call("report", record, "--out", out, "--csv")
    written = [out / name for name in ("curves.csv", "index.html", "run.json")]
    assert outcome.out == f"wrote {' and '.join(map(str, written))}\n"
    forms = [(c.id, form) for c in load(record).claims for form in c.forms if form.curve]
    points = [(id, form, point) for id, form in forms for point in form.curve.points]
    with (out / "curves.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["claim", "form", "against", "at", "largest_seen", "bound"]
    assert len(rows) == len(points)
    for row, (id, form, point) in zip(rows, points, strict=True):
        assert row[:3] == [id, form.name, form.curve.against]
        assert (int(row[3]), float(row[4]), float(row[5])) == (point.at, point.lhs, point.rhs)
    document = call("report", record, "--out", out, "--csv", "--format", "json").json
    assert document["curves"] == str(out / "curves.csv")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs Linux's /proc")
def test_a_folder_in_which_nobody_may_write(refused, verified):
    """Not even root writes into /proc."""
    line = refused("report", verified / "run.json", "--out", f"/proc/{os.getpid()}/report")
    assert line.endswith("choose another place")
