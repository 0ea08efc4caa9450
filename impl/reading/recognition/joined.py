"""Cells whose weights libraries keep in parts of their own, under the names that they have here.

A layer of speechbrain's LiGRU is `PREFIX.w.weight`, `PREFIX.u.weight` and the batch normalisation
`PREFIX.norm.*`; here these are `PREFIX.w_weight` and so on. Beside them stand the count of batches
and masks of dropout in training, which no evaluation computes with, a mask of ones and a start of
zeros: all are left out, but a mask or a start with other numbers, so that it is refused by name.
Source: speechbrain.nnet.RNN.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

_PARTS = (
    "u.weight", "w.weight", "norm.weight", "norm.bias", "norm.running_mean", "norm.running_var",
)  # fmt: skip
_IDLE = ("norm.num_batches_tracked", "drop_masks")
_NEUTRAL = {"drop_mask_te": 1.0, "h_init": 0.0}


def joined_names(tensors: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """The tensors, in the same order, those of light GRUs by the names of `li-gru`; all as they
    are where no prefix has every part of one."""
    anchor = _PARTS[-1]
    ends = (str(name).removesuffix(anchor) for name in tensors if str(name).endswith(anchor))
    whole = [end for end in ends if all(end + part in tensors for part in _PARTS)]
    if not whole:
        return tensors
    new = {end + part: end + part.replace(".", "_") for end in whole for part in _PARTS}
    idle = {end + name for end in whole for name in _IDLE}
    neutral = {end + name: value for end in whole for name, value in _NEUTRAL.items()}
    return {
        new.get(name, name): part
        for name, part in tensors.items()
        if name not in idle and not (name in neutral and _all_equal(part, neutral[name]))
    }


def _all_equal(part: object, value: float) -> bool:
    return isinstance(part, Tensor) and bool(torch.all(part == value))
