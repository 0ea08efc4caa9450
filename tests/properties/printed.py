"""The quantity that judges each printed number, by its place in the document; what has none."""

import re
from collections.abc import Iterator
from typing import Any

from rnnbounds.properties.measures.certified.shares import RECOMPUTATIONS

SHARE = "share_used"  # the largest share that is used of any constant in SHARES
GAIN, GAP, NORM = "gain_told", "unitary_gap", "orbit_gap_told"
# That of each number of a layer's norm; by what name it stands among the constants, too.
LAYER = {
    "lambda": "lam_told", "drive": "S_told", "equivalence": "C_told", "reach": "c_told",
    "radius": "R_told", "weights[]": NORM, "weights[][]": NORM,
}  # fmt: skip
# What stands of another norm, in which a constant is less: the numbers of the certificate that asks
# for that norm.
OTHER = {
    **LAYER, "B_h": "B_h_told", "layers[].box[]": SHARE, "layers[].coupling": SHARE,
    "layers[].input_bound": SHARE,
    **{f"layers[].norm.{place}": quantity for place, quantity in LAYER.items()},
}  # fmt: skip
CONSTANTS = {"lambda": "lam", **{name: name for name in ("drive", "equivalence", "reach")}}
# The quantity of each number of a certificate, by its place: [] is any place of a list, _l any
# layer of a stack.
CERTIFY = {
    "lambda": "lam_told",
    "truncation[].eps": "eps_told",
    "truncation[].k": "k_told",
    "norms_tried[].lambda": "lam_told",  # of the certificate that asks for that norm
    "norms_tried[].k": "k_told",
    "rounding.state": "rounding_told",
    "weights[]": NORM,
    "weights[][]": NORM,
    "shape.n": SHARE,
    "shape.d": SHARE,
    "input_bound": SHARE,
    "inputs.low[]": SHARE,
    "inputs.high[]": SHARE,
    "inputs.rows": SHARE,
    "constants.equivalence": "C_told",
    "constants.reach": "c_told",
    "constants.drive": "S_told",
    "constants.radius": "R_told",
    "constants.S_0": "S_0_told",
    "constants.B_h": "B_h_told",
    "constants.gain": GAIN,
    "constants.lam_l": "lam_told",
    "box[]": SHARE,
    "layers[].box[]": SHARE,
    "layers[].coupling": SHARE,
    "layers[].input_bound": SHARE,
    **{f"layers[].norm.{place}": quantity for place, quantity in LAYER.items()},
    **{f"other_norms.gain.{place}": quantity for place, quantity in OTHER.items()},
    **{f"other_norms.rounding.{place}": quantity for place, quantity in OTHER.items()},
    "constants.mu_l": SHARE,
    "constants.t_l": SHARE,
    **{f"constants.{name}": SHARE for name in RECOMPUTATIONS},
    "readout.norm": SHARE,
    "readout.outputs": SHARE,
}
UNITARY_FILE = {
    "shape.n": SHARE,
    "shape.d": SHARE,
    "states": SHARE,
    "input_bound": SHARE,
    "initial_state[]": GAP,
    "scaling[]": GAP,
    "constants.W_norm": SHARE,
    "constants.U_norm": SHARE,
    "constants.B_h": "B_u_told",
    "constants.B_h_computed": "B_computed_told",
    "orthogonality_defect": "defect_told",
    "difference.exact": "exact_told",
    "difference.float64": "drift_told",
    "difference.own_dtype": "drift_own_told",
}
ATTACK = {
    **{place: CERTIFY[place] for place in CERTIFY if place.startswith("input")},
    "readout.outputs": SHARE,
    "no_k_below[].eps": SHARE,
    "no_k_below[].k": SHARE,
    "witnesses[].eps": SHARE,
    "witnesses[].k": SHARE,
    "witnesses[].gap": SHARE,
    "witnesses[].length": SHARE,
    "witnesses[].inputs[][]": SHARE,
}
# What no claim judges, and why; no more than five.
EXCEPTIONS = {
    r"witness\..*": "a refutation bounds nothing: it is proved in balls, and tests prove it again",
    r"rounds_to_one\..*": "a count that keeps a model from being certified, and bounds nothing",
    r"training\.(steps|alpha|length|target_asked)": "the run that is asked about, as it was asked",
    r"training\.windows\[\]\..*": "Theorem 1 at constants that are judged; the claim end-to-end",
    r"(findings|(other_norms\.\w+\.)?layers\[\]\.bounded)\b.*": (
        "the checker proves them anew; what follows is judged"
    ),
}
MEND = (
    "{} is printed, and no claim judges it: read it in properties/systems/certified/constants.py "
    "or in properties/measures/certified/shares.py, state what it bounds in the claim certificate, "
    "and enter it in this test"
)


def numbers(document: Any, place: str = "") -> Iterator[tuple[str, float]]:
    """Every number of a document, with its place."""
    if isinstance(document, dict):
        for name, value in document.items():
            below = re.sub(r"_l\d+$", "_l", name) if place == "constants" else name
            yield from numbers(value, f"{place}.{below}".lstrip("."))
    elif isinstance(document, list | tuple):
        for value in document:
            yield from numbers(value, f"{place}[]")
    elif isinstance(document, int | float) and not isinstance(document, bool):
        yield place, float(document)


def judged(place: str, table: dict[str, str]) -> str | None:
    """The quantity of a number; a layer's constants have those of a model."""
    if any(re.fullmatch(pattern, place) for pattern in EXCEPTIONS):
        return "excepted"
    return table.get(place) or table.get(place.removesuffix("_l"))


def strangers(document: Any, table: dict[str, str]) -> list[str]:
    """List the numbers that are neither judged nor excepted, with the remedy."""
    places = dict.fromkeys(place for place, _ in numbers(document))
    return [MEND.format(place) for place in places if judged(place, table) is None]
