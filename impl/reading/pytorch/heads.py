"""Checks of a readout against a module: which layers are linear, which normalise and how, and what
a Sequential computes.

The forward of a module is not run, so that only this much is known: a readout that goes through a
`torch.nn.Sequential` goes through it from its start, or from the last part that is none of torch's
own, and leaves nothing out.
"""

from collections.abc import Iterator
from itertools import takewhile
from typing import Any

import torch

from rnnbounds.impl.errors import shown
from rnnbounds.impl.models.normalisation import LAYER, RMS, Normalisation, stage_name
from rnnbounds.impl.models.readout import COLUMNS, Linear, Readout
from rnnbounds.impl.numbers.ball_functions import LEAK
from rnnbounds.impl.reading.pytorch.computed import has_unknown_hooks
from rnnbounds.impl.reading.pytorch.modules import RECURRENT
from rnnbounds.impl.reading.readout import ReadoutError

_STILL = (torch.nn.Identity, torch.nn.Dropout, torch.nn.AlphaDropout, torch.nn.Flatten)
_KNOWN = (torch.nn.Linear, torch.nn.LayerNorm, torch.nn.RMSNorm)
_PLAIN: dict[type[torch.nn.Module], str] = {
    torch.nn.ReLU: "relu", torch.nn.Tanh: "tanh", torch.nn.Sigmoid: "sigmoid",
    torch.nn.SiLU: "silu",
}  # fmt: skip
_END = ".weight"


def require_readout(module: torch.nn.Module, readout: Readout) -> None:
    """Raise ReadoutError if the module says that it computes something else than the readout."""
    sequentials: dict[str, None] = {}
    for stage in readout.stages:
        if isinstance(stage, Linear):
            owner = stage.stored.rpartition(".")[0]
        elif isinstance(stage, Normalisation) and stage.owner:
            owner = stage.owner
        else:
            continue
        part: Any = module.get_submodule(owner)
        if isinstance(part, RECURRENT):
            what = f"{shown(stage.name)} is a weight of a {type(part).__name__}, no linear layer"
            raise ReadoutError(f"{what}; name the linear layer after the cell")
        if isinstance(part, _KNOWN):
            _require_plain(part, owner)
        computed = _normalisation(part, owner) or type(part).__name__
        if isinstance(stage, Normalisation) and _is_torch(part) and stage.name != computed:
            what = f"{shown(owner)} computes {shown(computed)}, not {shown(stage.name)}"
            raise ReadoutError(f"{what}; name the normalisation that it is")
        paths = (owner[:i] for i in range(len(owner)) if not i or owner[i] == ".")
        known = [p for p in paths if _is_sequential(module.get_submodule(p))]
        sequentials |= dict.fromkeys(known)
    for path in sequentials:
        _require_all(path, [*_stages(module.get_submodule(path), path)], readout)


def _require_plain(part: torch.nn.Module, owner: str) -> None:
    known = (one.forward for one in _KNOWN if isinstance(part, one))
    own = type(part).forward in known and "forward" not in vars(part)
    hooked = has_unknown_hooks(part)
    if hooked or not own:
        what = f"{shown(owner)} has {'hooks' if hooked else 'a forward of its own'}"
        raise ReadoutError(f"{what}, so that what it computes is not known; pass the state dict")


def _require_all(path: str, computed: list[str], readout: Readout) -> None:
    """Compare the readout with the stages of a Sequential: "" is one of which nothing is known."""
    names = [COLUMNS.sub("", name) for name in readout.names if name != "identity"]
    own = [i for i, name in enumerate(names) if name in computed and name.endswith(_END)]
    if not own:  # its layers are parts of a part of which nothing is known
        return
    first = own[0]
    at = computed.index(names[first])
    before = [*takewhile(bool, reversed(computed[:at]))][::-1]
    after = [*takewhile(bool, computed[at:])]
    meant = before + after
    begins = first - len(before)
    told = names[max(begins, 0) :][: len(meant)]
    if begins < 0 or told != meant[: len(told)]:
        listed = ",".join(name.removesuffix(_END) for name in meant)
        what = f"readout {shown(','.join(names))} is not what {shown(path or 'the Sequential')}"
        raise ReadoutError(f"{what} computes: name {shown(listed)}, or its first stages")


def _stages(sequential: torch.nn.Module, path: str) -> Iterator[str]:
    """The stages of a Sequential by their names in a readout; that of a part of torch's which no
    readout has is its class."""
    for name, part in sequential._modules.items():  # one part may stand there twice
        full = f"{path}.{name}" if path else name
        if part is not None and _is_sequential(part):
            yield from _stages(part, full)
        elif isinstance(part, torch.nn.Linear):
            yield full + _END
        elif part is not None and not isinstance(part, _STILL):
            recurrent = any(isinstance(one, RECURRENT) for one in part.modules())
            own = _is_torch(part) and not recurrent
            yield (_normalisation(part, full) or _activation(part)) if own else ""


def _is_torch(part: torch.nn.Module) -> bool:
    return type(part).__module__.startswith("torch.nn.")


def _normalisation(part: Any, owner: str) -> str | None:
    """The stage that a normalisation of torch's over vectors is, None for another part."""
    if not isinstance(part, _KNOWN[1:]) or len(part.normalized_shape) != 1:
        return None
    kind = LAYER if isinstance(part, torch.nn.LayerNorm) else RMS
    weight: Any = part.weight  # None without elementwise_affine
    dtype = torch.float32 if weight is None else weight.dtype
    eps = torch.finfo(dtype).eps if part.eps is None else part.eps  # as RMSNorm has it
    return stage_name(kind, eps, "" if weight is None else owner)


def _is_sequential(part: torch.nn.Module) -> bool:
    """True for a Sequential that runs its parts in turn."""
    own = type(part).forward is torch.nn.Sequential.forward
    return isinstance(part, torch.nn.Sequential) and own


def _activation(part: Any) -> str:
    """The activation of readouts that a part computes, or its class."""
    plain = _PLAIN.get(type(part))
    if isinstance(part, torch.nn.GELU) and part.approximate == "none":
        plain = "gelu"
    if isinstance(part, torch.nn.ELU) and part.alpha == 1:
        plain = "elu"
    if isinstance(part, torch.nn.LeakyReLU) and part.negative_slope == LEAK:
        plain = "leaky-relu"
    return plain or type(part).__name__
