"""Checks of a readout against a module: that it is a linear layer, and what a Sequential computes.

The forward of a module is not run, so that only this much is known: a readout in a
`torch.nn.Sequential` is its first layer, or the first after a part that is none of torch's own.
"""

from collections.abc import Iterator
from itertools import takewhile

import torch

from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.models.readout import Readout
from rnnbounds.impl.reading.pytorch.modules import RECURRENT, has_unknown_hooks

_STILL = (torch.nn.Identity, torch.nn.Dropout, torch.nn.AlphaDropout, torch.nn.Flatten)


def require_readout(module: torch.nn.Module, readout: Readout) -> None:
    """Raise InputError if the module says that it computes something else than the readout."""
    owner = readout.stored.rpartition(".")[0]
    part = module.get_submodule(owner)
    if isinstance(part, RECURRENT):
        what = f"{shown(readout.name)} is a weight of a {type(part).__name__}, no linear layer"
        raise InputError(f"{what}; name the linear layer after the cell")
    if isinstance(part, (torch.nn.LayerNorm, torch.nn.RMSNorm)):
        what = f"{shown(readout.name)} is a weight of a {type(part).__name__}, no linear layer"
        raise InputError(f"{what}; leave the readout out, and certify the output h before it")
    if isinstance(part, torch.nn.Linear):
        _require_plain(part, owner)
    for path in (owner[:i] for i in range(len(owner)) if not i or owner[i] == "."):
        if _is_sequential(sequential := module.get_submodule(path)):
            _require_first(path, [*_stages(sequential, path)], owner)


def _require_plain(part: torch.nn.Linear, owner: str) -> None:
    own = type(part).forward is torch.nn.Linear.forward and "forward" not in vars(part)
    hooked = has_unknown_hooks(part)
    if hooked or not own:
        what = f"{shown(owner)} has {'hooks' if hooked else 'a forward of its own'}"
        raise InputError(f"{what}, so that what it computes is not known; pass the state dict")


def _require_first(path: str, computed: list[str], owner: str) -> None:
    """Compare the readout with the stages of a Sequential: "" is one of which nothing is known."""
    if owner not in computed:  # it is part of a part of which nothing is known
        return
    before = [*takewhile(bool, reversed(computed[: computed.index(owner)]))][::-1]
    if before:
        what = f"{shown(path or 'the Sequential')} computes {shown(', '.join(before))}"
        raise InputError(
            f"{what} before {shown(owner)}, which does not read the output h; name the linear "
            f"layer right after the cell, or leave the readout out"
        )


def _stages(sequential: torch.nn.Module, path: str) -> Iterator[str]:
    """The stages of a Sequential: linear layers by name, other parts of torch's by class."""
    for name, part in sequential._modules.items():  # one part may stand there twice
        full = f"{path}.{name}" if path else name
        if part is not None and _is_sequential(part):
            yield from _stages(part, full)
        elif isinstance(part, torch.nn.Linear):
            yield full
        elif part is not None and not isinstance(part, _STILL):
            recurrent = any(isinstance(one, RECURRENT) for one in part.modules())
            own = type(part).__module__.startswith("torch.nn.") and not recurrent
            yield type(part).__name__ if own else ""


def _is_sequential(part: torch.nn.Module) -> bool:
    """True for a Sequential that runs its parts in turn."""
    own = type(part).forward is torch.nn.Sequential.forward
    return isinstance(part, torch.nn.Sequential) and own
