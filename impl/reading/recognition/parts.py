"""Weights that torch's utilities store in parts, which are known by the names of the parts.

weight_norm keeps w_g and w_v of a weight w, spectral_norm w_orig, w_u and w_v, prune w_orig and
w_mask, parametrize what stands below parametrizations.w; a quantised layer packs all its weights.
Sources: torch.nn.utils, torch.ao.nn.quantized.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from rnnbounds.impl.errors import shown

_PARAMETRISED = re.compile(r"((?:.+\.)?)parametrizations\.([^.]+)\.(original\d*)")
_PACKED = re.compile(r"((?:.+\.)?)(_packed_params|_all_weight_values)\b.*")
_HOOKS = (  # endings of the parts, and the call that makes them one weight
    ("weight_norm", ("_g", "_v"), "remove_weight_norm"),
    ("spectral_norm", ("_orig", "_u", "_v"), "remove_spectral_norm"),
    ("prune", ("_orig", "_mask"), "prune.remove"),
)
_BELOW = {  # what stands below parametrizations.w
    ("original0", "original1"): "weight_norm",
    ("0._u", "0._v", "original"): "spectral_norm",
}


@dataclass(frozen=True)
class Parts:
    """The parts of one weight: `names` of the parts, the prefix and the name of the weight, and
    the utility, "parametrize" for an unknown one.

    advice: the line that says so, and how to make the weight whole.
    """

    prefix: str
    weight: str
    names: tuple[str, ...]
    utility: str
    advice: str


def weights_in_parts(names: Collection[str]) -> Iterator[Parts]:
    """All weights that are stored in parts, by the names of all tensors."""
    known = set(names)
    below: dict[str, list[str]] = {}
    for full in known:
        head, word, own = full.partition("parametrizations.")
        if word and (not head or head.endswith(".")):
            below.setdefault(head + word + own.partition(".")[0] + ".", []).append(full)
    for full in names:
        if (found := _PARAMETRISED.fullmatch(full)) and found[1] + found[2] not in known:
            if found[3] in ("original", "original0"):
                start = full.removesuffix(found[3])
                yield _parametrised(found[1], found[2], full, sorted(below[start]), len(start))
        elif found := _PACKED.fullmatch(full):
            what = f"{shown(full)}, weights that are quantised and packed"
            advice = f"{what}; pass the module, or the model before it was quantised"
            yield Parts(found[1], "", (full,), "quantize_dynamic", advice)
        for utility, ends, removing in _HOOKS:
            whole = full.removesuffix(ends[0])
            parts = tuple(whole + end for end in ends)
            if whole != full and whole not in known and known.issuperset(parts):
                path, dot, weight = whole.rpartition(".")
                both = f"{shown(full)} and {shown(parts[1])}"
                advice = _advice(path + dot, weight, both, utility, removing)
                yield Parts(path + dot, weight, parts, utility, advice)


def _parametrised(prefix: str, weight: str, first: str, names: list[str], start: int) -> Parts:
    utility = _BELOW.get(tuple(name[start:] for name in names), "parametrize")
    if utility == "spectral_norm":
        names = [names[2], *names[:2]]
    removing = "parametrize.remove_parametrizations"
    advice = _advice(prefix, weight, shown(first), "parametrize", removing)
    return Parts(prefix, weight, tuple(names), utility, advice)


def stored_in_parts(names: Collection[str]) -> str | None:
    """The parts that stand for a weight, and the call that makes it whole; None if there are
    none."""
    return next((parts.advice for parts in weights_in_parts(names)), None)


def prefixes_of_parts(names: Collection[str]) -> list[str]:
    """The prefixes, with their dots, of modules whose weights are stored in parts."""
    return list(dict.fromkeys(parts.prefix for parts in weights_in_parts(names)))


def _advice(prefix: str, weight: str, parts: str, utility: str, removing: str) -> str:
    owner = f"model.get_submodule({prefix[:-1]!r})" if prefix else "model"
    call = f"torch.nn.utils.{removing}({owner}, {weight!r})"
    return f"{parts}, to which {utility} takes {weight} apart; call {call} first"
