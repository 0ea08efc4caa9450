"""Shared by all tests: one torch thread, and Hypothesis without chance and without a clock."""

import torch
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None, database=None)
settings.load_profile("ci")
torch.set_num_threads(1)
