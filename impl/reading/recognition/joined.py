"""Cells whose weights libraries keep in parts of their own, under the names that they have here.

A layer of speechbrain's LiGRU is `PREFIX.w.weight`, `PREFIX.u.weight` and the batch normalisation
`PREFIX.norm.*`; here these are `PREFIX.w_weight` and so on. Beside them stand the count of batches
and masks of dropout in training, which no evaluation computes with, a mask of ones and a start of
zeros: all are left out, but a mask or a start with other numbers, so that it is refused by name.
Source: speechbrain.nnet.RNN.

Arrays that were saved from torch's modules by hand are often called w_ih, w_hh, b_ih and b_hh, with
a prefix before an underscore (`enc_w_ih`): these are torch's `weight_ih` and so on, of `enc`.
Source: g2p_en's checkpoint.
"""

import re
from collections.abc import Mapping

import torch
from torch import Tensor

_PARTS = (
    "u.weight", "w.weight", "norm.weight", "norm.bias", "norm.running_mean", "norm.running_var",
)  # fmt: skip
_IDLE = ("norm.num_batches_tracked", "drop_masks")
_NEUTRAL = {"drop_mask_te": 1.0, "h_init": 0.0}
_SHORT = re.compile(r"(?:(.+)[._])?([wb])_(ih|hh)")
_LONG = {"w": "weight", "b": "bias"}


def joined_names(tensors: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """The tensors, in the same order, under the names that cells have here; as they are where no
    prefix has every part of such a cell."""
    return _light_gru_names(_long_names(tensors))


def _long_names(tensors: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """Torch's names for short ones, of prefixes that have both matrices."""
    found = {name: short for name in tensors if (short := _SHORT.fullmatch(str(name)))}
    parts = {(short[1], short[2] + short[3]) for short in found.values()}
    new = {
        name: f"{short[1] or ''}.{_LONG[short[2]]}_{short[3]}".removeprefix(".")
        for name, short in found.items()
        if {(short[1], "wih"), (short[1], "whh")} <= parts
    }
    if not new or len({*new.values(), *tensors}) < len(new) + len(tensors):
        return tensors
    return {new.get(name, name): part for name, part in tensors.items()}


def _light_gru_names(tensors: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """The names of `li-gru` for speechbrain's."""
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
