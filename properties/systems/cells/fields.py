"""What may be said of cells of any kind, with a loss, and trained or not."""

from __future__ import annotations

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.properties.systems.spec import spec_of

CELL = "n d T K regime inputs lam scale bias epsilon loss target distance alpha steps schedule"
MIXED = ("zero", "driven", "signs", "gaussian")
SCANS = ("driven", "gaussian")
ANY = tuple(ACTIVATIONS)

LstmProjected = spec_of("lstm-projected", CELL, regimes=MIXED)
Leaky = spec_of("leaky", f"activation {CELL}", regimes=MIXED, activations=ANY)
Deep = spec_of("deep", f"activation {CELL} layers", regimes=MIXED, activations=ANY)
Diagonal = spec_of(
    "diagonal", CELL, regimes=("zero", "driven", "real", "complex", "lru", "s4d"), linear=True
)
MinGru, MinLstm, Selective = (
    spec_of(kind, CELL, regimes=SCANS, linear=True) for kind in ("min-gru", "min-lstm", "selective")
)
Stack = spec_of("stack", f"{CELL} layers", regimes=("driven", "rnn", "gru", "lstm"))
