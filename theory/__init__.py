"""What is claimed: statements with explicit constants, their proofs and their false variants."""

from theory.claims.contraction.deep import CONTRACTION_DEEP
from theory.claims.contraction.gru import CONTRACTION_GRU
from theory.claims.contraction.linear import CONTRACTION_LINEAR
from theory.claims.contraction.lstm import CONTRACTION_LSTM
from theory.claims.contraction.rnn import CONTRACTION_RNN
from theory.claims.contraction.stacked import CONTRACTION_STACKED
from theory.claims.contraction.weighted import CONTRACTION_WEIGHTED
from theory.claims.gradients.cell_constants import CELL_CONSTANTS
from theory.claims.gradients.deep_gradient import DEEP_GRADIENT
from theory.claims.gradients.gradient_gap import GRADIENT_GAP
from theory.claims.gradients.gradient_lipschitz import GRADIENT_LIPSCHITZ
from theory.claims.gradients.loss_constants import LOSS_CONSTANTS
from theory.claims.gradients.tbptt_gap import TBPTT_GAP
from theory.claims.gradients.vanishing_gradient import VANISHING_GRADIENT
from theory.claims.memory.certificate import CERTIFICATE
from theory.claims.memory.input_robustness import INPUT_ROBUSTNESS
from theory.claims.memory.instability import INSTABILITY
from theory.claims.memory.linear_memory import LINEAR_MEMORY
from theory.claims.memory.prediction import PREDICTION
from theory.claims.memory.receptive_field import RECEPTIVE_FIELD
from theory.claims.memory.scan_memory import SCAN_MEMORY
from theory.claims.memory.state_bound import STATE_BOUND
from theory.claims.memory.truncation import TRUNCATION
from theory.claims.rounding.certified_norm import CERTIFIED_NORM
from theory.claims.rounding.rounding_state import ROUNDING_STATE
from theory.claims.training.end_to_end import END_TO_END
from theory.claims.training.projection import PROJECTION_CLAIM
from theory.claims.training.weight_gap import WEIGHT_GAP
from theory.claims.unitary.urnn_defect import URNN_DEFECT
from theory.claims.unitary.urnn_equivalence import URNN_EQUIVALENCE
from theory.claims.unitary.urnn_gradient import URNN_GRADIENT
from theory.claims.unitary.urnn_sigmoid import URNN_SIGMOID
from theory.claims.unitary.urnn_tight import URNN_TIGHT
from theory.errors import UnknownClaimError
from theory.language.claim import Claim

__all__ = ["CLAIMS", "claim"]

CLAIMS: tuple[Claim, ...] = (
    CONTRACTION_LINEAR,
    CONTRACTION_RNN,
    CONTRACTION_WEIGHTED,
    CONTRACTION_LSTM,
    CONTRACTION_GRU,
    CONTRACTION_DEEP,
    CONTRACTION_STACKED,
    STATE_BOUND,
    TRUNCATION,
    PREDICTION,
    INPUT_ROBUSTNESS,
    CERTIFICATE,
    LINEAR_MEMORY,
    SCAN_MEMORY,
    VANISHING_GRADIENT,
    DEEP_GRADIENT,
    INSTABILITY,
    RECEPTIVE_FIELD,
    CERTIFIED_NORM,
    ROUNDING_STATE,
    CELL_CONSTANTS,
    LOSS_CONSTANTS,
    GRADIENT_GAP,
    TBPTT_GAP,
    GRADIENT_LIPSCHITZ,
    PROJECTION_CLAIM,
    WEIGHT_GAP,
    END_TO_END,
    URNN_EQUIVALENCE,
    URNN_DEFECT,
    URNN_TIGHT,
    URNN_SIGMOID,
    URNN_GRADIENT,
)


def claim(id: str) -> Claim:
    """The claim of this id; raises UnknownClaimError, which lists the close matches."""
    for entry in CLAIMS:
        if entry.id == id:
            return entry
    raise UnknownClaimError("claim", id, [entry.id for entry in CLAIMS])
