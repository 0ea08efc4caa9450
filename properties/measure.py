"""Measured quantities: each name of the vocabulary bound once."""

from properties.measured import Measure, around
from properties.measures.gradients import GRADIENTS
from properties.measures.models import MODELS
from properties.measures.training import TRAINING

__all__ = ["ALL", "MEASURES", "Measure", "around"]

ALL = (*MODELS, *GRADIENTS, *TRAINING)
MEASURES = {measure.name: measure for measure in ALL}
