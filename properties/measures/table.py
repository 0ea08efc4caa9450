"""Measured quantities: each name of the vocabulary bound once."""

from dataclasses import replace

from properties.measures.causal import CAUSAL_GAPS
from properties.measures.cells import ALSO, CELLS
from properties.measures.certified.models import ALSO as ALSO_CERTIFIED
from properties.measures.certified.models import CERTIFICATES
from properties.measures.certified.unitary import ALSO as ALSO_UNITARY
from properties.measures.certified.unitary import SHIPPED
from properties.measures.gates import GATES
from properties.measures.gradients import GRADIENTS
from properties.measures.layers import LAYERS
from properties.measures.limits import LIMITS
from properties.measures.measure import Measure, around
from properties.measures.memory import MEMORY
from properties.measures.models import MODELS
from properties.measures.responses import OF_CELLS, RESPONSES
from properties.measures.training import TRAINING
from properties.measures.unitary import UNITARY

__all__ = ["ALL", "MEASURES", "Measure", "around"]

ALL = (
    *(*MODELS, *GRADIENTS, *TRAINING, *UNITARY, *LIMITS, *GATES, *CELLS, *CAUSAL_GAPS),
    *(*LAYERS, *MEMORY, *RESPONSES, *OF_CELLS, *CERTIFICATES, *SHIPPED),
)
OF_CELLS_TOO = ALSO | ALSO_CERTIFIED | ALSO_UNITARY
MEASURES = {
    measure.name: replace(measure, of_cells=OF_CELLS_TOO.get(measure.name, measure.of_cells))
    for measure in ALL
}
