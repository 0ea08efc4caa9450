"""Models in both directions in the table of formats: every action that it names, of a file."""

import pytest
import torch
from both_models import both, by_windows, inputs
from safetensors.torch import save_file

import rnnbounds
from rnnbounds.impl.checker.bidirectional import check_bidirectional

EPSILON, B = 0.3, 1.0
named = pytest.mark.parametrize("path", ["both"], indirect=True)


@pytest.fixture
def path(tmp_path):
    """The file of a GRU in both directions that certifies."""
    save_file(both("gru", scale=0.3).state_dict(), tmp_path / "m.safetensors")
    return tmp_path / "m.safetensors"


@named
def test_certified(path):
    """A window is certified."""
    told = rnnbounds.certify(path, B, EPSILON)
    assert (told.verdict, told.cell) == ("certified", "bidirectional gru")


@named
def test_measured(path):
    """Measured on data, it forgets no slower than is certified."""
    seen = rnnbounds.measure(path, inputs(8, 60), eps=EPSILON)
    assert seen.window(EPSILON) <= max(rnnbounds.certify(path, B, EPSILON).window(EPSILON))


@named
def test_truncated(path):
    """Its outputs are those of the windows, within ε of the whole run."""
    module, _ = truncated = rnnbounds.truncate(path, EPSILON, B)
    x, whole = inputs(2, 30), both("gru", scale=0.3)
    windows = by_windows(whole, x, *truncated.window)
    torch.testing.assert_close(module(x), windows, rtol=0, atol=1e-6)
    assert float((module(x) - whole(x)[0]).detach().norm(dim=2).max()) <= EPSILON


@pytest.mark.slow
@named
def test_exported(path, tmp_path):
    """The exported program has the outputs of the truncated form."""
    module, told = rnnbounds.truncate(path, EPSILON, B)
    rnnbounds.export_truncated(module, told, tmp_path / "m.pt2")
    x = inputs(2, 20)
    program = torch.export.load(tmp_path / "m.pt2").module()
    torch.testing.assert_close(program(x), module(x), rtol=0, atol=1e-5)


@named
def test_checked(path, tmp_path):
    """The checker proves the file of the truncated form again."""
    rnnbounds.save_truncated(*rnnbounds.truncate(path, EPSILON, B), tmp_path / "k.safetensors")
    assert all(found.holds for found in check_bidirectional(tmp_path / "k.safetensors")[1])
