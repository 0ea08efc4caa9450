"""Measured quantities: each name of the vocabulary bound once."""

from properties.measured import Measure, around
from properties.measures.gates import GATES
from properties.measures.gradients import GRADIENTS
from properties.measures.limits import LIMITS
from properties.measures.models import MODELS
from properties.measures.training import TRAINING
from properties.measures.unitary import UNITARY

__all__ = ["ALL", "MEASURES", "Measure", "around"]

ALL = (*MODELS, *GRADIENTS, *TRAINING, *UNITARY, *LIMITS, *GATES)
MEASURES = {measure.name: measure for measure in ALL}
