"""One name is installed; a project that has modules with the names of our folders keeps them."""

import os
from importlib.metadata import files

import pytest

import rnnbounds

OWN = "import torch\nOWN = '{}'\n\ndef make():\n    return torch.nn.GRU(2, 3)\n"
USE = """
import pickle, sys
import torch, rnnbounds
import theory, impl, properties, reports
weights = {name: part / 8 for name, part in torch.nn.GRU(2, 3).state_dict().items()}
found = rnnbounds.assert_contractive(weights, inputs=1.0, norm="infinity")
assert pickle.loads(pickle.dumps(found)) == found
print(found.verdict, type(found).__module__, theory.OWN, reports.OWN)
print(len(rnnbounds.theory.CLAIMS) > 9)
from rnnbounds.cli import main
main(["certify", "theory:make", "--list"])
"""


@pytest.fixture
def project(tmp_path):
    """A folder with a theory.py, and with packages that are named as our other folders."""
    (tmp_path / "theory.py").write_text(OWN.format("theory.py"))
    for room in ("impl", "properties", "reports"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").write_text(OWN.format(room))
    return tmp_path


@pytest.mark.slow
def test_a_project_keeps_its_modules(python, project):
    """Certificates, assertions, claims and a factory of the project."""
    result = python("-c", USE)
    assert result.stderr == ""
    said = "certified rnnbounds.impl.certificate.record theory.py reports\nTrue\n"
    assert result.stdout.startswith(said)
    assert ".      gru   3  2  3       float32" in result.stdout


def test_the_package_is_run_as_the_program(python):
    """``python -m rnnbounds`` is ``rnnbounds``."""
    assert python("-m", "rnnbounds", "--version").stdout == f"rnnbounds {rnnbounds.__version__}\n"


@pytest.mark.skipif("TOX_ENV_NAME" not in os.environ, reason="a checkout is no wheel")
def test_the_wheel_installs_one_package():
    """No other top-level name enters site-packages."""
    tops = {file.parts[0] for file in files("rnnbounds") if file.suffix == ".py"}
    assert tops == {"rnnbounds"}


def test_the_public_names_are_there():
    """Everything in __all__ exists, and the table of claims is the theory's."""
    assert all(hasattr(rnnbounds, name) for name in rnnbounds.__all__)
    assert set(rnnbounds.__all__) <= set(dir(rnnbounds))
    with pytest.raises(AttributeError, match="no attribute 'certifies'"):
        rnnbounds.certifies  # noqa: B018
    assert {claim.id for claim in rnnbounds.theory.CLAIMS} >= {"truncation", "contraction-linear"}
