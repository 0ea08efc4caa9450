"""Certifies a model in both directions, cell by cell and then by its windows.

Each cell of the lowest layer is certified under the inputs of the model, each of a higher layer
under a set that holds all outputs (h→, h←) of the layer below, also as these are computed in the
model's dtype: ‖y‖₂ ≤ √(B→² + B←²), and unit by unit where a box is known.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch

from rnnbounds.impl.arithmetic.inputs.sets import InputSet, bound_of
from rnnbounds.impl.bidirectional.record import BidirectionalCertificate
from rnnbounds.impl.bidirectional.windows import Fading, least_window
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import EPSILONS, Certificate, epsilons_of
from rnnbounds.impl.models.bidirectional import LoadedBidirectional
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.norms.norm_data import StateNorm
from rnnbounds.impl.numbers.outward import add_up, mul_up, norm_up


@isolated()
def certify_both(
    model: LoadedBidirectional,
    input_bound: float,
    eps: float | Sequence[float] = EPSILONS,
    norm: str = "auto",
    *,
    device: str = "cpu",
) -> BidirectionalCertificate:
    """Certify, refute or leave undecided that a model in both directions forgets both ways.

    Arguments and errors as in `certify`. Source: Miller & Hardt, Lemma 1, for each cell.
    """
    epsilons, inputs = epsilons_of(eps), bound_of(input_bound)
    read = model.readout
    of_y = {one: one if read is None else read.within(one) for one in epsilons}
    found: list[tuple[Certificate, Certificate]] = []
    fadings: list[tuple[Fading, Fading]] = []
    error: float | None = 0.0
    reason = None
    for l, both in enumerate(model.layers):
        forward, reverse = (
            certify(cell, inputs, tuple(of_y.values()), norm, device=device) for cell in both
        )
        found.append((forward, reverse))
        if not all(one.verdict == "certified" for one in found[-1]):
            error, reason = None, reason or f"layer {l + 1} is not certified"
            break
        fadings.append(
            (_fading(both.forward, forward, inputs), _fading(both.reverse, reverse, inputs))
        )
        if error is not None:
            unknown = next((one.unrounded for one in found[-1] if one.rounding is None), None)
            error, reason = (
                (None, f"layer {l + 1}: {unknown}")
                if unknown is not None
                else (_rounding(found[-1], error), None)
            )
        inputs = _outputs(found[-1], error or 0.0, f"the outputs of layer {l + 1}")
    complete = len(fadings) == len(model.layers)
    windows = tuple(
        (one, least_window(fadings, of_y[one]) if complete else None) for one in epsilons
    )
    gain = _gain(found) if complete else math.inf
    scale = 1.0 if read is None else read.norm
    return BidirectionalCertificate(
        model.source, model.name, model.n, model.digest, tuple(found), windows,
        float(mul_up(gain, scale)), error, reason,
        model.ignored, model.unread, None if read is None else read.to_json(),
    )  # fmt: skip


def _fading(model: LoadedModel[Any], certificate: Certificate, inputs: float) -> Fading:
    """The memory of a cell as its certificate proves it."""
    norm = _norm(model, certificate, inputs)
    other = certificate.proof.get("other_norms", {}).get("gain", {})
    push_lam = float(other.get("lambda", certificate.lam))
    push = mul_up(certificate.constants["gain"], add_up(1.0, -push_lam))
    return Fading(certificate.lam, norm.states, float(push), push_lam, norm.remaining)


def _norm(model: LoadedModel[Any], certificate: Certificate, inputs: float) -> StateNorm:
    """The norm of the certificate: with its comparison, of a cell whose states have a box."""
    if certificate.proof.get("box") is not None:
        return kind_of(model.name).analyse(model, inputs).norm(certificate.norm)
    of = certificate.constants
    sizes = of["drive"], of["equivalence"], of["reach"]
    return StateNorm(certificate.norm, certificate.lam, *sizes, radius=of["radius"])


def _gain(layers: Sequence[tuple[Certificate, Certificate]]) -> float:
    """Π √(G→² + G←²) over the layers."""
    gains = torch.tensor(
        [[one.constants["gain"] for one in both] for both in layers], dtype=torch.float64
    )
    total = torch.ones((), dtype=torch.float64)
    for one in norm_up(gains):
        total = mul_up(total, one)
    return float(total)


def _rounding(both: tuple[Certificate, Certificate], below: float) -> float:
    """At least ‖fl(y) − y‖₂ of a layer whose inputs are that far from the exact ones."""
    each = [
        float(add_up(one.rounding or 0.0, mul_up(one.constants["gain"], below) if below else 0.0))
        for one in both
    ]
    return float(norm_up(torch.tensor(each, dtype=torch.float64)))


def _outputs(both: tuple[Certificate, Certificate], error: float, what: str) -> InputSet:
    """The set of all outputs of a layer, and of all within that error of one."""
    sizes = torch.tensor([one.constants["B_h"] for one in both], dtype=torch.float64)
    sides = torch.cat([_sides(one) for one in both])
    B, ends = add_up(norm_up(sizes), error), add_up(sides, error)
    return InputSet(float(B), -ends, ends, what)


def _sides(certificate: Certificate) -> torch.Tensor:
    """At least |h_i| of all outputs of a cell (n,): by its box, its activation or its norm."""
    box = certificate.proof.get("box")
    most = min(certificate.constants["B_h"], certificate.constants.get("M_rho", math.inf))
    sides = [math.inf] * certificate.n if box is None else box[-certificate.n :]
    known = [most if side is None else min(side, most) for side in sides]
    return torch.tensor(known, dtype=torch.float64)
