"""Scales of a network's units that keep every stored weight exact.

ReLU commutes with D > 0, so D h_t is the state of the network DWD⁻¹, DU, Db. Where all of these
are float64 numbers nothing is lost by the change. Source: Emami et al., Theorem 3.1.
"""

import torch
from flint import fmpq, fmpq_mat
from torch import Tensor

from rnnbounds.impl.convert.rescaling import Rescaling, rescale
from rnnbounds.impl.format.unitary import BIASES, MODERATE
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.rationals import rational, rational_matrix


def scales(model: LoadedModel[RNN], start: Tensor) -> Tensor:
    """D of the best rescaling that keeps every weight exact; ones where there is none."""
    W, rest = rational_matrix(model.cell.W[0]), rational_matrix(model.cell.U[0]).tolist()
    sides = [model.bias(role) for role in BIASES] + [start.tolist()]
    for values in sides:
        rest = [[*row, rational(v)] for row, v in zip(rest, values, strict=True)]

    def usable(found: Rescaling) -> bool:
        D = found.D
        return (
            D is not None
            and all(map(is_float, D))
            and all(map(_moderate, D))
            and _stays_exact(W, rest, D)
        )

    found = rescale(W, usable)
    D = None if found is None else found.D
    values = [1.0] * model.n if D is None else [_float(v) for v in D]
    return torch.tensor(values, dtype=torch.float64)


def _stays_exact(W: fmpq_mat, rest: list[list[fmpq]], D: tuple[fmpq, ...]) -> bool:
    """True if D, DWD⁻¹ and D times the other weights are exact in float64."""
    moved = [D[i] * W[i, j] / D[j] for i in range(len(D)) for j in range(len(D))]
    moved += [d * v for d, row in zip(D, rest, strict=True) for v in row]
    return all(map(is_float, moved))


def scaled(W: Tensor, D: Tensor) -> Tensor:
    """DWD⁻¹, of which every entry is a float64 number, but maybe not every step there."""
    if bool((D == 1).all()):
        return W
    d, w, n = [rational(v) for v in D.tolist()], rational_matrix(W), len(D)
    found = [[_float(d[i] * w[i, j] / d[j]) for j in range(n)] for i in range(n)]
    return torch.tensor(found, dtype=torch.float64).copysign(W)  # of zeros too


def is_float(x: fmpq) -> bool:
    """True if a rational is exactly a float64 number."""
    try:
        return bool(rational(_float(x)) == x)
    except OverflowError:
        return False


def _moderate(d: fmpq) -> bool:
    return 1 / MODERATE <= _float(d) <= MODERATE


def _float(x: fmpq) -> float:
    """The nearest float64."""
    return int(x.p) / int(x.q)
