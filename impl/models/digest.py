"""SHA-256 of weights, which ties a certificate to a model."""

import hashlib
from collections.abc import Mapping

import torch
from torch import Tensor


def digest(name: str, weights: Mapping[str, Tensor]) -> str:
    """SHA-256 over a cell's name and, in a fixed order, its weights' roles, dtypes and bytes."""
    sha = hashlib.sha256(name.encode())
    for role in sorted(weights):
        part = weights[role].detach().cpu().contiguous()
        sha.update(f"|{role}|{part.dtype}|{tuple(part.shape)}|".encode())
        sha.update(part.flatten().view(torch.uint8).numpy().tobytes())
    return sha.hexdigest()
