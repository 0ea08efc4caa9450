"""What is claimed: statements with explicit constants, their proofs and their false variants."""

from theory.certified_norm import CERTIFIED_NORM
from theory.claim import Claim
from theory.contraction_linear import CONTRACTION_LINEAR
from theory.contraction_rnn import CONTRACTION_RNN
from theory.contraction_weighted import CONTRACTION_WEIGHTED
from theory.errors import UnknownClaimError
from theory.instability import INSTABILITY
from theory.prediction import PREDICTION
from theory.receptive_field import RECEPTIVE_FIELD
from theory.rounding_state import ROUNDING_STATE
from theory.state_bound import STATE_BOUND
from theory.truncation import TRUNCATION
from theory.vanishing_gradient import VANISHING_GRADIENT

__all__ = ["CLAIMS", "claim"]

CLAIMS: tuple[Claim, ...] = (
    CONTRACTION_LINEAR,
    CONTRACTION_RNN,
    CONTRACTION_WEIGHTED,
    STATE_BOUND,
    TRUNCATION,
    PREDICTION,
    VANISHING_GRADIENT,
    INSTABILITY,
    RECEPTIVE_FIELD,
    CERTIFIED_NORM,
    ROUNDING_STATE,
)


def claim(id: str) -> Claim:
    """The claim of this id; raises UnknownClaimError, which lists the close matches."""
    for entry in CLAIMS:
        if entry.id == id:
            return entry
    raise UnknownClaimError("claim", id, [entry.id for entry in CLAIMS])
