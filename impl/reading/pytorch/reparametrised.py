"""Weights of a state dict that torch's utilities store in parts, made whole as torch does it.

weight_norm: w = g v/‖v‖, by torch's own kernel; spectral_norm: w = w_orig/(uᵀ w_orig v), with the
stored u and v, as in evaluation; prune: w = mask∘w_orig, which is exact for a mask of 0 and 1. The
first two are rounded, and another machine may round their last bits otherwise: a note says so, and
what is certified is certified of the weights computed here. Sources: torch.nn.utils.weight_norm,
spectral_norm, prune and parametrizations.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.reading.recognition.misfit import WeightsError
from rnnbounds.impl.reading.recognition.parts import Parts, weights_in_parts
from rnnbounds.impl.reading.recognition.recognise import check_tensor

COMPUTED = "weights as {} computes them on this machine"  # a note, by the utility


def make_whole(tensors: Mapping[Any, Any]) -> tuple[Mapping[Any, Any], dict[str, tuple[str, ...]]]:
    """The tensors with each known weight in the place of its parts, and notes on these weights.

    A weight whose parts do not fit each other stays in parts.

    >>> whole, notes = make_whole(torch.nn.utils.weight_norm(rnn, "weight_hh_l0").state_dict())
    """
    names = [name for name in tensors if isinstance(name, str)]
    made, apart, notes = dict[str, Tensor](), set[str](), dict[str, tuple[str, ...]]()
    for parts in weights_in_parts(names):
        value = _value(parts, [tensors[name] for name in parts.names])
        if value is not None:
            full = parts.prefix + parts.weight
            made[full] = value
            apart.update(parts.names)
            if parts.utility != "prune":
                notes[full] = (COMPUTED.format(parts.utility),)
    return {name: one for name, one in tensors.items() if name not in apart} | made, notes


def _value(parts: Parts, held: list[Tensor]) -> Tensor | None:
    """The weight as torch computes it; None for parts that do not fit, or an unknown utility."""
    compute = _COMPUTED.get(parts.utility)
    if compute is None:
        return None
    with suppress(WeightsError, RuntimeError), isolated(), torch.no_grad():
        for name, tensor in zip(parts.names, held, strict=True):
            check_tensor(name, tensor)
        return compute(*(tensor.detach() for tensor in held))
    return None


def _weight_norm(g: Tensor, v: Tensor) -> Tensor | None:
    """g v/‖v‖ with the norm over all axes but that which g has; over all if g is a scalar."""
    shapes = [tuple(m if a == axis else 1 for a, m in enumerate(v.shape)) for axis in range(v.ndim)]
    if g.ndim and tuple(g.shape) not in shapes:
        return None
    return torch._weight_norm(v, g, shapes.index(tuple(g.shape)) if g.ndim else -1)


def _spectral_norm(w: Tensor, u: Tensor, v: Tensor) -> Tensor | None:
    """w/(uᵀ w v) with the rows of w as outputs, torch's default for layers.

    A square w does not say its axis: the one for which wᵀu is nearer to v, as after a power
    iteration, has to be that of the rows.
    """
    if w.ndim != 2 or (len(u), len(v)) != tuple(w.shape):
        return None
    if len(u) == len(v):
        rows, columns = (abs(float(torch.dot(m, v) / m.norm())) for m in (w.T @ u, w @ u))
        if not rows >= columns:
            return None
    return w / torch.dot(u, torch.mv(w, v))


def _pruned(w: Tensor, mask: Tensor) -> Tensor | None:
    if w.shape != mask.shape or not bool(((mask == 0) | (mask == 1)).all()):
        return None
    return mask.to(dtype=w.dtype) * w


_COMPUTED: dict[str, Callable[..., Tensor | None]] = {
    "weight_norm": _weight_norm,
    "spectral_norm": _spectral_norm,
    "prune": _pruned,
}
