"""Cells whose weights were saved by other names than they have here.

Arrays that were saved from torch's modules by hand are often called w_ih, w_hh, b_ih and b_hh, with
a prefix before an underscore (`enc_w_ih`): these are torch's `weight_ih` and so on, of `enc`.
Source: g2p_en's checkpoint.
"""

import re
from collections.abc import Mapping

from torch import Tensor

_SHORT = re.compile(r"(?:(.+)[._])?([wb])_(ih|hh)")
_LONG = {"w": "weight", "b": "bias"}


def joined_names(tensors: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """The tensors, in the same order, by torch's names for short ones, of prefixes that have both
    matrices."""
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
