"""Weights that a module computes of others, read as its forward pass uses them.

torch has two ways: parametrizations, computed at each use, and older hooks that run before the
forward pass (weight_norm, spectral_norm, prune). A hook of exactly torch's classes is known; any
other may change everything.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.modules import module as hooked
from torch.nn.utils import prune
from torch.nn.utils.spectral_norm import SpectralNorm
from torch.nn.utils.weight_norm import WeightNorm

from rnnbounds.impl.models.surroundings import untouched
from rnnbounds.impl.reading.pytorch.reparametrised import COMPUTED
from rnnbounds.impl.reading.recognition.misfit import WeightsError


@dataclass(frozen=True)
class _Hook:
    """A hook of torch's before a forward pass: it computes the weight `name` of its parts, which
    have these endings. key: its key in the module."""

    key: int
    name: str
    utility: str
    ends: tuple[str, ...]
    compute: Callable[[torch.nn.Module], Tensor]


def computed_weights(part: torch.nn.Module) -> tuple[dict[str, Tensor], set[str], dict[str, str]]:
    """The weights of a module that it computes of others, the names of these, of which one with a
    dot at its end is a folder, and notes on weights that are rounded.

    In training mode some count or iterate at each use, in their buffers: that is undone. Raises
    WeightsError for a weight that changes from use to use.
    """
    hooks = list(_hooks(part))
    held = getattr(part, "parametrizations", None)
    parametrised = list(held) if isinstance(held, torch.nn.ModuleDict) else []
    notes = dict.fromkeys(parametrised, COMPUTED.format("parametrize"))
    notes |= {one.name: COMPUTED.format(one.utility) for one in hooks if one.utility != "prune"}
    with untouched(part):
        values, again = (_values(part, parametrised, hooks) for _ in range(2))
    for name, value in values.items():
        if not torch.equal(value, again[name]):
            raise WeightsError(f"{name} has another value at each use; call .eval() first")
    parts = {one.name + end for one in hooks for end in one.ends}
    whole = {name: value for name, value in values.items() if name not in parts}
    return whole, parts | {f"parametrizations.{name}." for name in parametrised}, notes


def _values(part: Any, parametrised: list[str], hooks: list[_Hook]) -> dict[str, Tensor]:
    values: dict[str, Tensor] = {name: getattr(part, name) for name in parametrised}
    for hook in hooks:  # a later one may take an earlier one's weight as its part
        values[hook.name] = vars(part)[hook.name] = hook.compute(part)
    return values


def _hooks(part: torch.nn.Module) -> Iterator[_Hook]:
    """The known hooks before a forward pass, in their order."""
    for key, hook in part._forward_pre_hooks.items():
        held: Any = hook
        if type(hook) is WeightNorm:
            yield _Hook(key, held.name, "weight_norm", ("_g", "_v"), held.compute_weight)
        elif type(hook) is SpectralNorm:
            yield _Hook(key, held.name, "spectral_norm", ("_orig", "_u", "_v"), _iterated(held))
        elif _prunes(hook):
            yield _Hook(key, held._tensor_name, "prune", ("_orig", "_mask"), held.apply_mask)


def _iterated(hook: SpectralNorm) -> Callable[[torch.nn.Module], Tensor]:
    """The weight after a power iteration in training mode, with u and v as they are otherwise."""
    return lambda part: hook.compute_weight(part, do_power_iteration=part.training)


def _prunes(hook: object) -> bool:
    """True if a hook multiplies by its mask as torch's do, however it chose the mask."""
    base = prune.BasePruningMethod
    own = type(hook).__call__, getattr(type(hook), "apply_mask", None)
    return isinstance(hook, base) and own == (base.__call__, base.apply_mask)


def refuse_hooks(part: torch.nn.Module) -> None:
    """Raise WeightsError if hooks, its own or those of all modules, may change what goes into a
    module or comes out of it."""
    of_all = hooked._global_forward_hooks or hooked._global_forward_pre_hooks
    others = part._forward_pre_hooks.keys() - {hook.key for hook in _hooks(part)}
    if part._forward_hooks or others or of_all:
        raise WeightsError(
            f"{type(part).__name__} has hooks, so that what it computes is not known; remove "
            f"them, or pass its state dict with the cell that it is"
        )
