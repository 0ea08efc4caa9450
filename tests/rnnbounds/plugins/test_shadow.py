"""A project that has modules with the names of rooms keeps them, and uses rnnbounds."""

import sys

import pytest
import torch

import rnnbounds
from rnnbounds import shadow
from rnnbounds.shadow import APART, MissingRoomError, room_module, settle

PROGRAM = "from rnnbounds.cli import main; import sys; sys.exit(main())"
TWICE = """
import sys
from rnnbounds.cli import main
print(main(["certify", "theory:make", "--list"]))
sys.exit(main(["certify", "absent.pt", "--input-bound", "1"]))
"""
OWN = "import torch\nOWN = '{}'\n\ndef make():\n    return torch.nn.GRU(2, 3)\n"
USE = """
import sys
import torch, rnnbounds
import theory, reports
weights = {name: part / 8 for name, part in torch.nn.GRU(2, 3).state_dict().items()}
found = rnnbounds.certify(weights, input_bound=1.0)
rnnbounds.assert_contractive(weights, 1.0)
print(found.verdict, type(found).__module__, theory.OWN, reports.OWN, len(rnnbounds.CLAIMS) > 9)
print(sorted({name.partition('.')[0] for name in sys.modules} & {'impl', 'properties'}))
"""
TEST = """
import pickle
import rnnbounds, torch
import theory

def test_own():
    assert theory.OWN == "theory.py"
    module = torch.nn.RNN(1, 1)
    with torch.no_grad():
        module.weight_hh_l0.fill_(0.5)
    rnnbounds.assert_contractive(module, 1.0)
    found = rnnbounds.certify(module, 1.0)
    assert pickle.loads(pickle.dumps(found)) == found
    import theory as again
    assert again is theory
"""

THREADS = """
import sys, threading, time
import importlib
import rnnbounds.shadow

def slowly(name, usual=importlib.import_module):
    if name == "rnnbounds.rooms":
        sys.modules[name] = type(sys)(name)  # as another thread may find it, half-made
        begun.set()
        go.wait()
        del sys.modules[name]
    return usual(name)

begun, go, found = threading.Event(), threading.Event(), []
rnnbounds.shadow.import_module = slowly
def use():
    rnnbounds.shadow.settle()
    found.append(rnnbounds.shadow.APART in sys.modules and bool(rnnbounds.rooms.__path__))
first = threading.Thread(target=use)
first.start()
begun.wait()
others = [threading.Thread(target=use) for _ in range(7)]
for other in others:
    other.start()
go.set()
for one in (first, *others):
    one.join()
print(len(found), *set(found))
"""


@pytest.fixture
def project(tmp_path):
    """A folder with a theory.py, and with packages for the other rooms."""
    (tmp_path / "theory.py").write_text(OWN.format("theory.py"))
    for room in ("impl", "properties", "reports"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").write_text(OWN.format(room))
    return tmp_path


@pytest.mark.slow
def test_python(python, project):
    """Certificates, assertions and claims, beside modules of the project."""
    result = python("-c", USE)
    assert result.stderr == ""
    first, second = result.stdout.splitlines()
    assert first == "certified rnnbounds.rooms.impl.certificate.record theory.py reports True"
    assert second == "[]"


@pytest.mark.slow
def test_the_command_line(python, project):
    """A factory of the project that stands in a module with the name of a room."""
    torch.save(torch.nn.GRU(2, 3).state_dict(), project / "m.pt")
    result = python("-c", TWICE)
    assert ".      gru   3  2  3       float32" in result.stdout
    assert result.stdout.endswith("\n0\n")
    assert result.returncode == 2
    assert result.stderr == "rnnbounds: absent.pt: does not exist; name a file of weights\n"


def test_threads(python, project):
    """Several that use rnnbounds first at once all find the rooms."""
    result = python("-c", THREADS)
    assert (result.stdout, result.stderr) == ("8 True\n", "")


@pytest.mark.slow
def test_processes(python, project):
    """What travels to workers finds its way there; of one, its own process would do the work."""
    run = ("verify", "certified-norm", "-n", "2", "--attacks", "random", "--out", "out")
    result = python("-c", PROGRAM, *run)
    assert (project / "out" / "index.html").exists(), result.stderr
    assert "Error" not in result.stderr


@pytest.mark.slow
def test_pytest(python, plugin, project):
    """Assertions in the tests of such a project, with the plugin, and with a report of no parts."""
    (project / "test_own.py").write_text(TEST)
    run = ("-m", "pytest", "-q", *plugin, "-p", "no:cacheprovider")
    for code, more in enumerate(((), ("--bounds-report", "out"))):
        result = python(*run, *more)
        assert result.returncode == code, result.stdout + result.stderr
        assert "1 passed" in result.stdout
    assert "wrote out/run.json and out/index.html" in result.stdout


def test_the_plugin_stays_out_of_other_projects(python, plugin, project):
    """Torch is not imported, nor import statements changed, for tests of other things."""
    (project / "test_own.py").write_text(
        "import builtins, sys\n\ndef test_own():\n    assert 'torch' not in sys.modules\n"
        f"    assert '{APART}' not in sys.modules\n"
    )
    assert python("-m", "pytest", "-q", *plugin, "-p", "no:cacheprovider").returncode == 0


def test_without_such_modules_nothing_changes(python, tmp_path):
    """A folder of results is no module: the rooms keep their names."""
    (tmp_path / "reports").mkdir()
    told = "import rnnbounds, sys; rnnbounds.certify; print('impl' in sys.modules)"
    assert python("-c", told).stdout == "True\n"
    settle()
    assert APART not in sys.modules
    assert room_module("impl.errors") == "impl.errors"


def test_a_missing_room_is_named(tmp_path, monkeypatch):
    """A broken installation says so."""
    monkeypatch.setattr(shadow, "HOUSE", tmp_path)
    with pytest.raises(MissingRoomError, match=r"'theory' is missing in .*; install rnnbounds"):
        settle()


def test_the_public_names_are_there():
    """Everything in __all__ exists, and the table of claims is theory's."""
    assert all(hasattr(rnnbounds, name) for name in rnnbounds.__all__)
    assert set(rnnbounds.__all__) <= set(dir(rnnbounds))
    with pytest.raises(AttributeError, match="no attribute 'certifies'"):
        rnnbounds.certifies  # noqa: B018
    assert {claim.id for claim in rnnbounds.CLAIMS} >= {"truncation", "certified-norm"}
