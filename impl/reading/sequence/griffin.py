"""The RG-LRU of Griffin, as transformers (RecurrentGemma) and its authors save it.

Its gates are block-diagonal and multiply from the right, x W: the cell `rg-lru` has them
transposed, with the zeros between the blocks. The inputs are those of the unit, after the
convolution.
Source: De et al., Griffin (2024), section 2.4.
"""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from rnnbounds.impl.cells.layout import Layout
from rnnbounds.impl.reading.sequence.family import Family, Recurrence, Settings, widened


class _Names(NamedTuple):
    """The names of the parameter and of the weights and biases of both gates."""

    param: str
    weight_a: str
    bias_a: str
    weight_i: str
    bias_i: str


def _read(
    names: _Names, tensors: Mapping[str, Tensor], channels: slice, settings: Settings
) -> Recurrence:
    param = tensors[names.param]
    eye = torch.eye(len(param), dtype=param.dtype, device=param.device)
    weights = {"recurrent_param": param[channels], "weight_x": eye[channels]}
    for gate, weight, bias in (
        ("a", names.weight_a, names.bias_a), ("i", names.weight_i, names.bias_i)
    ):  # fmt: skip
        blocks = torch.block_diag(*tensors[weight].mT)  # type: ignore[no-untyped-call]
        weights[f"weight_{gate}"] = blocks[channels]
        weights[f"bias_{gate}"] = tensors[bias].flatten()[channels]
    return Recurrence("rg-lru", widened(weights), "u after the convolution")


def _family(name: str, names: _Names, *models: str) -> Family:
    """RG-LRU whose tensors have these names."""
    shapes = dict(zip(names, ("n", "b w w", "b w", "b w w", "b w"), strict=True))
    size = lambda sizes, count: (count, sizes["n"])  # noqa: E731
    return Family(name, Layout(shapes), names, models, "n", size, partial(_read, names))


FAMILIES = (
    _family(
        "RG-LRU",
        _Names(
            "recurrent_param", "recurrent_gate_weight", "recurrent_gate_bias", "input_gate_weight",
            "input_gate_bias",
        ),
        "recurrent_gemma",
    ),
    _family("RG-LRU", _Names("a_param", "a_gate.w", "a_gate.b", "input_gate.w", "input_gate.b")),
)  # fmt: skip
