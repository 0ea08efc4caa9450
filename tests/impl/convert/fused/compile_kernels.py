"""Compiles kernels for an H100 or H200 without one, and prints what each takes of it, as JSON.

Run by `test_fused_compiled.py` in a process of its own, in which Triton does not interpret.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from rnnbounds.impl.convert.fused.kernels import advance, run_chunks
from rnnbounds.impl.convert.fused.launch import _OPTIONS
from rnnbounds.impl.convert.fused.sizes import GATES, ROWS, warps

TOOL = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
POINTERS = ("drives", "W", "b", "out", "product", "h", "c")
DTYPES = {"fp32": tl.float32, "fp16": tl.float16}


def compiled(kernel: Any, cell: str, P: int, name: str) -> dict[str, int]:
    """Bytes of shared memory of a program, and of the stack of a thread, where spills go."""
    constants = {
        "CELL": cell, "P": P, "ROWS": ROWS, "NARROW": DTYPES[name], "GATES": GATES[cell],
    }  # fmt: skip
    constants = {key: v for key, v in constants.items() if key in kernel.arg_names}
    types = {key: "constexpr" if key in constants else "i32" for key in kernel.arg_names}
    types |= {key: f"*{name}" for key in POINTERS if key in types}
    if "c" in types:
        types["c"] = "*fp32"
    at = {(kernel.arg_names.index(key),): v for key, v in constants.items()}
    count = warps(GATES[cell] * P**2) if kernel is run_chunks else 4
    found = triton.compile(
        ASTSource(kernel, types, at), target=GPUTarget("cuda", 90, 32),
        options={"num_warps": count, **_OPTIONS},
    )  # fmt: skip
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(found.asm["cubin"])
        file.flush()
        usage = subprocess.check_output([TOOL, "--dump-resource-usage", file.name], text=True)
    return {"shared": found.metadata.shared, "stack": int(re.findall(r"STACK:(\d+)", usage)[-1])}


if __name__ == "__main__":
    kernels = {"run_chunks": run_chunks, "advance": advance}
    tasks = json.loads(sys.argv[1])
    print(json.dumps([compiled(kernels[task[0]], *task[1:]) for task in tasks]))
