"""The layouts of flax and equinox cells, as state dicts with torch's names.

A flax cell is a group of dense layers, kernels (in, out). linen has one for each gate, hi, hf, …,
ii, if, …; nnx has these (with if_) or all gates of a side in one, dense_i and dense_h. An LSTM has
its biases on the side of the state, a GRU on that of the input and one, b_hn, inside of the reset
gate: it is torch's GRU with b_hr = b_hz = 0. equinox has torch's weights, one bias of the input and
a GRU's bias_n, which is b_hn. Sources: flax.linen.recurrent, flax.nnx (0.12), equinox.nn (0.13).
"""

import re
from collections.abc import Mapping

import torch
from torch import Tensor

from rnnbounds.impl.errors import shown
from rnnbounds.impl.reading.recognition.misfit import WeightsError
from rnnbounds.impl.reading.recognition.recognise import check_tensor

_DENSE = re.compile(r"((?:.+\.)?)([ih][ifgorzn]?|dense_[ih])_?\.(kernel|bias)")
_GATES = {"ifgo": {"hi", "hf", "hg", "ho"}, "rzn": {"ir", "iz", "in", "hn"}, "": {"i"}}  # biases
_JOINT = {4: "dense_h", 3: "dense_i", 1: "dense_i"}  # the one with a bias, by the number of gates
_MGU = {"if", "in", "hf", "hn"}
_STATE = "save its weights by torch's names"

Dense = Mapping[str, Tensor]  # kernel and bias of one dense layer


def by_torchs_names(tensors: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], bool]:
    """All tensors, those of cells by torch's names, and whether there was a cell of flax.

    Kernels (d, n) of other layers are transposed to weights (n, d), and embeddings are weights.
    Raises WeightsError for an MGU and for a cell with other tensors than flax has.
    """
    found = {str(name): tensor for name, tensor in tensors.items()}
    if all(name.endswith(".value") for name in found):  # as nnx has them
        found = {name.removesuffix(".value"): tensor for name, tensor in found.items()}
    if len(found) < len(tensors):
        raise WeightsError("the state dict has two keys that read alike; keep one of them")
    groups: dict[str, dict[str, dict[str, Tensor]]] = {}
    places: dict[str, list[str]] = {}
    for name, tensor in found.items():
        if (match := _DENSE.fullmatch(name)) and _is_plain(tensor):
            prefix, dense, leaf = match.groups()
            groups.setdefault(prefix, {}).setdefault(dense, {})[leaf] = tensor
            places.setdefault(prefix, []).append(name)
    cells = {prefix: one for prefix, group in groups.items() if (one := _cell(prefix, group))}
    for prefix, weights in cells.items():
        for name in places[prefix]:
            del found[name]
        found |= {prefix + role: tensor for role, tensor in weights.items()}
    named: dict[str, Tensor] = {}
    for name, tensor in found.items():
        named |= _one(name, tensor, found)
    if len(named) < len(found):
        raise WeightsError("a kernel and a weight have one name; rename one of them")
    return named, bool(cells)


def _cell(prefix: str, group: Mapping[str, Dense]) -> dict[str, Tensor]:
    """The weights of a cell by torch's names without a layer; {} if the group is none."""
    if not any("kernel" in dense for dense in group.values()):
        return {}
    if group.keys() == {"dense_i", "dense_h"}:
        return _joint(prefix, group)
    for gates, biased in _GATES.items():
        sides = [[side + gate for gate in gates or ("",)] for side in "ih"]
        if group.keys() == {name for side in sides for name in side}:
            _check(prefix, group, biased)
            weights = {
                f"weight_{role}": _stacked([group[name]["kernel"] for name in side])
                for role, side in zip(("ih", "hh"), sides, strict=True)
            }
            found = [side for side in sides if not biased.isdisjoint(side)]
            for role, side in zip(("bias_ih", "bias_hh"), found, strict=False):
                weights[role] = torch.cat([_bias(group[name]) for name in side])
            return weights
    if group.keys() == _MGU:
        raise WeightsError(
            f"{shown(prefix[:-1])} is an MGU cell of flax, which is not read; {_STATE}"
        )
    return {}


