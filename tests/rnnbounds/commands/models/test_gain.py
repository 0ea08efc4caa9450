"""``rnnbounds certify`` prints the gain, and has it among the constants of the record."""

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file


def test_gain(call: Any, tmp_path: Path) -> None:
    """h = h/2 + 3 x: G = 6, rounded up in the line."""
    path = tmp_path / "scalar.safetensors"
    weights = {"weight_hh_l0": torch.tensor([[0.5]]), "weight_ih_l0": torch.tensor([[3.0]])}
    save_file(weights, str(path))
    outcome = call("certify", path, "--cell", "linear", "--input-bound", 1, "--norm", "spectral")
    assert "under inputs at most δ apart, outputs are at most 6 δ apart" in outcome.out
    record = call(
        "certify", path, "--cell", "linear", "--input-bound", 1, "--norm", "spectral",
        "--format", "json",
    ).json  # fmt: skip
    assert record["constants"]["gain"] == 6.0


def test_no_gain(call: Any, tmp_path: Path) -> None:
    """Nothing is printed of what is not certified."""
    path = tmp_path / "wide.safetensors"
    weights = {"weight_hh_l0": torch.tensor([[1.5]]), "weight_ih_l0": torch.tensor([[3.0]])}
    save_file(weights, str(path))
    outcome = call("certify", path, "--cell", "linear", "--input-bound", 1)
    assert outcome.code == 1
    assert "δ" not in outcome.out
