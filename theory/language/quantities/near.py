"""Quantities that `measure` certifies of inputs near recorded ones, their measured counterparts,
and numbers that false variants put for the printed ones."""

from dataclasses import replace

from rnnbounds.theory.language.quantities.norms import EUCLIDEAN, MAXIMUM, SPECTRAL, T, k
from rnnbounds.theory.language.quantity import Quantity, certified, tag
from rnnbounds.theory.language.terms.certificates import begun, on_record, run_slope
from rnnbounds.theory.language.terms.variables import a, b, vector, x
from rnnbounds.theory.language.terms.vectors import state

recorded = vector("recorded")  # the inputs that were recorded, beside x


def _gap(name: str, meaning: str, notation: str) -> Quantity:
    """Measured quantity with one value for each window k."""
    return certified(name, meaning, "Euclidean", notation, windowed=True)


def _exponent(name: str, meaning: str, notation: str) -> Quantity:
    """Exponent of a growth, of any sign."""
    return replace(certified(name, meaning, "number", notation), lower=None)


NEAR: tuple[Quantity, ...] = tag(
    "near near-wide near-pasts near-ball",
    MAXIMUM.of(
        "near_off", "a state near the data against the one that is computed on the recorded inputs",
        r"s_T-\hat{s}_T", begun(a, x, 0, T) - on_record(recorded, T),
    ),
    EUCLIDEAN.of(
        "near_gap",
        "the outputs of runs near the data, or what a readout makes of them, one over T inputs and "
        "one over the last k", "h_T-h_T^{(k)}", begun(a, x, 0, T) - begun(b, x, T - k, k),
        "_{near}",
    ),
    EUCLIDEAN.of(
        "near_past_gap",
        "the outputs of a run from a recorded past and of one from zero, both over the first k "
        "inputs", r"h_k-h_k^{(0)}", begun(a, x, 0, k) - state(x, 0, k), "_{past}",
    ),
    EUCLIDEAN.of(
        "near_ball_gap", "the outputs of two runs from a ball of starts, over all inputs",
        "h_T-h_T'", begun(a, x, 0, T) - begun(b, x, 0, T), "_{ball}",
    ),
    SPECTRAL.of(
        "near_stretch", "the derivative of the last output near the data in the start",
        r"\partial h_T/\partial s_0", run_slope(a, x, 0, T - 1),
    ),
    certified("near_states_told", "the largest entry of a start state", "maximum", "r_{near}"),
    certified(
        "near_delta", "the largest difference of a number from the recorded one", "maximum",
        r"\delta_{near}",
    ),
    certified("near_eps_told", "a printed ε", "Euclidean", r"\varepsilon_{near}"),
    certified("near_k_told", "the printed k for that ε", "number", "k^{(near)}"),
    certified(
        "near_width_told", "the printed width of the enclosure of states", "maximum", "w_{near}",
    ),
    certified("near_width_once", "the width for δ at the last step alone", "maximum", "w_1"),
    certified("near_width_first", "the width to first order", "maximum", "w^{(1)}"),
    certified("near_width_before", "the width before the last step", "maximum", "w_{T-1}"),
    _gap("near_gap_told", "the printed gap at k", "g_k"),
    _gap("near_gap_next", "the gap at k + 1", "g_{k+1}"),
    _gap("near_gap_largest", "the largest gap of one output", r"g_k^{(\infty)}"),
    _gap("near_gap_recorded", "the gap on the recorded inputs alone", "g_k^{(0)}"),
    _gap("near_gap_half", "the gap from starts within half of r", "g_k^{(1/2)}"),
    _exponent("near_exponent_told", "the printed exponent of runs near the data", "e_{near}"),
    _exponent("near_exponent_recorded", "the exponent of the computed run alone", "e^{(0)}"),
)  # fmt: skip
