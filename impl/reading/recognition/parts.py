"""Weights that torch's utilities store in parts, which are known by the names of the parts.

weight_norm keeps w_g and w_v of a weight w, spectral_norm w_orig and w_u, prune w_orig and w_mask,
parametrize what stands below parametrizations.w; a quantised layer packs all its weights. Sources:
torch.nn.utils, torch.ao.nn.quantized.
"""

import re
from collections.abc import Collection, Iterator

from rnnbounds.impl.errors import shown

_PARAMETRISED = re.compile(r"((?:.+\.)?)parametrizations\.([^.]+)\.original\d*")
_PACKED = re.compile(r"((?:.+\.)?)(_packed_params|_all_weight_values)\b.*")
_UTILITIES = (
    ("_g", "_v", "weight_norm", "remove_weight_norm"),
    ("_orig", "_u", "spectral_norm", "remove_spectral_norm"),
    ("_orig", "_mask", "prune", "prune.remove"),
)


def stored_in_parts(names: Collection[str]) -> str | None:
    """The parts that stand for a weight, and the call that makes it whole; None if there are
    none."""
    return next((text for _, text in _parts(names)), None)


def prefixes_of_parts(names: Collection[str]) -> list[str]:
    """The prefixes, with their dots, of modules whose weights are stored in parts."""
    return list(dict.fromkeys(prefix for prefix, _ in _parts(names)))


def _parts(names: Collection[str]) -> Iterator[tuple[str, str]]:
    """The prefix of each weight in parts, and what is to be said of it."""
    for full in names:
        if (found := _PARAMETRISED.fullmatch(full)) and found[1] + found[2] not in names:
            removing = "parametrize.remove_parametrizations"
            yield found[1], _advice(found[1], found[2], shown(full), "parametrize", removing)
        elif found := _PACKED.fullmatch(full):
            what = f"{shown(full)}, weights that are quantised and packed"
            yield found[1], f"{what}; take the model before it was quantised"
        for end, other, utility, removing in _UTILITIES:
            whole = full.removesuffix(end)
            if whole != full and whole + other in names and whole not in names:
                path, dot, weight = whole.rpartition(".")
                both = f"{shown(full)} and {shown(whole + other)}"
                yield path + dot, _advice(path + dot, weight, both, utility, removing)


def _advice(prefix: str, weight: str, parts: str, utility: str, removing: str) -> str:
    owner = f"model.get_submodule({prefix[:-1]!r})" if prefix else "model"
    call = f"torch.nn.utils.{removing}({owner}, {weight!r})"
    return f"{parts}, to which {utility} takes {weight} apart; call {call} first"
