"""The worst instance of a claim as arrays, from which a page draws it."""

from rnnbounds.reports.records.checks.check import Check, Record
from rnnbounds.reports.records.checks.curve import Point

NumberTable = tuple[tuple[float, ...], ...]


class InstanceArrays(Record, frozen=True, kw_only=True):
    """The runs of one check, small enough to be drawn, with the weights of its system by name.

    `states` has h_0 … h_T (T + 1 rows) on the `inputs` x_1 … x_T. `others` has the states of the
    second run: of the truncated model from time T − k on (k + 1 rows), or under the inputs
    `other_inputs` (T + 1 rows); it is empty where there is one run. `sides` has the left side and
    its bound at each window k, or at T alone where the statement has no window.
    """

    check: Check
    weights: dict[str, NumberTable]
    inputs: NumberTable
    states: NumberTable
    others: NumberTable = ()
    other_inputs: NumberTable = ()
    sides: tuple[Point, ...] = ()

    def __post_init__(self) -> None:
        steps = len(self.inputs)
        if len(self.states) != steps + 1 or len(self.others) > steps + 1:
            raise ValueError("the runs that are drawn have other lengths than their inputs")
        if self.other_inputs and len(self.other_inputs) != steps != len(self.others) - 1:
            raise ValueError("the second run has another length than its inputs")
        for table in (self.inputs, self.states + self.others, *self.weights.values()):
            if len({len(row) for row in table}) > 1:
                raise ValueError("the rows of a table differ in length")

    @property
    def window(self) -> int | None:
        """The k of the truncated run; None where no run is truncated."""
        return len(self.others) - 1 if self.others and not self.other_inputs else None
