"""The mLSTM of xLSTM, as transformers (xLSTM 7B) and its authors save it.

Every entry of a head's matrix memory and of its normaliser forgets alike,

    C⁺ = f C + e^i v kᵀ,    n⁺ = f n + e^i k,    f = σ(c tanh(f̃/c)),    f̃ = W x + b,

before the stabilisation, which divides both by one number: the cell `gated-scan` has one unit a
head, driven by its entry. The soft cap c is in `config.json` alone; the authors' first cell has
none. An sLSTM is refused: its gates see its own output. Sources: Beck et al., xLSTM (2024); Beck et
al., xLSTM 7B (2025).
"""

from collections.abc import Mapping
from functools import partial

import torch
from torch import Tensor

from rnnbounds.impl.cells.layout import Layout
from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.reading.sequence.family import Family, Recurrence, Settings, driven, widened

_CAP, _MOST = "gate_soft_cap", 2.0**64


def _read(
    gate: str, of: str, tensors: Mapping[str, Tensor], channels: slice, settings: Settings
) -> Recurrence:
    W, b = tensors[f"{gate}.weight"], tensors[f"{gate}.bias"]
    if gate.startswith("if"):  # both gates, the input gate's rows first
        W, b = W[len(W) // 2 :], b[len(b) // 2 :]
    W, b = W[channels], b[channels]
    forget, drive = driven(W)
    weights = {"weight_f": forget, "weight_v": drive, "bias_f": b}
    if gate.endswith("preact") and (cap := _cap(settings)) is not None:
        exact = torch.full((len(b),), cap, dtype=torch.float64, device=b.device)
        short = exact.to(b.dtype)
        weights["cap"] = short if torch.equal(short.double(), exact) else exact
    return Recurrence("gated-scan", widened(weights), f"{of} and an entry of e^i v kᵀ a head")


def _cap(settings: Settings) -> float | None:
    """The soft cap; None if there is none. Raises InputError unless it is stated."""
    if _CAP not in settings:
        what = f"the soft cap of an mLSTM's gates is in config.json alone ({_CAP})"
        raise InputError(f"{what}; name the model's file, with its config.json beside it")
    cap = settings[_CAP]
    if cap is None:
        return None
    if isinstance(cap, bool) or not isinstance(cap, int | float) or not 1 / _MOST <= cap <= _MOST:
        what = f"{_CAP} = {shown(cap)} in config.json is no number from 2**-64 to 2**64"
        raise InputError(f"{what}; correct it")
    return float(cap)


def _size(sizes: Mapping[str, int], count: int) -> tuple[int, int]:
    return count, sizes["m"] + count


def _family(gate: str, of: str, layout: Layout, channels: str = "h") -> Family:
    used = (f"{gate}.weight", f"{gate}.bias")
    return Family("mLSTM", layout, used, ("xlstm",), channels, _size, partial(_read, gate, of))


_NORMED = "the layer's inputs after its norm"
_BIASES = {"q.bias": "k", "k.bias": "k", "v.bias": "v", "ogate_preact.bias": "v"}
FAMILIES = (
    _family(
        "fgate_preact",
        _NORMED,
        Layout(
            {
                "fgate_preact.weight": "h m", "fgate_preact.bias": "h",
                "igate_preact.weight": "h m", "igate_preact.bias": "h", "q.weight": "k m",
                "k.weight": "k m", "v.weight": "v m", "ogate_preact.weight": "v m",
                "multihead_norm.weight": "v", "out_proj.weight": "m v", **_BIASES,
                "multihead_norm.bias": "v", "out_proj.bias": "m",
            },
            (*_BIASES, "multihead_norm.bias", "out_proj.bias"),
        ),
    ),
    _family(
        "ifgate_preact",
        _NORMED,
        Layout(
            {
                "ifgate_preact.weight": "2h m", "ifgate_preact.bias": "2h",
                "qkv_opreact.weight": "a m", "multihead_norm.weight": "v",
                "out_proj.weight": "m v", "qkv_opreact.bias": "a", "multihead_norm.bias": "v",
                "out_proj.bias": "m",
            },
            ("qkv_opreact.bias", "multihead_norm.bias", "out_proj.bias"),
        ),
    ),
    _family(
        "fgate",
        "q, k and v",
        Layout(
            {
                "fgate.weight": "h m", "fgate.bias": "h", "igate.weight": "h m",
                "igate.bias": "h", "outnorm.weight": "o", "outnorm.bias": "o",
            },
            ("outnorm.bias",),
        ),
    ),
)  # fmt: skip
SLSTM = "_recurrent_kernel_"
