"""Kernels compile for a card that need not be there, and take of it what plans assume."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from rnnbounds.impl.convert.fused.plan import Card, Size, is_resident

DTYPES = {"fp32": torch.float32, "fp64": torch.float64, "bf16": torch.bfloat16}
TASKS = [
    ("run_chunks", "rnn-tanh", 128, "ieee", "fp32"),
    ("run_chunks", "rnn-relu", 128, "tf32x3", "fp32"),
    ("run_chunks", "lstm", 64, "ieee", "fp32"),
    ("run_chunks", "lstm", 64, "tf32x3", "fp32"),
    ("run_chunks", "gru", 64, "ieee", "fp32"),
    ("run_chunks", "gru-cho", 64, "ieee", "fp32"),
    ("run_chunks", "gru", 16, "ieee", "bf16"),
    ("run_chunks", "lstm", 32, "ieee", "fp64"),
    ("advance", "linear", 64, "ieee", "fp32"),
    ("advance", "lstm", 64, "ieee", "bf16"),
    ("advance", "gru", 64, "ieee", "fp64"),
]  # fmt: skip


@pytest.mark.slow
def test_nothing_spills(tmp_path: Path) -> None:
    """No register is kept in memory; shared memory is within what a plan takes for it."""
    script = Path(__file__).with_name("compile_kernels.py")
    environment = os.environ | {"TRITON_INTERPRET": "0", "TRITON_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-W", "ignore", str(script), json.dumps(TASKS)]
    output = subprocess.check_output(command, text=True, env=environment)
    for task, found in zip(TASKS, json.loads(output.splitlines()[0]), strict=True):
        kernel, cell, P, products, name = task
        assert found["stack"] == 0, task
        if kernel == "run_chunks":
            size = Size(cell, P, 1, 9, 3, DTYPES[name])
            assert is_resident(size, Card(1, 232448), products), task
            assert not is_resident(size, Card(1, found["shared"] - 1), products), task
