"""How far a truncated model is from the recurrent one: what is certified, and what is observed.

Observed gaps are those of the models in real arithmetic: the rounding of both runs is added.
"""

import math

import torch
from torch import Tensor

from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.numbers.outward import add_up, div_up, mul_up, norm_up, subtract_down, sum_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm
from rnnbounds.impl.reading.adapters import load_model

SUBTRACTION = 2.0**-52  # more than one rounding of each entry of a difference


def certified_gaps(certificate: Certificate, K: int) -> tuple[float, ...]:
    """C min(S/(1 − λ), R) λᵏ for k = 0 … K, rounded up; nothing unless certified.

    Source: Miller & Hardt, Lemma 1.
    """
    if certificate.verdict != "certified":
        return ()
    constants = certificate.constants
    state_bound = float(div_up(constants["drive"], subtract_down(1.0, certificate.lam)))
    bounds = [float(mul_up(constants["equivalence"], min(state_bound, constants["radius"])))]
    for _ in range(K):
        bounds.append(float(mul_up(bounds[-1], certificate.lam)))
    return tuple(bounds)


def observed_gaps(
    rnn: torch.nn.Module, x: Tensor, start: int, K: int, rounding: float
) -> tuple[float, ...]:
    """max over t ≥ start of ‖h_t − h_t^k‖₂ for k = 0 … K, for one series x (1, T, d).

    `rounding` bounds ‖fl(h_t) − h_t‖₂ of either run; 0 leaves the rounding of the runs out.
    """
    model = load_model(rnn)
    gaps = []
    with torch.no_grad():
        h = rnn(x)[0]
        for k in range(K + 1):
            module = FeedForward(model.weights, cell=model.name, k=k)
            gaps.append(state_gap((h - module(x))[0, start:], rounding))
    return tuple(gaps)


def state_gap(difference: Tensor, rounding: float) -> float:
    """max ‖h_t − h_t^k‖₂, rounded up, from the computed differences (T, n)."""
    largest = norm_up(difference).amax()
    return float(add_up(mul_up(largest, 1 + SUBTRACTION), 2 * rounding))


def forecast_gap(difference: Tensor, readout: Tensor, rounding: float, unit: float) -> float:
    """max |C(h_t − h_t^k)| in units, rounded up, from the computed differences (T, n); C (1, n)."""
    largest = torch.maximum(
        sum_up(mul_up(readout, difference)), sum_up(mul_up(-readout, difference))
    ).amax()
    rounding_loss = add_up(mul_up(SUBTRACTION, norm_up(difference).amax()), 2 * rounding)
    return float(mul_up(unit, add_up(largest, mul_up(readout_norm(readout), rounding_loss))))


def certified_forecast_gap(epsilon: float, readout: Tensor, unit: float) -> float:
    """ε‖C‖₂ in units, rounded up: what a state within ε makes of a forecast."""
    return float(mul_up(mul_up(epsilon, readout_norm(readout)), unit))


def readout_norm(readout: Tensor) -> float:
    """At least ‖C‖₂."""
    return float(certified_norm(readout[None]))


def rounding_or_inf(certificate: Certificate) -> float:
    """‖fl(h_t) − h_t‖₂ as certified; infinite, so that nothing passes, where nothing is known."""
    return math.inf if certificate.rounding is None else certificate.rounding
