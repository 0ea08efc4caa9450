"""Kernels compile for a card that need not be there, and fit every card that is served."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SHARED = 99 * 1024  # bytes that a program may take on any card of capability 8.0 or more
TASKS = [
    ("run_chunks", "rnn-tanh", 128, "fp32"),
    ("run_chunks", "gru", 64, "fp32"),
    ("run_chunks", "lstm", 64, "fp16"),
    ("advance", "gru", 64, "fp32"),
]


@pytest.mark.slow
def test_nothing_spills(tmp_path: Path) -> None:
    """No register is kept in memory, and shared memory is there."""
    script = Path(__file__).with_name("compile_kernels.py")
    environment = os.environ | {"TRITON_INTERPRET": "0", "TRITON_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-W", "ignore", str(script), json.dumps(TASKS)]
    output = subprocess.check_output(command, text=True, env=environment)
    for task, found in zip(TASKS, json.loads(output.splitlines()[0]), strict=True):
        assert found["stack"] == 0, task
        assert found["shared"] <= SHARED, task
