"""Where the commands may write: never over what they read, and never in vain."""

import os

import pytest

from rnnbounds.commands import experiments

SPEC = '{"kind":"rnn","n":2,"d":1,"T":5,"K":3,"lam":0.75,"seed":4}'


@pytest.fixture
def writers(stable_model, tmp_path):
    """Commands that write a file or a folder, by name, without their place."""
    bound = ("--inputs", 1)
    return {
        "truncate": ("truncate", stable_model, *bound, "--eps", 1, "--cell", "rnn-tanh", "--out"),
        "unitary": ("unitary", stable_model, *bound, "--cell", "rnn-relu", "--out"),
        "verify": ("verify", "contraction-linear", "-n", 0, "--out"),
        "experiment": ("experiment", "similarity", "--out"),
        "report": ("report", tmp_path / "run.json", "--out"),
        "replay": ("replay", SPEC, "--claim", "truncation", "--dump"),
    }


@pytest.fixture
def idle(monkeypatch):
    """Let no work begin."""

    def work(*_, **__):
        raise AssertionError("the work began")

    monkeypatch.setattr("rnnbounds.impl.convert.truncate.truncate", work)
    monkeypatch.setattr("rnnbounds.impl.convert.unitary.unitary", work)
    monkeypatch.setattr("rnnbounds.properties.runs.run.run_parts", work)
    monkeypatch.setattr(experiments, "show_progress", work)
    monkeypatch.setattr("rnnbounds.properties.runs.replay.replay", work)


@pytest.mark.parametrize("command", ["truncate", "unitary"])
@pytest.mark.parametrize("link", ["itself", "relative", "soft", "hard"])
def test_never_over_the_model(refused, writers, idle, stable_model, tmp_path, command, link):
    """By whatever name: the model is as it was."""
    before, place = stable_model.read_bytes(), tmp_path / "other.safetensors"
    stable_model.rename(tmp_path / "model.safetensors")
    stable_model = tmp_path / "model.safetensors"
    arguments = [*writers[command]]
    arguments[1] = stable_model
    match link:
        case "itself":
            place = stable_model
        case "relative":
            (tmp_path / "folder").mkdir()
            place = tmp_path / "folder" / ".." / stable_model.name
        case "soft":
            place.symlink_to(stable_model)
        case "hard":
            os.link(stable_model, place)
    assert "is the file that is read" in refused(*arguments, place)
    assert stable_model.read_bytes() == before


@pytest.mark.parametrize("command", ["truncate", "unitary", "replay"])
def test_a_suffix_says_what_is_in_a_file(refused, writers, idle, tmp_path, command):
    """No safetensors under a name of torch's, no archive of NumPy's under one of these."""
    for name in ("x.pt", "x.json", "x.npz" if command != "replay" else "x.safetensors"):
        assert "end in ." in refused(*writers[command], tmp_path / name)
        assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    "command", ["truncate", "unitary", "verify", "experiment", "report", "replay"]
)
def test_bad_places_are_refused_before_the_work(
    refused, writers, idle, tmp_path, monkeypatch, command
):
    """No name, a folder of a file's name, a file of a folder's, a name that is too long."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "x.npz").mkdir()
    (tmp_path / "x.safetensors").mkdir()
    suffix = {"replay": ".npz", "truncate": ".safetensors", "unitary": ".safetensors"}.get(command)
    places = ["", "file/below"]
    if suffix:
        places += [f"x{suffix}", "x" * 300 + suffix]
    if command == "replay":  # a folder is no place for its file
        places += [".", "/"]
    before = sorted(path.name for path in tmp_path.iterdir())
    for place in places:
        refused(*writers[command], place)
        assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_report_beside_its_record(call, refused, verified):
    """The record is left as it is, byte by byte; a record called like the page is not replaced."""
    record, page = verified / "run.json", verified / "index.html"
    made = page.read_bytes()
    spaced = record.read_bytes() + b"\n\n"
    record.write_bytes(spaced)
    page.unlink()
    outcome = call("report", record, "--out", verified)
    assert (outcome.code, outcome.out) == (0, f"wrote {page}\n")
    assert (record.read_bytes(), page.read_bytes()) == (spaced, made)
    record.replace(page)
    assert "it is the file that is read" in refused("report", page, "--out", verified)
    assert page.read_bytes() == spaced
