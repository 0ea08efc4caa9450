"""Checks of a readout against a module: which layers are linear, and what a Sequential computes.

The forward of a module is not run, so that only this much is known: a readout that goes through a
`torch.nn.Sequential` goes through it from its start, or from the last part that is none of torch's
own, and leaves nothing out.
"""

from collections.abc import Iterator
from itertools import takewhile
from typing import Any

import torch

from rnnbounds.impl.errors import shown
from rnnbounds.impl.models.readout import COLUMNS, Readout
from rnnbounds.impl.numbers.ball_functions import LEAK
from rnnbounds.impl.reading.pytorch.computed import has_unknown_hooks
from rnnbounds.impl.reading.pytorch.modules import RECURRENT
from rnnbounds.impl.reading.readout import ReadoutError

_STILL = (torch.nn.Identity, torch.nn.Dropout, torch.nn.AlphaDropout, torch.nn.Flatten)
_PLAIN: dict[type[torch.nn.Module], str] = {
    torch.nn.ReLU: "relu", torch.nn.Tanh: "tanh", torch.nn.Sigmoid: "sigmoid",
    torch.nn.SiLU: "silu",
}  # fmt: skip
_END = ".weight"


def require_readout(module: torch.nn.Module, readout: Readout) -> None:
    """Raise ReadoutError if the module says that it computes something else than the readout."""
    sequentials: dict[str, None] = {}
    for layer in readout.linear.values():
        owner = layer.stored.rpartition(".")[0]
        part: Any = module.get_submodule(owner)
        if isinstance(part, RECURRENT):
            what = f"{shown(layer.name)} is a weight of a {type(part).__name__}, no linear layer"
            raise ReadoutError(f"{what}; name the linear layer after the cell")
        if isinstance(part, torch.nn.Linear):
            _require_plain(part, owner)
        paths = (owner[:i] for i in range(len(owner)) if not i or owner[i] == ".")
        known = [p for p in paths if _is_sequential(module.get_submodule(p))]
        sequentials |= dict.fromkeys(known)
    for path in sequentials:
        _require_all(path, [*_stages(module.get_submodule(path), path)], readout)


def _require_plain(part: torch.nn.Linear, owner: str) -> None:
    own = type(part).forward is torch.nn.Linear.forward and "forward" not in vars(part)
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
            own = type(part).__module__.startswith("torch.nn.") and not recurrent
            yield _activation(part) if own else ""


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