def _joint(prefix: str, group: Mapping[str, Dense]) -> dict[str, Tensor]:
    """A cell of nnx whose gates are columns of one kernel a side."""
    R = group["dense_h"].get("kernel", torch.empty(0))
    gates, rest = divmod(R.shape[1], R.shape[0]) if R.ndim == 2 and len(R) else (0, 0)
    if rest or gates not in _JOINT:
        what = f"{shown(prefix)}dense_h has a kernel of shape {tuple(R.shape)}"
        raise WeightsError(f"{what}, not (n, g n) with 1, 3 or 4 gates; {_STATE}")
    biased = _JOINT[gates]
    _check(prefix, group, {biased})
    weights = {"weight_ih": _stacked([group["dense_i"]["kernel"]]), "weight_hh": _stacked([R])}
    return weights | {"bias_ih": group[biased]["bias"]}


def _check(prefix: str, group: Mapping[str, Dense], biased: set[str]) -> None:
    """Raise WeightsError unless each has a kernel, those alone a bias, all of one dtype."""
    if len({one.dtype for dense in group.values() for one in dense.values()}) > 1:
        raise WeightsError(f"the weights of {shown(prefix[:-1])} mix dtypes; convert them to one")
    for name, dense in group.items():
        expected = {"kernel", "bias"} if name in biased else {"kernel"}
        fits = dense.keys() == expected and dense["kernel"].ndim == 2
        if not fits or _bias(dense).shape != dense["kernel"].shape[1:]:
            what = f"{shown(prefix + name)} has {', '.join(sorted(dense))} of other number or shape"
            raise WeightsError(f"{what} than in flax' cell; {_STATE}")


def _stacked(kernels: list[Tensor]) -> Tensor:
    """The kernels (d, n) of the gates as rows, (g n, d)."""
    if len({one.shape for one in kernels}) > 1:
        raise WeightsError(f"the gates of a flax cell differ in shape; {_STATE}")
    return torch.cat([one.T for one in kernels]).contiguous()


def _bias(dense: Dense) -> Tensor:
    """The bias of a dense layer, zeros if it has none."""
    return dense.get("bias", dense["kernel"].new_zeros(dense["kernel"].shape[1]))


def _is_plain(tensor: object) -> bool:
    """True for a tensor whose entries may be copied: of real floats, all of them stored."""
    try:
        check_tensor("", tensor)
    except WeightsError:
        return False
    return True


def _one(name: str, tensor: Tensor, all_: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """One tensor by torch's name: a kernel or embedding as a weight, a bias of equinox' cells."""
    prefix, dot, own = name.rpartition(".")
    if own not in ("kernel", "embedding", "bias", "bias_n") or not _is_plain(tensor):
        return {name: tensor}
    if own in ("kernel", "embedding") and tensor.ndim == 2:
        return {f"{prefix}{dot}weight": tensor.T.contiguous() if own == "kernel" else tensor}
    wanted = _equinox(all_.get(f"{prefix}{dot}weight_hh"))
    there = {one for one in ("bias", "bias_n", "bias_ih") if f"{prefix}{dot}{one}" in all_}
    if tensor.ndim != 1 or own not in wanted or there != wanted:
        return {name: tensor}
    if own == "bias":
        return {f"{prefix}{dot}bias_ih": tensor}
    return {f"{prefix}{dot}bias_hh": torch.cat([tensor.new_zeros(2 * len(tensor)), tensor])}


def _equinox(weight: object) -> set[str]:
    """The biases that a cell of equinox has by its weight_hh (g n, n): of an LSTM, of a GRU."""
    if not isinstance(weight, Tensor) or weight.ndim != 2:
        return set()
    sizes = {4: {"bias"}, 3: {"bias", "bias_n"}}
    return next((one for g, one in sizes.items() if len(weight) == g * weight.shape[1]), set())
