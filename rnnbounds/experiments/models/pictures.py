"""The brackets of models, drawn: which windows are proved too short, and which long enough."""

from collections.abc import Sequence

from rnnbounds.experiments.engine.figures import split
from rnnbounds.experiments.engine.record import Run
from rnnbounds.experiments.models.line import Line
from rnnbounds.reports.pages.experiment import Drawing
from rnnbounds.reports.pages.figures.bracket import ROWS, Bracket, bracket
from rnnbounds.reports.pages.figures.dots import cut

LEGEND = (
    ("short", "attacked: too short"), ("open", "not known"), ("enough", "certified: long enough"),
)  # fmt: skip


def pictures(runs: Sequence[Run]) -> list[Drawing]:
    """A figure a task, or more than one for many models."""
    found = []
    for task in dict.fromkeys(run.task for run in runs):
        lines = [Line(run) for run in runs if run.task == task]
        for part in split(lines, ROWS):
            bars = [
                Bracket(cut(f"{one.run.model}, {one.run.variant}"), one.attacked, one.certified)
                for one in part
            ]
            found.append(Drawing(bracket(bars), LEGEND, f"{task}: windows k by what is proved."))
    return found
