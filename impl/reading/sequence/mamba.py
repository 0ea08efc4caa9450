"""Mamba, FalconMamba and Mamba-2, as transformers and mamba_ssm save them.

With u the inputs after the convolution and SiLU, unit (i, j) of Mamba is

    h⁺ = exp(−Δ_i exp(A_log_ij)) h + Δ_i u_i B_j,    Δ = softplus(dt_proj δ + bias),

which is the cell `selective` with inputs x = (δ, vec(u⊗B)). Mamba-2 has one Δ and one A_log a
head, and each state of a head is the same unit, driven by its own entry of u⊗B: the cell has one
unit a head, with inputs (dt, v). FalconMamba's δ passes an RMSNorm first, of which the weights say
nothing: the cell is Mamba's, and ‖δ‖₂ ≤ √R. Sources: Gu & Dao, Mamba (2023); Dao & Gu, Mamba-2
(2024); Zuo et al., Falcon Mamba (2024).
"""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from rnnbounds.impl.cells.layout import Layout
from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.reading.sequence.family import Family, Recurrence, Settings, driven, widened

_FALCON = "falcon_mamba"
_UNLIMITED = (0.0, math.inf)


def _mamba(tensors: Mapping[str, Tensor], channels: slice, settings: Settings) -> Recurrence:
    A_log, W = tensors["A_log"][channels], tensors["dt_proj.weight"][channels]
    states = A_log.shape[1]
    gate, drive = driven(W.repeat_interleave(states, dim=0))
    weights = {
        "weight_delta": gate, "weight_B": drive, "A_log": A_log.flatten(),
        "bias_delta": tensors["dt_proj.bias"][channels].repeat_interleave(states),
    }  # fmt: skip
    bound = f" (‖δ‖₂ ≤ √{W.shape[1]})" if settings.get("model_type") == _FALCON else ""
    return Recurrence("selective", widened(weights), f"δ{bound} and u⊗B")


def _mamba_2(tensors: Mapping[str, Tensor], channels: slice, settings: Settings) -> Recurrence:
    _refuse_limits(settings)
    bias = tensors["dt_bias"][channels]
    gate, drive = driven(torch.eye(len(bias), dtype=bias.dtype, device=bias.device))
    weights = {
        "weight_delta": gate, "weight_B": drive, "A_log": tensors["A_log"][channels],
        "bias_delta": bias,
    }  # fmt: skip
    return Recurrence("selective", widened(weights), "dt and an entry of u⊗B a head")


def _refuse_limits(settings: Settings) -> None:
    """Raise InputError if Δ is clipped, by transformers' `time_step_limit` or by mamba_ssm's
    `dt_limit`; without either it is not."""
    layer = settings.get("ssm_cfg")
    stated = settings.get("time_step_limit") or (
        layer.get("dt_limit") if isinstance(layer, Mapping) else None
    )
    if stated is not None and _numbers(stated) != _UNLIMITED:
        what = f"config.json limits Δ to {shown(stated)}, which no cell here does"
        raise InputError(f"{what}; take a model with the limits 0 and infinity")


def _numbers(stated: object) -> tuple[object, ...]:
    """The limits; transformers writes infinity as {"__float__": "Infinity"}."""
    ends = stated if isinstance(stated, list | tuple) else (stated,)
    return tuple(math.inf if end == {"__float__": "Infinity"} else end for end in ends)


MAMBA = Family(
    "Mamba",
    Layout(
        {
            "A_log": "i s", "dt_proj.weight": "i r", "dt_proj.bias": "i", "D": "i",
            "x_proj.weight": "r+2s i", "in_proj.weight": "2i m", "in_proj.bias": "2i",
            "conv1d.weight": "i 1 w", "conv1d.bias": "i", "out_proj.weight": "m i",
            "out_proj.bias": "m", "dt_layernorm.weight": "r", "b_layernorm.weight": "s",
            "c_layernorm.weight": "s",
        },
        (
            "conv1d.bias", "in_proj.bias", "out_proj.bias", "dt_layernorm.weight",
            "b_layernorm.weight", "c_layernorm.weight",
        ),
    ),
    ("A_log", "dt_proj.weight", "dt_proj.bias"),
    ("mamba", _FALCON, "jamba"),
    "i",
    lambda sizes, count: (count * sizes["s"], sizes["r"] + count * sizes["s"]),
    _mamba,
)  # fmt: skip
MAMBA_2 = Family(
    "Mamba-2",
    Layout(
        {
            "A_log": "h", "dt_bias": "h", "D": "h", "out_proj.weight": "m i",
            "out_proj.bias": "m", "conv1d.weight": "c 1 w", "conv1d.bias": "c",
            "in_proj.weight": "i+c+h m", "in_proj.bias": "i+c+h", "norm.weight": "i",
        },
        ("conv1d.bias", "in_proj.bias", "out_proj.bias", "norm.weight"),
    ),
    ("A_log", "dt_bias"),
    ("mamba2",),
    "h",
    lambda sizes, count: (count, 2 * count),
    _mamba_2,
)  # fmt: skip
FAMILIES = (MAMBA, MAMBA_2)
