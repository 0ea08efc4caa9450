"""Devices: a name that is not there is one line with the remedy."""

import pytest
import torch

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.models.device import check_device


def test_devices_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processor always is; without a card the remedy is the processor; with one card, cuda and
    cuda:0 are it, and nothing else is."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert check_device("cpu") == "cpu"
    with pytest.raises(InputError, match="choose --device cpu"):
        check_device("cuda")
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    assert [check_device(name) for name in ("cuda", "cuda:0")] == ["cuda", "cuda:0"]
    for name in ("cuda:1", "cuda:", "cudanymous", "cuda:-1"):
        with pytest.raises(InputError, match="choose among cuda, cuda:0"):
            check_device(name)


def test_no_reduced_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    """A card computes products of float32 in float32, whatever was allowed before."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    monkeypatch.setattr("torch.backends.cudnn.allow_tf32", True)
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        check_device("cuda")
        assert torch.get_float32_matmul_precision() == "highest"
        assert not torch.backends.cudnn.allow_tf32
    finally:
        torch.set_float32_matmul_precision(before)
