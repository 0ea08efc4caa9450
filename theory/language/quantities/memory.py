"""Memory of linear recurrences: modes, Jordan blocks, and scans with input-dependent decays."""

from sympy import Abs, Expr

from rnnbounds.theory.language.quantities.norms import SPECTRAL, T, k
from rnnbounds.theory.language.quantity import Quantity, certified, measured, parameter, tag
from rnnbounds.theory.language.terms.memory import (
    decay,
    decays,
    least_decay,
    mean_input,
    mode,
    scan,
    shifted,
)
from rnnbounds.theory.language.terms.variables import x
from rnnbounds.theory.language.terms.vectors import entry, norm

_MODULUS, _SHARE, _VALUE = "modulus", "share that is kept", "absolute value"


def _kept(name: str, meaning: str, notation: str, definition: Expr) -> Quantity:
    return measured(name, meaning, notation, definition, _SHARE)


MEMORY: tuple[Quantity, ...] = (
    *tag(
        "modes jordan",
        parameter("mode_radius", "|λ| of the eigenvalue, known exactly", r"|\lambda|"),
    ),
    *tag("modes", parameter("mode_real", "|Re λ| of the eigenvalue", r"|Re \lambda|")),
    *tag(
        "jordan",
        parameter("nilpotency", "m, the least power of N = A − ρI that vanishes", "m_N"),
    ),
    *tag(
        "scan",
        parameter("log_concave", "1 where log a is concave in the input", r"[\log a]"),
        certified("decay_max", "the largest decay on the input set", _SHARE, r"\bar{a}"),
    ),
    *tag(
        "modes",
        measured(
            "mode_gap", "full against truncated state of one mode", r"|h_T-h_T^{(k)}|_j",
            norm(mode(x, 0, T) - mode(x, T - k, k)), _MODULUS,
        ),
        measured(
            "mode_start", "one mode at the start of the window", r"|h_{T-k}|_j",
            norm(mode(x, 0, T - k)), _MODULUS,
        ),
    ),
    *tag(
        "jordan",
        SPECTRAL.of("power_norm", "a power of the recurrent matrix", "A^k", shifted(0, k)),
    ),
    *tag(
        "scan",
        measured(
            "scan_gap", "full against truncated state of one unit of a scan", r"|s_T-s_T^{(k)}|_j",
            Abs(scan(x, 0, T) - scan(x, T - k, k)), _VALUE,
        ),
        measured(
            "scan_start", "one unit of a scan at the start of the window", r"|s_{T-k}|_j",
            Abs(scan(x, 0, T - k)), _VALUE,
        ),
        _kept(
            "decay_product", "the product of the decays over the window", r"\prod_t a(x_t)",
            decays(x, T - k, k),
        ),
        _kept("decay_last", "the decay at the last input", "a(x_T)", decay(entry(x, T))),
        _kept(
            "decay_least", "the least decay over the window", r"\min_t a(x_t)",
            least_decay(x, T - k, k),
        ),
        _kept("decay_zero", "the decay at the input 0", "a(0)", decay(0)),
        _kept(
            "decay_of_mean", "the decay at the mean of the window's inputs", r"a(\bar{x})",
            decay(mean_input(x, T - k, k)),
        ),
    ),
)  # fmt: skip
