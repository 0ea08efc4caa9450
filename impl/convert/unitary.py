"""From a contractive ReLU network to a unitary one with twice the states.

For h_t = ReLU(W h_{t−1} + U x_t + b) with ‖W‖₂ < 1 and ‖x_t‖₂ ≤ B let V be an orthogonal dilation
of W (W = V₁₁, W₃ = V₂₁). The unitary network has the transition matrix V, the input weights (U, 0),
the bias (b, b₂) with b₂ ≤ −B_h‖row of W₃‖, and the initial state (h_{−1}, 0). Its state is (h_t, 0)
at all times: the further units have pre-activations W₃h + b₂ ≤ 0, so they stay 0, and the first
ones see what they saw before. That V is orthogonal only up to rounding changes nothing of this:
what it takes is that V₁₁ is W to the last bit and that b₂ covers the row norms of the stored W₃;
b₂ is so far below 0 that the units stay off in float64 too (`impl.checker.unitary_bounds`).
Source: Emami et al., Theorem 3.1.
"""

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from flint import arb, ctx
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import bound_of
from rnnbounds.impl.cells.vanilla import norm_data_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.checker.unitary_bounds import (
    PRECISION,
    Machine,
    System,
    computed_bound,
    drift,
    slack,
    state_bound,
)
from rnnbounds.impl.convert.dilation import Dilation, dilate
from rnnbounds.impl.errors import (
    InputError,
    NotFiniteError,
    PrecisionError,
    RangeError,
    ShapeError,
    factor,
)
from rnnbounds.impl.format.sealed import UNITARY
from rnnbounds.impl.format.tensors import contents
from rnnbounds.impl.format.unitary import BIASES, SCHEMA
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.models.torch_machine import require_sound
from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.json_values import finite_or_none
from rnnbounds.impl.numbers.outward import UNIT, add_up, mul_up, norm_bound, norm_up, underflow
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm
from rnnbounds.impl.reading.adapters import Source, load_model
from rnnbounds.impl.reading.files import as_safetensors, check_target, write_file


class NoUnitaryError(InputError):
    """A ReLU model of which ‖W‖₂ < 1 is not certified; `certificate` says what is known."""

    def __init__(self, certificate: Certificate) -> None:
        super().__init__(
            f"{certificate.model}: ‖W‖₂ ≤ {factor(certificate.lam)} is all that is certified, but "
            f"a unitary equivalent needs ‖W‖₂ < 1; train it with rnnbounds.stable"
        )
        self.certificate = certificate


@dataclass(frozen=True, eq=False)
class UnitaryModel:
    """A unitary network with the states of a contractive one, and its certificate as JSON data.

    weights: float64 under torch's names: `weight_hh_l0` (m, m) = V, `weight_ih_l0` (m, d),
    `bias_ih_l0` and `bias_hh_l0` (m,). initial: the state (m,) to start from. n: the first n
    states are h_t.
    """

    weights: Mapping[str, Tensor]
    initial: Tensor
    n: int
    certificate: dict[str, Any]

    @property
    def states(self) -> int:
        """m = 2n."""
        return len(self.initial)

    def rnn(self, *, batch_first: bool = False) -> torch.nn.RNN:
        """A plain `torch.nn.RNN` with these weights, in float64."""
        made = torch.nn.RNN(
            self.weights["weight_ih_l0"].shape[1], self.states,
            nonlinearity="relu", batch_first=batch_first, dtype=torch.float64,
        )  # fmt: skip
        made.load_state_dict(dict(self.weights))
        return made

    def original(self, states: Tensor) -> Tensor:
        """h_t from the states of this network: (…, m) -> (…, n)."""
        return states[..., : self.n]


@isolated()
def unitary(
    model: Source | LoadedModel[Any],
    *,
    inputs: float,
    initial: Tensor | None = None,
    cell: str | None = None,
    ignore: Collection[str] = (),
    layer: str | None = None,
) -> UnitaryModel:
    """The unitary equivalent of a contractive ReLU model, for all inputs with ‖x_t‖₂ ≤ B.

    `model`, `cell`, `ignore` and `layer` as in `load_model`; `initial` is h_{−1} (n,), zero by
    default. It has 2n states, n + rank(I − WᵀW), and no fewer will do.
    Raises InputError, NoUnitaryError (‖W‖₂ < 1 not certified), RangeError (B < 0), and what
    `load_model` raises. Source: Emami et al., Theorem 3.1.
    """
    require_sound()
    loaded = load_model(model, cell, ignore=ignore, layer=layer)
    if loaded.name != "rnn-relu":
        raise InputError(
            f"{loaded.name} has no unitary equivalent of this kind: the further units are kept at "
            f"0 by ReLU; use an rnn-relu model (for an rnn-relu file, say --cell rnn-relu)"
        )
    start = _initial(initial, loaded.n)
    bound = float(bound_of(inputs))
    lam = float(certified_norm(loaded.cell.W))
    if not lam < 1:
        raise NoUnitaryError(certify(loaded, inputs=bound, norm="spectral"))
    return _assemble(loaded, bound, lam, start, dilate(loaded.cell.W[0]))


