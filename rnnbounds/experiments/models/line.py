"""Rows of the table and the picture of models, from their runs in the record alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from rnnbounds.experiments.engine.figures import split_evenly
from rnnbounds.experiments.engine.record import Run
from rnnbounds.reports.pages.experiment import Drawing
from rnnbounds.reports.pages.figures.bracket import MOST_BARS, Bracket, draw_brackets
from rnnbounds.reports.pages.figures.dots import shorten_label
from rnnbounds.reports.pages.text import NOTHING

ATTACKED, SEEN, STATED, SHARE = "k attacked", "k seen", "k stated", "share stated"
HELD = "held-out, "
NEXT = "what to do next"
COLUMNS = (
    "learns", "model", "trained", "held-out loss", "attacked", "certified", "seen",
    "stated of windows drawn alike", NEXT,
)  # fmt: skip


@dataclass(frozen=True)
class ModelLine:
    """One model; see `COLUMNS`."""

    run: Run

    @property
    def label(self) -> str:
        """The model in words."""
        return f"{self.run.task}, {self.run.variant} {self.run.model}"

    @property
    def certified(self) -> int | None:
        """k."""
        return None if self.run.certificate is None else self.run.certificate.k

    @property
    def attacked(self) -> int:
        """No k below it will do; 0 if nothing was found."""
        return int(self.run.figures[ATTACKED] or 0)

    @property
    def verdict(self) -> str:
        """That of the certificate."""
        return "" if self.run.certificate is None else self.run.certificate.verdict

    @property
    def is_answered(self) -> bool:
        """True if the run has a certified memory length or a next step, and a statement on data."""
        has_memory = self.certified is not None or bool(self.run.told.get(NEXT))
        return has_memory and bool(self.run.told.get("stated"))

    @property
    def problem(self) -> str:
        """Contradiction of a certified statement, in words; empty if there is none."""
        k = self.certified
        if k is not None and self.attacked > k:
            return f"k = {k} is certified, and no k below {self.attacked} will do"
        if self.run.variant == "projected" and self.verdict != "certified":
            return f"projected, and {self.verdict}"
        return ""

    @property
    def cells(self) -> tuple[str, ...]:
        """The row."""
        run, notes = self.run, self.run.told
        loss, unit = next(
            (value, name.removeprefix(HELD))
            for name, value in run.figures.items()
            if name.startswith(HELD)
        )
        return (
            run.task, run.model, run.variant,
            NOTHING if loss is None else f"{loss:.3g} {unit}",
            f"≥ {self.attacked}" if self.attacked else NOTHING,
            self.verdict if self.certified is None else str(self.certified),
            self.seen, self.stated, notes.get(NEXT, NOTHING),
        )  # fmt: skip

    @property
    def seen(self) -> str:
        """The k from which on all windows were within ε."""
        k = self.run.figures[SEEN]
        return NOTHING if k is None else str(int(k))

    @property
    def stated(self) -> str:
        """The share, rounded down to a tenth of a per cent, and k."""
        k, share = self.run.figures.get(STATED), self.run.figures.get(SHARE)
        if k is None or share is None:
            length = self.run.told.get("length")
            return "nothing" if length is None else f"no k below {length}"
        return f"≥ {int(1000 * Fraction(share)) / 10:g} % within ε at k = {int(k)}"


_LEGEND = (
    ("short", "attacked: too short"), ("open", "not known"), ("enough", "certified: long enough"),
)  # fmt: skip


def bracket_drawings(runs: Sequence[Run]) -> list[Drawing]:
    """A figure a task, or more than one for many models."""
    drawings = []
    for task in dict.fromkeys(run.task for run in runs):
        lines = [ModelLine(run) for run in runs if run.task == task]
        for part in split_evenly(lines, MOST_BARS):
            bars = [
                Bracket(
                    shorten_label(f"{line.run.model}, {line.run.variant}"),
                    line.attacked,
                    line.certified,
                )
                for line in part
            ]
            drawings.append(
                Drawing(draw_brackets(bars), _LEGEND, f"{task}: windows k by what is proved.")
            )
    return drawings
