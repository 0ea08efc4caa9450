"""The yearly sunspot number as a task."""

import torch

from rnnbounds.experiments.tasks.score import Numbers
from rnnbounds.experiments.tasks.sunspot_numbers import load_series
from rnnbounds.experiments.tasks.task import PARTS, Part, Task


def sunspots() -> Task:
    """The next year's number; the last 60 years are held out, the 60 before them validate."""
    series = load_series()
    x, ends = series.x.float(), (0, series.split - 60, series.split, series.x.shape[1] - 1)
    parts = {}
    for name, start, end in zip(PARTS, ends[:-1], ends[1:], strict=True):
        y = torch.full((1, end, 1), torch.nan)
        y[:, start:] = x[:, start + 1 : end + 1]
        parts[name] = Part(x[:, :end], y)
    score = Numbers("sunspots, root mean square", series.unit)
    return Task("sunspots", series.source, score, None, 1, 1, parts, size=1)
