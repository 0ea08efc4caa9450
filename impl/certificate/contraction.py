"""A differentiable estimate of the factor by which a cell contracts, to be trained on.

    loss + c · relu(contraction(module, B) − 0.95)

pulls a model to where `certify` certifies it. The formulas are those of the certificate in plain
floats: of a vanilla cell L_ρ‖W‖, of any other the comparison over the box of its states
(`impl.norms.comparison`), that box included, and gradients go through all of it. In exact
arithmetic it is an upper bound on λ; rounding is not bounded, so that here it is an estimate, and
the certified figure is `certify`'s. Sources: Miller & Hardt, section 2 and Proposition 1; Horn &
Johnson, section 6.3, for the derivative of Perron's root.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputBound, InputSet, bound_of
from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic, step_bounds
from rnnbounds.impl.arithmetic.slopes import compare_runs
from rnnbounds.impl.cells.deep import DeepCell
from rnnbounds.impl.cells.gated import Gated
from rnnbounds.impl.cells.kind import Kind
from rnnbounds.impl.cells.program import Activated
from rnnbounds.impl.cells.stacks.stack import Stack
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.plain_intervals import DifferentiableInterval
from rnnbounds.impl.errors import InputError, NotFiniteError, UnknownNameError
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.norms.comparison import Comparison
from rnnbounds.impl.norms.weighted import perron_vector
from rnnbounds.impl.reading.pytorch.modules import open_module
from rnnbounds.impl.reading.recognition.recognise import recognise

NORMS = ("spectral", "infinity", "one", "perron")
_HUGE = 1e30  # for a bound on states that is infinite

Bound = Tensor | InputBound  # of the inputs of a layer: B, or the set of the first one's


@isolated()
def contraction(
    model: torch.nn.Module | Mapping[str, Tensor],
    *,
    inputs: float | InputSet,
    norm: str = "auto",
    cell: str | None = None,
) -> Tensor:
    """An estimate of the λ that `certify` finds for inputs ‖x_t‖₂ ≤ B, with gradients: a scalar.

    `inputs` are B or an `InputSet`, as there.
    `model`: a `torch.nn.RNN`, `LSTM`, `GRU` of any number of layers, one of their cells, a module
    that holds one of these, or the tensors of any cell that `certify` reads, by its names; `cell`
    as there. `norm`: spectral, infinity, one or perron, as far as the cell has it, or "auto", the
    least of them. Of a stack it is the largest factor of its layers, each under inputs as large as
    the layer below lets them be: above that any Λ is certified. float64 whatever the weights are,
    on their device; evaluated in exact arithmetic it is never below λ in the same norm.
    Raises an InputError for what is no model, NaN, B < 0, and a norm that the cell has not.

    >>> loss = loss + 0.2 * torch.relu(rnnbounds.contraction(module, inputs=1.0) - 0.9)
    """
    bound = bound_of(inputs)
    kind, weights = _read(model, cell)
    names = [name for name in NORMS if name in kind.norms]
    if norm != "auto":
        if norm not in names:
            raise UnknownNameError("norm", norm, ["auto", *names])
        names = [norm]
    return factors(kind, weights, bound, names).amax()


def factors(
    kind: Kind,
    weights: Mapping[str, Tensor],
    inputs: float | InputSet,
    names: Sequence[str] = NORMS,
) -> Tensor:
    """Estimate λ of each layer from weights by role: (layers,), the least in those norms."""
    names = [name for name in names if name in kind.norms]
    cell_or_stack = kind.build({role: part.double()[None] for role, part in weights.items()})
    layers = cell_or_stack.layers if isinstance(cell_or_stack, Stack) else (cell_or_stack,)
    if isinstance(inputs, InputSet):
        inputs.require(layers[0].U.shape[-1])
        B: Bound = inputs
    else:
        B = next(iter(weights.values())).new_tensor(inputs, dtype=torch.float64)
    estimates = []
    for number, layer in enumerate(layers, start=1):
        estimates.append(_factor(layer, B, names))
        if number < len(layers) and not isinstance(layer, RNN):
            B = torch.linalg.vector_norm(_box(layer, B)[-layer.n :])
    return torch.stack(estimates)


def _read(model: Any, cell: str | None) -> tuple[Kind, Mapping[str, Tensor]]:
    """The kind of the model, and its tensors by role, as they are."""
    if isinstance(model, torch.nn.Module):
        held = open_module(model).of(None)
        if cell is not None and held.cell not in (None, kind_of(cell).name):
            raise InputError(f"the module is {held.cell}, not {cell}; leave the cell out")
        reading = recognise(held.tensors, "the module", held.cell or cell, layer=held.own)
    elif not isinstance(model, Mapping):
        what = f"{type(model).__name__} is no model"
        raise InputError(f"{what}; pass a module, or a mapping of its tensors by name")
    else:
        reading = recognise(model, "the model", cell)
    for role, part in reading.weights.items():
        if not bool(torch.isfinite(part).all()):
            raise NotFiniteError(role)
    return reading.kind, reading.weights


def _factor(cell: Any, B: Bound, names: Sequence[str]) -> Tensor:
    """The least factor of one layer in norms of those names."""
    if isinstance(cell, RNN):
        W, slope = cell.W[0], cell.activation.slope
        sizes: Mapping[str, Callable[[], Tensor]] = {
            "spectral": lambda: torch.linalg.matrix_norm(W, 2),
            "infinity": lambda: W.abs().sum(1).amax(),
            "one": lambda: W.abs().sum(0).amax(),
            "perron": lambda: _root_of(W.abs()[None]),
        }
        return torch.stack([slope * sizes[name]() for name in names]).amin()
    box = _box(cell, B)[None]
    comparison = compare_runs(
        cell.program, cell.parameters, box, B, cell.d, blocks=cell.blocks, drive=box,
        interval=DifferentiableInterval,
    )  # fmt: skip
    M, still = comparison.matrices[0], replace(comparison, slopes=comparison.slopes.detach())
    estimates: Mapping[str, Callable[[], Tensor]] = {
        "spectral": lambda: _spectral(cell, comparison),
        "infinity": lambda: M.sum(2).amax(),
        "perron": lambda: perron_root(M, still.perron()[0]),
    }
    return torch.stack([estimates[name]() for name in names]).amin()


def _spectral(cell: Any, comparison: Comparison) -> Tensor:
    """Perron root of the comparison matrix of the blocks' Euclidean norms."""
    if isinstance(cell, DeepCell):
        layers = [cell.parameters[f"transition_{l}_weight"][0] for l in range(1, cell.depth + 1)]
        sizes = [torch.linalg.matrix_norm(W, 2) * cell.activation.slope for W in layers]
        return torch.stack(sizes).prod()
    return _root_of(comparison.euclidean)


