"""``certify`` and ``truncate`` on state-space models, scans and echo-state networks as files."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

import rnnbounds


def lru(nu_log: float, dtype: torch.dtype = torch.float32) -> dict[str, torch.Tensor]:
    """An LRU of four equal moduli exp(−exp(nu_log))."""
    parts = {
        "nu_log": torch.full((4,), nu_log), "theta_log": torch.zeros(4),
        "B_re": torch.ones(4, 2), "B_im": torch.zeros(4, 2),
    }  # fmt: skip
    return {name: part.to(dtype) for name, part in parts.items()}


@pytest.fixture
def saved(tmp_path: Path):
    """Write weights as a safetensors file: saved(weights) -> its path."""

    def write(weights: dict[str, torch.Tensor]) -> Path:
        save_file(weights, tmp_path / "model.safetensors")
        return tmp_path / "model.safetensors"

    return write


def test_certify_and_truncate(call, saved, tmp_path):
    """A file is read by its names alone, and its truncated form goes to a file and back."""
    path = saved(lru(-1.0))
    document = call("certify", path, "--input-bound", 1, "--format", "json").json
    assert (document["cell"], document["verdict"]) == ("diagonal", "certified")
    assert document["shape"] == {"n": 8, "d": 2}
    assert document["rounds_to_one"] == {"bfloat16": 0, "float16": 0, "float32": 0, "float64": 0}
    out = tmp_path / "short.safetensors"
    outcome = call("truncate", path, "--eps", 0.01, "--input-bound", 1, "--out", out)
    assert (outcome.code, outcome.err) == (0, "")
    module = rnnbounds.load_truncated(out)
    assert module.k == document["truncation"][0]["k"]
    assert module(torch.zeros(1, 3, 2)).shape == (1, 3, 8)


def test_slow_decays_are_told(call, saved):
    """In float32 a decay near 1 is certified, with a line on coarser dtypes; not in its own."""
    outcome = call("certify", saved(lru(-7.0)), "--input-bound", 1)
    assert outcome.code == 0
    assert "may round to 1, so that a unit never forgets: 4 in bfloat16\n" in outcome.out
    outcome = call("certify", saved(lru(-7.0, torch.bfloat16)), "--input-bound", 1)
    assert outcome.code == 1
    assert "undecided: 4 decays may round to 1 in bfloat16" in outcome.out
    with pytest.raises(AssertionError, match="4 decays may round to 1 in bfloat16"):
        rnnbounds.assert_contractive(lru(-7.0, torch.bfloat16), 1.0)
