"""One line about each norm that `certify` tries: the length that it gives to a state."""

from collections.abc import Mapping

NORM_MEANINGS: Mapping[str, str] = {
    "spectral": "the Euclidean length of a state; of several blocks, the largest weighted length",
    "infinity": "the largest absolute value in a state",
    "one": "the sum of the absolute values in a state",
    "perron": "the largest weighted value in a state, weights from the Perron vector of the "
    "comparison matrix",
    "diagonal": "the Euclidean length of a state with one weight per unit, found by balancing",
    "quadratic": "the Euclidean length of Q times a state, Q from a Lyapunov equation",
    "quadratic-sdp": "the Euclidean length of Q times a state, Q found by semidefinite "
    "programming for restricted slopes",
    "comparison": "the largest weighted value in a state, one weight for c and one for h",
    "cascade": "the largest of the layers' own norms, with one weight per layer",
}
