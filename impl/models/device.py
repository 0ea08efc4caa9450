"""Device on which the engine runs."""

from __future__ import annotations

import torch

from rnnbounds.impl.errors import InputError


def check_device(name: str) -> str:
    """The device's name; products of float32 are computed in full there, not in TF32.

    Raises:
        InputError: it is neither cpu nor a CUDA device that is there.
    """
    if name == "cpu":
        return name
    if not str(name).startswith("cuda"):
        raise InputError(f"unknown device {name!r}; choose cpu or cuda")
    if not torch.cuda.is_available():
        raise InputError("no CUDA device is available; choose --device cpu")
    there = ("cuda", *(f"cuda:{i}" for i in range(torch.cuda.device_count())))
    if name not in there:
        raise InputError(f"unknown device {name!r}; choose among {', '.join(there)}")
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    return name
