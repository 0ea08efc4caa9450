"""Kernels run on the card where there is one, else in Triton's interpreter, on the CPU."""

from collections.abc import Iterator

import pytest
import torch

pytest.importorskip("triton")


@pytest.fixture(scope="package", autouse=True)
def device() -> Iterator[str]:
    """The name of the device."""
    with pytest.MonkeyPatch.context() as patch:
        if not torch.cuda.is_available():
            patch.setenv("TRITON_INTERPRET", "1")
        yield "cuda" if torch.cuda.is_available() else "cpu"
