"""The constants of a certificate: how each is written, and its definition in a line.

Names that end in _l0, _l1, … are those of a stack's layers, the lowest first.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_LAYER = re.compile(r"_l(\d+)$")
_GATES = {
    "i": "input gate", "f": "forget gate", "o": "output gate", "z": "candidate",
    "r": "reset gate", "n": "candidate",
}  # fmt: skip


@dataclass(frozen=True)
class Constant:
    """A constant's symbol and its definition."""

    symbol: str
    meaning: str


def _gate_constants() -> dict[str, Constant]:
    bars = {"i": "ī", "f": "f̄", "o": "ō", "z": "z̄", "r": "r̄"}
    bounds = {
        f"{gate}_bar": Constant(bar, f"the largest value of the {_GATES[gate]}, in modulus")
        for gate, bar in bars.items()
    }
    return bounds | {
        f"W_{gate}_norm": Constant(f"‖W_{gate}‖_∞", f"of the recurrent matrix of the {name}")
        for gate, name in _GATES.items()
    }


CONSTANTS: Mapping[str, Constant] = {
    "gain": Constant("gain", "inputs δ apart drive outputs at most gain · δ apart, from one state"),
    "B_x": Constant("B_x", "bound on an input, ‖x_t‖₂"),
    "B_h": Constant("B_h", "bound on the output, ‖h_t‖₂ for all t"),
    "S_0": Constant("S_0", "the drive in the Euclidean norm, sup ‖φ(0, x)‖₂"),
    "drive": Constant("S", "the drive in the norm of the certificate, sup ‖φ(0, x)‖"),
    "radius": Constant("R", "bound on a state in that norm that needs no contraction"),
    "equivalence": Constant("C", "‖h‖₂ ≤ C‖s‖: the norm of the certificate against the Euclidean"),
    "reach": Constant("c", "‖s‖ ≤ c‖s‖₂: the Euclidean norm against that of the certificate"),
    "L_rho": Constant("L_ρ", "the largest slope of the activation"),
    "M_rho": Constant("M_ρ", "the largest value of the activation, in modulus"),
    "W_norm": Constant("‖W‖₂", "spectral norm of the recurrent matrix"),
    "U_norm": Constant("‖U‖₂", "spectral norm of the input matrix"),
    "L_x": Constant("L_x", "Lipschitz constant of a step in its input"),
    "layers": Constant("L", "number of layers"),
    "lam": Constant("λ", "factor of the layer"),
    "mu": Constant("μ", "how far the layer below moves it, a unit in its norm"),
    "t": Constant("t", "its weight in the norm of the stack"),
    "depth": Constant("depth", "transitions a step"),
    "leak_low": Constant("a", "the least leak"),
    "leak_high": Constant("ā", "the largest leak"),
    "B_c": Constant("B_c", "bound on the cells, |c_j|"),
    "h_bar": Constant("h̄", "bound on the outputs, |h_j|"),
    "tau": Constant("τ", "tanh B_c"),
    "a": Constant("a", "¼‖W_i‖z̄ + ī‖W_z‖ + ¼‖W_f‖B_c in ∞-norms: by how much h moves c"),
    "q": Constant("q", "¼‖W_o‖_∞ τ: by how much h moves h through the output gate"),
    "theta": Constant("θ", "Miller and Hardt's: below 1, λ ≤ 1 − (1 − θ)(1 − f̄) in the ∞-norm"),
    "z_low": Constant("z", "the least value of the update gate"),
    "nu_bar": Constant("ν̄", "the largest value of the candidate, in modulus"),
    "kappa": Constant("κ", "Lipschitz constant of the candidate in the state, in the ∞-norm"),
    **_gate_constants(),
}  # fmt: skip


def find_constant(name: str, cell: str) -> Constant:
    """A constant by its name in the certificate of such a cell, with its layer if it is of one.

    A name that is not in the table, as of a cell of one's own, stands for itself.
    """
    layer = _LAYER.search(name)
    base_name = _LAYER.sub("", name)
    definition = CONSTANTS.get(base_name, Constant(base_name, ""))
    if "gru" in cell and base_name in ("z_bar", "W_z_norm"):  # of an LSTM z is the candidate
        definition = Constant(
            definition.symbol, definition.meaning.replace("candidate", "update gate")
        )
    if layer is None:
        return definition
    return Constant(f"{definition.symbol}, layer {int(layer[1]) + 1}", definition.meaning)


def is_lower_bound(name: str) -> bool:
    """True of the few that are bounds from below."""
    return _LAYER.sub("", name).endswith("_low")
