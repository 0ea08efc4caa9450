"""What is claimed: statements with explicit constants, their proofs and their false variants."""

from theory.cell_constants import CELL_CONSTANTS
from theory.certified_norm import CERTIFIED_NORM
from theory.claim import Claim
from theory.contraction_deep import CONTRACTION_DEEP
from theory.contraction_gru import CONTRACTION_GRU
from theory.contraction_linear import CONTRACTION_LINEAR
from theory.contraction_lstm import CONTRACTION_LSTM
from theory.contraction_rnn import CONTRACTION_RNN
from theory.contraction_stacked import CONTRACTION_STACKED
from theory.contraction_weighted import CONTRACTION_WEIGHTED
from theory.deep_gradient import DEEP_GRADIENT
from theory.end_to_end import END_TO_END
from theory.errors import UnknownClaimError
from theory.gradient_gap import GRADIENT_GAP
from theory.gradient_lipschitz import GRADIENT_LIPSCHITZ
from theory.input_robustness import INPUT_ROBUSTNESS
from theory.instability import INSTABILITY
from theory.linear_memory import LINEAR_MEMORY
from theory.loss_constants import LOSS_CONSTANTS
from theory.prediction import PREDICTION
from theory.projection import PROJECTION_CLAIM
from theory.receptive_field import RECEPTIVE_FIELD
from theory.rounding_state import ROUNDING_STATE
from theory.scan_memory import SCAN_MEMORY
from theory.state_bound import STATE_BOUND
from theory.tbptt_gap import TBPTT_GAP
from theory.truncation import TRUNCATION
from theory.urnn_defect import URNN_DEFECT
from theory.urnn_equivalence import URNN_EQUIVALENCE
from theory.urnn_gradient import URNN_GRADIENT
from theory.urnn_sigmoid import URNN_SIGMOID
from theory.urnn_tight import URNN_TIGHT
from theory.vanishing_gradient import VANISHING_GRADIENT
from theory.weight_gap import WEIGHT_GAP

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
