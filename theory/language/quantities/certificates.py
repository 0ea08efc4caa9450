"""Quantities that `certify` prints of a model, and their measured counterparts.

Constants that end in ``_told`` are read from the certificate, and are the very numbers that it
prints. ‖s‖_told is the norm that it names, with the weights that it prints.
"""

from rnnbounds.theory.language.quantities.norms import EUCLIDEAN, Norm, T, k
from rnnbounds.theory.language.quantity import Quantity, Symbol, certified, measured
from rnnbounds.theory.language.terms.certificates import computed_double, unitary_computed, whole
from rnnbounds.theory.language.terms.gates import gated_run
from rnnbounds.theory.language.terms.variables import a, b, vector, x
from rnnbounds.theory.language.terms.vectors import computed, max_norm, state, weighted

_NORM = "of the certificate"
_CERTIFIED, _WHOLE = Norm(_NORM, weighted, "_{cert}"), Norm("Euclidean", whole, "_{whole}")
_apart = gated_run(a, x, k) - gated_run(b, x, k)


CERTIFICATES: tuple[Quantity, ...] = (
    certified("lam_told", "the printed λ", _NORM, r"\lambda^{(cert)}"),
    certified("eps_told", "a printed ε", "Euclidean", r"\varepsilon^{(cert)}"),
    Quantity(
        Symbol("k_told", integer=True), "certified", "the printed window k for that ε", "number",
        "k^{(cert)}",
    ),
    certified(
        "C_told", "the printed equivalence, ‖h‖₂ ≤ C‖s‖", _NORM + " to Euclidean", "C^{(cert)}"
    ),
    certified(
        "c_told", "the printed reach, ‖s‖ ≤ c‖s‖₂", "Euclidean to that " + _NORM, "c^{(cert)}"
    ),
    certified("S_told", "the printed drive", _NORM, "S^{(cert)}"),
    certified("R_told", "the printed radius of all states", _NORM, "R^{(cert)}"),
    certified("S_0_told", "the printed S_0", "Euclidean", "S_0^{(cert)}"),
    certified("B_h_told", "the printed B_h", "Euclidean", "B_h^{(cert)}"),
    certified("gain_told", "the printed gain", "Euclidean, by that of the inputs", "G^{(cert)}"),
    certified(
        "rounding_told", "the printed bound on rounding in the model's own dtype", "Euclidean",
        r"\varrho^{(cert)}",
    ),
    certified(
        "hidden_told", "the layers whose norms are not printed, 0 but for a cascade", "number",
        "l^{(cert)}",
    ),
    certified("B_u_told", "the printed B_h of a unitary network", "Euclidean", "B_h^{(u)}"),
    certified(
        "B_computed_told", "the printed bound on computed states of a unitary network", "Euclidean",
        r"\hat{B}^{(u)}",
    ),
    certified(
        "defect_told", "the printed orthogonality defect of a unitary network", "Frobenius",
        r"\delta_V",
    ),
    certified("drift_told", "the printed difference of runs in float64", "Euclidean", r"e_{64}"),
    certified(
        "drift_own_told", "the printed difference of runs, the model in its dtype", "Euclidean",
        r"e_{own}",
    ),
    certified(
        "exact_told", "the printed difference of runs in real arithmetic", "Euclidean",
        r"e_{exact}",
    ),
    EUCLIDEAN.of(
        "unitary_rounding", "a unitary network against its model, both in float64",
        r"\hat{u}_T-\hat{h}_T", unitary_computed(x, T) - computed_double(x, T), "_{64}",
    ),
    EUCLIDEAN.of(
        "unitary_rounding_own", "a unitary network in float64 against its model in its own dtype",
        r"\hat{u}_T-\hat{h}_T", unitary_computed(x, T) - computed(x, T), "_{own}",
    ),
    EUCLIDEAN.of(
        "unitary_computed", "the state that a unitary network computes in float64", r"\hat{u}_T",
        unitary_computed(x, T),
    ),
    _WHOLE.of("orbit_start", "two states", "s-s'", a - b),
    _CERTIFIED.of("orbit_start_told", "two states", "s-s'", a - b),
    EUCLIDEAN.of("orbit_gap", "the outputs k steps after two states", "h_k(s)-h_k(s')", _apart),
    _CERTIFIED.of("orbit_gap_told", "k steps after two states", "s_k(s)-s_k(s')", _apart),
    _CERTIFIED.of("state_told", "the state of a run from zero", "s_T", state(x, 0, T)),
    EUCLIDEAN.of("first_norm", "the output after the first step", "h_1", state(x, 0, 1)),
    measured(
        "share_used", "the largest share of a printed constant that is used", r"\max_i u_i/c_i",
        max_norm(vector("shares")), "share of the printed constant",
    ),
    EUCLIDEAN.of(
        "h_rounding_told", "computed in the model's own dtype against exact output",
        r"\hat{h}_T-h_T", computed(x, T) - state(x, 0, T), "_{own}",
    ),
)  # fmt: skip
