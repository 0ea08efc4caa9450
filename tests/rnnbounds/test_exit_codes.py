"""One table of exit codes: 0 all holds, 1 what was judged fails, 2 the call or a file is wrong; the
same for every command and every fault."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from rnnbounds.reports.records.codec import encode, load
from rnnbounds.shell.program import COMMANDS

TANH = ("--cell", "rnn-tanh", "--inputs", "1")
SPEC = '{"kind":"rnn","n":2,"d":1,"T":5,"K":3,"lam":0.75,"seed":4}'
ASKED = """
[tool.rnnbounds.models.m]
model = "model.pt"
cell = "rnn-tanh"
inputs = 1.0
eps = 0.1
"""
VERIFY = ("verify", "contraction-linear", "-n", "0", "--attacks", "random")

READERS = {  # calls that read a file, which {} stands for, by what it should be
    "certify a model": (".pt", "certify", "{}", *TANH),
    "certify safetensors": (".safetensors", "certify", "{}", *TANH),
    "certify inputs": (".npy", "certify", "model.pt", "--cell=rnn-tanh", "--inputs={}"),
    "certify a table": (".csv", "certify", "model.pt", "--cell=rnn-tanh", "--inputs={}"),
    "certify data": (".npz", "certify", "model.pt", *TANH, "--data={}"),
    "measure a model": (".pt", "measure", "{}", "--cell=rnn-tanh", "--data=x.npy"),
    "measure data": (".safetensors", "measure", "model.pt", "--cell=rnn-tanh", "--data={}"),
    "truncate": (".pt", "truncate", "{}", *TANH, "--eps=1", "--out=short.safetensors"),
    "unitary": (".pt", "unitary", "{}", "--cell=rnn-relu", "--inputs=1", "--out=u.safetensors"),
    "check": (".safetensors", "check", "{}"),
    "check a certificate": (".json", "check", "{}", "--source=model.pt", "--cell=rnn-tanh"),
    "check a source": (".pt", "check", "kept/certificate.json", "--source={}", "--cell=rnn-tanh"),
    "report": (".json", "report", "{}", "--out=page"),
    "report a baseline": (".json", "report", "run.json", "--out=page", "--baseline={}"),
    "compare an old run": (".json", "compare", "{}", "run.json"),
    "compare a new certificate": (".json", "compare", "kept/certificate.json", "{}"),
    "compare a file with itself": (".json", "compare", "{}", "{}"),
    "verify": (".json", *VERIFY, "--baseline={}"),
    "claims": (".json", "claims", "--run={}"),
    "guard": (".toml", "guard", "--config={}"),
}


def faults(kept: bytes, suffix: str) -> dict[str, Path]:
    """Files that nothing can be read from, and names that no file has; `kept`: a certificate."""
    contents = {
        "empty": b"",
        "binary": bytes(range(256)) * 8,
        "zeros": bytes(100),
        "text": b"not a model\n",
        "object": b"{}",
        "list": b"[1, 2]",
        "NaN": b'{"schema": NaN}',
        "deep": b"[" * 100_000,
        "huge": b'{"schema": "rnnbounds/certificate/1", "input_bound": ' + b"9" * 5_000 + b"}",
        "UTF-16": '{"schema": "rnnbounds/run/4"}'.encode("utf-16"),
        "another record": b'{"schema": "rnnbounds/experiment/1"}',
        "a later run": b'{"schema": "rnnbounds/run/999"}',
        "a later certificate": b'{"schema": "rnnbounds/certificate/999"}',
        "cut": kept[:200],
        "negative": kept.replace(b'"lambda": 0.5', b'"lambda": -0.5'),
        "another verdict": kept.replace(b'"certified"', b'"proved"'),
        "said to fail": b'{"holds": false, "certificate": ' + kept + b"}",
    }
    made = {}
    for name, data in contents.items():
        made[name] = Path(f"{name}{suffix}")
        made[name].write_bytes(data)
    Path(f"folder{suffix}").mkdir()
    Path(f"link{suffix}").symlink_to(f"link{suffix}")
    os.mkfifo(f"pipe{suffix}")
    names = ("folder", "link", "pipe", "absent", "x" * 300, "é\u202e\n\x1b[2J")
    return made | {name: Path(f"{name}{suffix}") for name in names} | {"null": Path("/dev/null")}


@pytest.fixture
def folder(call, save, recorded, tmp_path, monkeypatch):
    """A folder with a model, its certificate, a run, recorded inputs and settings."""
    monkeypatch.chdir(tmp_path)
    save([[0.5, 0.0], [0.0, 0.25]])
    save([[0.5, 0.0], [0.0, 0.25]], U=[[2.0], [2.0]], name="later.pt")
    save([[2.0]], name="steep.pt")
    assert call("certify", "model.pt", *TANH, "--out", "kept").code == 0
    assert call("certify", "later.pt", *TANH, "--out", "later").code == 0
    (tmp_path / "run.json").write_bytes((recorded / "run.json").read_bytes())
    np.save("x.npy", np.random.default_rng(0).uniform(-1, 1, (40, 12, 1)))
    (tmp_path / "pyproject.toml").write_text(ASKED)
    return tmp_path


@pytest.mark.parametrize("name", READERS)
def test_a_file_that_is_wrong(refused, folder, tiny, name):
    """Missing, no file, of another kind, cut, of a later version, or with what no certificate says:
    exit 2 and one line with a remedy, and nothing is written."""
    suffix, *words = READERS[name]
    kept = (folder / "kept" / "certificate.json").read_bytes()
    assert b'"lambda": 0.5,' in kept
    wrong = faults(kept, suffix)
    before = sorted(folder.rglob("*"))
    for path in wrong.values():
        line = refused(*(word.replace("{}", str(path)) for word in words))
        assert "; " in line
        assert "Traceback" not in line
    assert sorted(folder.rglob("*")) == before


OUTCOMES = {  # of each command a call that holds, and one about something that fails
    "claims": (("claims",), None),
    "prove": (("prove", "contraction-linear"), None),
    "verify": (VERIFY, (*VERIFY, "--baseline=better.json")),
    "attack": (
        ("attack", "h_norm <= S_0/(1-lam)", "--attacks=random"),
        ("attack", "h_gap <= S_0*lam**k", "--attacks=random"),
    ),
    "replay": (
        ("replay", SPEC, "--claim=truncation"),
        ("replay", SPEC, "--statement=h_gap <= S_0*lam**k/2"),
    ),
    "certify": (("certify", "model.pt", *TANH), ("certify", "steep.pt", *TANH)),
    "measure": (("measure", "model.pt", "--cell=rnn-tanh", "--data=x.npy"), None),
    "truncate": (
        ("truncate", "model.pt", *TANH, "--eps=1", "--out=short.safetensors"),
        ("truncate", "steep.pt", *TANH, "--eps=1", "--out=none.safetensors"),
    ),
    "unitary": (
        ("unitary", "model.pt", "--cell=rnn-relu", "--inputs=1", "--out=u.safetensors"),
        ("unitary", "steep.pt", "--cell=rnn-relu", "--inputs=1", "--out=none.safetensors"),
    ),
    "check": (
        ("check", "kept/certificate.json", "--source=model.pt", "--cell=rnn-tanh"),
        ("check", "false.json", "--source=model.pt", "--cell=rnn-tanh"),
    ),
    "report": (
        ("report", "run.json", "--out=page"),
        ("report", "run.json", "--out=page", "--baseline=better.json"),
    ),
    "compare": (
        ("compare", "kept/certificate.json", "kept/certificate.json"),
        ("compare", "kept/certificate.json", "later/certificate.json"),
    ),
    "guard": (("guard",), ("guard", "--config=strict.toml")),
    "experiment": (None, None),  # it takes long, and finds nothing wrong
}


@pytest.fixture
def judged(folder):
    """Beside them what fails: a run whose baseline is better, a certificate with a smaller λ, a
    certificate that says less, settings that a model does not meet."""
    run = load(folder / "run.json")
    (claim,) = run.claims
    (ledger, *others) = claim.ledgers
    fewer = replace(claim, ledgers=(replace(ledger, axioms=ledger.axioms[1:]), *others))
    (folder / "better.json").write_bytes(encode(replace(run, claims=(fewer,))))
    kept = (folder / "kept" / "certificate.json").read_text()
    (folder / "false.json").write_text(kept.replace('"lambda": 0.5,', '"lambda": 0.25,', 1))
    (folder / "strict.toml").write_text(f"{ASKED}at-most = 0\n")


def test_the_table_is_of_every_command():
    """None is left out."""
    assert OUTCOMES.keys() == COMMANDS.keys()


@pytest.mark.parametrize("command", OUTCOMES)
def test_what_is_judged(call, judged, tiny, command):
    """Exit 0 if all holds, 1 if something that was judged does not; answers are on standard output,
    and nothing on the other."""
    for code, words in enumerate(OUTCOMES[command]):
        if words is not None:
            outcome = call(*words)
            assert (outcome.code, outcome.err) == (code, "")
            assert outcome.out


def test_guard_judges_what_it_can(call, judged):
    """The one command that prints and writes with exit 2: of a model that cannot be read it says
    so, and all others are judged, certified and kept."""
    other = ASKED.replace(".m]", ".other]")
    Path("pyproject.toml").write_text(f'{ASKED}baseline = "m.json"\n{other}nope = 1\n')
    outcome = call("guard", "--update", "--summary", "s.md", "--format", "json")
    assert (outcome.code, outcome.err) == (2, "")
    m, unread = json.loads(outcome.out)["outcomes"]
    assert (m["unread"], m["problems"]) == (False, [])
    assert unread["unread"]
    assert Path("m.json").exists()
    assert "has no key nope" in Path("s.md").read_text()
