"""Projections of torch's recurrent modules onto stable weights, in place, layer by layer."""

import math
from collections import Counter
from functools import cache
from typing import Literal

import torch
from flint import arb, ctx
from torch import Tensor
from torch.nn.utils.parametrize import is_parametrized

from rnnbounds.impl.arithmetic.inputs.sets import InputSet, bound_of
from rnnbounds.impl.errors import InputError, RangeError, exactly, number
from rnnbounds.impl.models.surroundings import isolated, writing
from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.reading.pytorch.modules import meant, open_module
from rnnbounds.impl.training.projection import nearest_rows, stable
from rnnbounds.impl.training.stable_gates import StableGates, StableGRU, StableLSTM

_ROLES = ("weight_hh", "weight_ih", "bias_ih", "bias_hh", "weight_hr")


@isolated()
def stable_(
    module: torch.nn.Module,
    lam: float = 0.95,
    *,
    inputs: float | InputSet = 1.0,
    forget: float | None = None,
    norm: Literal["spectral", "infinity"] = "spectral",
) -> torch.nn.Module:
    """Project the recurrent weights of a module in place, so that each layer contracts by λ < 1.

    After it `certify(module, inputs=inputs)` finds that each layer does, and certifies the model,
    unless what is left is so large that sums overflow: of biases in float64, which is refused, or
    of a gate in the module's dtype, which is undecided. What it projects onto are convex sets that
    do not depend on the weights, to the nearest point: `torch.nn.RNN` to
    ‖W‖ ≤ λ in that norm, `LSTM` and `GRU` to the sets of `impl.training.stable_gates` with
    1 − (1 − θ)(1 − f̄) = λ, any of them with layers, or as cells. `forget` is f̄, the largest that
    the gate which keeps the state may be, below λ: more of it is a longer memory in the state
    itself and less by way of W; by default 1 − √(1 − λ), halfway. `norm` is about RNNs alone. A
    projection of an LSTM (`proj_size`) is kept at ‖W_hr‖_∞ ≤ 1. Layers above the first have inputs
    ‖h‖₂ ≤ √n; `inputs` are B or an `InputSet`, of which the ball is meant. `module` may hold its
    one recurrent module inside.
    Raises an InputError for other modules, two directions, λ or f̄ out of range, NaN and B < 0.
    Sources: Miller & Hardt, section 4; `impl.training.stable_gates` for the proof about GRUs.

    >>> rnnbounds.stable_(torch.nn.LSTM(1, 16), 0.9, inputs=1.0)
    """
    if not 0 < number("λ", lam, "above 0 and below 1") < 1:
        raise RangeError("λ", lam, "above 0 and below 1")
    if not isinstance(module, torch.nn.Module):
        raise InputError(f"{type(module).__name__} is no module; pass one of torch.nn")
    open_module(module).of(None)  # one recurrent part, of torch's
    part = meant(module)[1]
    if getattr(part, "bidirectional", False):
        what = f"{type(part).__name__} reads its inputs in both directions"
        raise InputError(f"{what}, of which none is projected; take one without bidirectional=True")
    layers = part.num_layers if isinstance(part, torch.nn.RNNBase) else 1
    names = [f"_l{l}" for l in range(layers)] if isinstance(part, torch.nn.RNNBase) else [""]
    B, all_moved = float(bound_of(inputs)), []
    for weights in [_weights(part, suffix) for suffix in names]:
        moved = _moved(part, weights, lam, B, forget, norm)
        all_moved += [(weights[role], value) for role, value in moved.items()]
        B = math.nextafter(math.sqrt(weights["weight_hh"].shape[1]), math.inf)
    with writing(module):
        for weight, value in all_moved:
            if value is not weight:
                weight.copy_(value)
    return module


def stable_set(
    part: torch.nn.Module, lam: float, input_bound: float, forget: float | None = None
) -> StableGates:
    """The set of an LSTM's or a GRU's weights with a factor of at most λ; raises RangeError."""
    make = StableGRU if isinstance(part, torch.nn.GRU | torch.nn.GRUCell) else StableLSTM
    if forget is None:
        forget = lam / (1 + math.sqrt(1 - lam))  # 1 − √(1 − λ)
        if forget == 0:
            raise RangeError("λ", lam, "so large that half of it is above 0")
    needed = f"above 0 and below λ = {exactly(lam)}"
    if not 0 < number(f"the bound on the {make.kept_by} gate", forget, needed) < lam:
        raise RangeError(f"the bound on the {make.kept_by} gate", forget, needed)
    return _set(make, lam, input_bound, forget)


@cache
def _set(make: type[StableGates], lam: float, input_bound: float, kept: float) -> StableGates:
    with ctx.workprec(128):
        theta = (arb(lam) - arb(kept)) / (1 - arb(kept))  # what θ makes the factor λ, exactly
        return make(-float_above(-theta), kept, input_bound)


def _moved(
    part: torch.nn.Module,
    weights: dict[str, Tensor],
    lam: float,
    B: float,
    forget: float | None,
    norm: Literal["spectral", "infinity"],
) -> dict[str, Tensor]:
    """The projected weights of one layer, by role."""
    if isinstance(part, torch.nn.RNN | torch.nn.RNNCell):
        return {"weight_hh": stable(weights["weight_hh"].detach(), lam, norm)}
    R = weights.get("weight_hr")
    gates = {role: value for role, value in weights.items() if role != "weight_hr"}
    moved = stable_set(part, lam, B, forget).certified(gates)
    if R is not None:
        ones = torch.ones(len(R), dtype=torch.float64, device=R.device)
        moved["weight_hr"] = nearest_rows(R.detach(), ones, certify=True)
    return moved


def _weights(part: torch.nn.Module, suffix: str) -> dict[str, Tensor]:
    """The parameters of one layer by role, as they are stored; raises InputError unless all
    are the part's own, in memory that no other has."""
    parameters = dict(part.named_parameters(recurse=False))
    places = Counter(parameter.data_ptr() for parameter in parameters.values())
    weights: dict[str, Tensor] = {}
    for role in _ROLES:
        name = role + suffix
        if name in parameters and places[parameters[name].data_ptr()] == 1:
            weights[role] = parameters[name]
        elif is_parametrized(part, name) or getattr(part, name, None) is not None:
            raise _not_stored(name)
    if "weight_hh" not in weights:
        raise _not_stored("weight_hh")
    return weights


def _not_stored(name: str) -> InputError:
    return InputError(
        f"{name} is no parameter of its own of the recurrent module; remove its parametrisation, "
        f"or the name that shares it"
    )