@isolated()
def save_unitary(model: UnitaryModel, path: str | os.PathLike[str]) -> None:
    """Write weights and certificate atomically as safetensors, which loads into `torch.nn.RNN`.

    Raises FileError if the file cannot be written, has the suffix of another kind, or is the
    model's own.
    """
    check_target(Path(path), Path(str(model.certificate["information"].get("model", ""))))
    told = {
        "format": UNITARY.format,
        "cell": "rnn-relu",
        "certificate": json.dumps(model.certificate, allow_nan=False, sort_keys=True),
    }
    weights = {name: part.contiguous() for name, part in model.weights.items()}
    stamp = UNITARY.seal(told, contents(as_safetensors(weights, {}))[0])
    write_file(Path(path), as_safetensors(weights, told | {"sha256": stamp}))


def _assemble(
    model: LoadedModel[RNN], B: float, lam: float, start: Tensor, dilation: Dilation
) -> UnitaryModel:
    n, d = model.n, model.d
    system, U_norm = _system(model, B, lam, start)
    terms, own = 2 * n + d + 3, torch.finfo(getattr(torch, model.dtype))
    machine = Machine(terms, n, largest=2.0**1000)
    in_own_dtype = Machine(terms, n, own.eps / 2, own.tiny, own.max)
    with ctx.workprec(PRECISION):
        states, computed = (
            float_above(state_bound(system)),
            float_above(computed_bound(system, machine)),
        )
        drifts = (_drift(system, machine), _drift(system, in_own_dtype))
        a, c = slack(machine)
    b2 = -_off(dilation.W3, states if computed == float("inf") else computed, a, c)
    if not bool((b2.abs() <= 2.0**1000).all()):
        raise RangeError("the input bound B", B, "small enough for the states to be finite")
    b_ih, b_hh = (torch.tensor(model.bias(role), dtype=torch.float64) for role in BIASES)
    zeros = torch.zeros(n, dtype=torch.float64)
    weights = {
        "weight_ih_l0": torch.cat([model.cell.U[0], zeros[:, None].expand(n, d)]),
        "weight_hh_l0": dilation.V,
        "bias_ih_l0": torch.cat([b_ih, b2]),
        "bias_hh_l0": torch.cat([b_hh, zeros]),
    }
    certificate = {
        "schema": SCHEMA,
        "cell": model.name,
        "dtype": model.dtype,
        "sha256": model.digest,
        "verdict": "certified",
        "shape": {"n": n, "d": d},
        "states": 2 * n,
        "input_bound": B,
        "initial_state": start.tolist(),
        "constants": {
            "W_norm": lam,
            "U_norm": U_norm,
            "B_h": states,
            "B_h_computed": finite_or_none(computed),
        },
        "orthogonality_defect": dilation.defect,
        "difference": {
            "exact": 0.0,
            "float64": _sum(drifts[0], drifts[0]),
            "own_dtype": _sum(*drifts),
        },
        "information": {
            "model": model.source,
            "tensors": dict(model.tensors),
            "ignored": list(model.ignored),
            "unread": list(model.unread),
        },
    }
    return UnitaryModel(weights, torch.cat([start, zeros]), n, certificate)


def _system(model: LoadedModel[RNN], B: float, lam: float, start: Tensor) -> tuple[System, float]:
    """The network's constants rounded up, and ‖U‖₂."""
    U_norm = float(certified_norm(model.cell.U))
    drive = add_up(mul_up(U_norm, B), norm_up(norm_data_of(model, B).offset))
    b = [abs(arb(i)) + abs(arb(h)) for i, h in zip(*map(model.bias, BIASES), strict=True)]
    bias = norm_up(torch.tensor([float_above(v) for v in b], dtype=torch.float64))
    weight, inputs = (float(norm_bound(part, (0, 1, 2))) for part in (model.cell.W, model.cell.U))
    pushed, first = float(mul_up(inputs, B)), float(norm_up(start))
    return System(lam, float(drive), weight, pushed, float(bias), first), U_norm


def _drift(system: System, machine: Machine) -> float:
    return float_above(drift(system, machine, arb(float_above(computed_bound(system, machine)))))


def _off(W3: Tensor, states: float, a: float, c: float) -> Tensor:
    """|b₂| (q,) ≥ a‖row of W₃‖B̂ + c; 0 where the states or the row are 0."""
    rows = mul_up(norm_bound(W3, 1), 1 + 4 * UNIT)
    rows = add_up(rows, underflow(W3.abs().amax(1), 2.0**-505))
    bound = mul_up(mul_up(rows, states), a)
    return torch.where(bound > 0, add_up(bound, c), 0.0)


def _initial(initial: Tensor | None, n: int) -> Tensor:
    if initial is None:
        return torch.zeros(n, dtype=torch.float64)
    if initial.shape != (n,):
        raise ShapeError("the initial state", f"({n},)", initial)
    if initial.dtype != torch.float64:
        raise PrecisionError("the initial state", initial.dtype)
    if not bool(torch.isfinite(initial).all()):
        raise NotFiniteError("the initial state")
    if bool((initial.abs() > 2.0**400).any()):
        raise RangeError("the initial state", "beyond 2⁴⁰⁰", "smaller")
    return initial.detach().cpu().clone()


def _sum(a: float, b: float) -> float | None:
    return finite_or_none(float(add_up(a, b)))
