"""``compare``: the gate, on the command line."""

import json
import re

import pytest
from msgspec.structs import replace

from rnnbounds.reports import encode, load


@pytest.fixture
def worse(record, tmp_path):
    """The record of a run in which the ledger proves nothing and an attack got less far."""
    run = load(record)
    claim = run.claims[0]
    ledgers = tuple(replace(ledger, proved=False, basis="") for ledger in claim.ledgers)
    entries = tuple(
        replace(entry, standing="NOT PROVED") if entry.standing == "HOLDS" else entry
        for entry in run.matrix.entries
    )
    new = replace(
        run,
        claims=(replace(claim, ledgers=ledgers),),
        matrix=replace(run.matrix, entries=entries),
    )
    path = tmp_path / "worse.json"
    path.write_bytes(encode(new))
    return path


def test_text(call, record, worse):
    """A line for each row, a line that counts; exit 1 on a regression alone."""
    outcome = call("compare", record, record)
    assert (outcome.code, outcome.out) == (0, "nothing regressed, and nothing else changed\n")
    outcome = call("compare", record, worse)
    assert outcome.code == 1
    assert outcome.out.splitlines() == [
        "REGRESSED: certified-norm: proof: proved → not proved",
        "REGRESSED: certified-norm on no-cell: entry of the matrix: holds → stands, not proved",
        "2 regressed",
    ]
    outcome = call("compare", worse, record)
    assert outcome.code == 0
    assert outcome.out.endswith("2 improved\n")


def test_documents_and_a_page(call, record, worse, tmp_path):
    """JSON, Markdown, and a page that says the same."""
    document = call("compare", record, worse, "--format", "json").json
    assert document["schema"] == "rnnbounds/changes/1"
    assert {row["kind"] for row in document["rows"]} == {"regressed"}
    page = tmp_path / "new" / "page.html"
    outcome = call("compare", record, worse, "--format", "markdown", "--page", page)
    assert outcome.code == 1
    assert outcome.out.startswith("**2 regressed**, from quick, seed 0, ")
    assert "| regressed | certified-norm: proof | proved | not proved |" in outcome.out
    assert "2 regressed" in page.read_text()
    told = page.read_text()
    assert "<td>not proved</td>" in told
    assert told.count("certified-norm on no-cell") == 1
    assert 'class="masthead fails"' in told
    assert '<b class="nowrap bad"><span aria-hidden="true">✗</span> regressed</b>' in told
    assert "0 of 1 claim unchanged" in told
    call("compare", record, record, "--page", page)
    told = page.read_text()
    assert "1 of 1 claim unchanged" in told
    assert 'class="verdict good"' in told
    assert "<table" not in told


def test_settings(call, refused, record, tmp_path, monkeypatch):
    """Of the current folder; a key that is unknown is refused."""
    old, new = replace(load(record), matrix=None), tmp_path / "new.json"
    record.write_bytes(encode(old))
    new.write_bytes(encode(replace(old, claims=(), expected_parts=())))
    monkeypatch.chdir(tmp_path)
    assert call("compare", record, new).code == 1
    (tmp_path / "pyproject.toml").write_text("[tool.rnnbounds]\ngone = true\n")
    assert call("compare", record, new).code == 0
    (tmp_path / "pyproject.toml").write_text("[tool.rnnbounds]\nlaw = true\n")
    assert "unknown field `law`; [tool.rnnbounds] may set " in refused("compare", record, new)


def test_certificates(call, stable_model, save, tmp_path):
    """Those of a model over time, as `certify --format json` prints them."""
    options = ("--cell", "rnn-tanh", "--input-bound", 1, "--format", "json")
    later = save([[0.75, 0.0, 0.0], [0.0, 0.25, 0.0], [0.0, 0.125, 0.125]], name="later.pt")
    paths = []
    for model in (stable_model, later):
        paths.append(tmp_path / f"{model.stem}.json")
        paths[-1].write_text(json.dumps(call("certify", model, *options).json))
    page = tmp_path / "page.html"
    outcome = call("compare", *paths, "--page", page)
    assert outcome.code == 1
    assert "REGRESSED: rnn-tanh: λ: 0.5" in outcome.out
    assert '<th scope="col">of</th>' not in page.read_text()  # one cell is all that it is about
    assert re.search(r"[0-4] of [67] promises unchanged", page.read_text())
    assert "REGRESSED: rnn-tanh: k for ε = 0.01: " in outcome.out
    assert call("compare", *reversed(paths)).code == 0


ASKED = ("--cell", "rnn-relu", "--format", "json")
WRITERS = {
    "certify": ("--input-bound", 1),
    "truncate": ("--input-bound", 1, "--eps", 0.01, "--out", "made.safetensors"),
    "unitary": ("--input-bound", 1, "--out", "made.safetensors"),
}


@pytest.mark.parametrize("command", WRITERS)
def test_what_any_command_writes_is_read(call, stable_model, tmp_path, monkeypatch, command):
    """What is printed, what `--out` and `--page` keep, and what `check` prints of the file."""
    monkeypatch.chdir(tmp_path)
    kept = ("--out" if command == "certify" else "--page", "kept")
    told = call(command, stable_model, *WRITERS[command], *ASKED, *kept).json
    (tmp_path / "told.json").write_text(json.dumps(told))
    source = ("kept/certificate.json", "--source", stable_model, "--cell", "rnn-relu")
    file = source if command == "certify" else ("made.safetensors",)
    checked = call("check", *file, "--format", "json").json
    (tmp_path / "checked.json").write_text(json.dumps(checked))
    for pair in (("told.json", "kept/certificate.json"), ("checked.json", "checked.json")):
        outcome = call("compare", *pair)
        assert outcome.out == "nothing regressed, and nothing else changed\n", outcome.err


@pytest.mark.parametrize("option", [("--inputs=0:1",), ("--input-bound", 1, "--eps", 0.1)])
def test_two_questions(call, refused, stable_model, tmp_path, option):
    """A box is no ball, and one ε no other: exit 2 and a line, however much less k is."""
    asked = ("certify", stable_model, "--cell", "rnn-tanh", "--format", "json")
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    for path, options in zip(paths, (("--input-bound", 1), option), strict=True):
        path.write_text(json.dumps(call(*asked, *options).json))
    what = "ε, " if "--eps" in option else "inputs, '‖x_t‖₂ ≤ 1.0' and 'box, "
    assert f"certificates of different {what}" in refused("compare", *paths)


def test_what_cannot_be_compared(refused, record, tmp_path):
    """Absent, another schema, no place for a page: one line, and nothing is written."""
    other = tmp_path / "other.json"
    other.write_text(record.read_text().replace("rnnbounds/run/2", "rnnbounds/run/7"))
    assert "schema 'rnnbounds/run/7', not 'rnnbounds/run/2'" in refused("compare", record, other)
    assert "does not exist" in refused("compare", record, tmp_path / "no.json")
    other.write_text('{"schema": "rnnbounds/sunspots/1"}')
    for pair in ((other, other), (record, other)):
        assert "records of 'sunspots' cannot be compared" in refused("compare", *pair)
    line = refused("compare", record, record, "--page", tmp_path / "page.txt")
    assert line.endswith("the name does not end in .html; choose another place")
    assert not (tmp_path / "page.txt").exists()