def perron_root(M: Tensor, v: Tensor) -> Tensor:
    """max_r,i (M_r v)_i/v_i for M (R, N, N) ≥ 0 and v > 0 near the Perron vector of the worst rows.

    With u the left vector its gradient is that of uᵀMv/uᵀv, u and v standing still.
    """
    image = M.detach() @ v
    P = M[image.argmax(0), torch.arange(len(v), device=M.device)]
    u = perron_vector(P.detach().mT[None]).weights[0]
    root = (u @ P @ v) / (u @ v)
    return root + ((image.amax(0) / v).amax() - root).detach()


def _root_of(M: Tensor) -> Tensor:
    """The Perron root of one matrix ≥ 0, (1, N, N)."""
    return perron_root(M, perron_vector(M).weights[0])


def _box(cell: Any, B: Bound) -> Tensor:
    """|s_t| ≤ box (N,), with gradients for the cells of torch's and those of bounded activations;
    of others what the certificate proves, which stands still."""
    if isinstance(cell, RNN) and math.isfinite(cell.activation.bound):
        return cell.box(0.0)[0]
    if isinstance(cell, Gated) or (
        isinstance(cell, Activated) and math.isfinite(cell.activation.bound)
    ):
        m = IntervalArithmetic(cell.parameters, interval=DifferentiableInterval)
        box = cell.box_over(m, B)
        # A proof of the box makes one step more.
        return torch.minimum(box, step_bounds(cell.program, m, box, B, cell.d)(box))[0]
    proved: Tensor = cell.proved_box(B.detach() if isinstance(B, Tensor) else B).box[0]
    return proved.clamp(max=_HUGE)
