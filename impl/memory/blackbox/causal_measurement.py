"""The record of a model that was measured as it is run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from rnnbounds.impl.certificate.notebook import Row, Shown
from rnnbounds.impl.memory.blackbox.gaps import OutputGap
from rnnbounds.impl.memory.curve import CurveRow, draw_curve, forgetting_curve
from rnnbounds.impl.memory.statement import Statement, least_window
from rnnbounds.impl.numbers.json_values import as_json

SCHEMA = "rnnbounds/causal-measurement/1"


@dataclass(frozen=True)
class RunInfo:
    """How a model was run. inputs: the dtype, int64 for tokens. outputs: p. causal: True if outputs
    were tried on changed later inputs, False if the model gives one output a window. batch: at most
    so many windows at once. sha256: of a module's parameters and buffers, None for a function."""

    inputs: str
    outputs: int
    device: str
    batch: int
    causal: bool
    sha256: str | None


@dataclass(frozen=True, eq=False, repr=False)
class CausalMeasurement(Shown):
    """The measured memory of any causal model; see `to_json` for the record that is written.

    gaps: of the first windows (M, len(ks)), between the output after a whole window and after its
    last k inputs alone, in outputs as they were computed. largest: the largest ‖y_T‖₂ among them.
    statement: about all windows drawn like these, run as here, or None with the reason `unstated`;
    `spare` of the windows that k was chosen on were allowed to be beyond ε.

    >>> seen = rnnbounds.measure(torch.nn.Linear(8, 8), torch.randn(200, 20, 8), eps=0.1)
    >>> seen.window(0.1), seen.curve[0]["worst"]
    """

    model: str
    run: RunInfo
    data: str
    windows: int
    length: int
    gap: OutputGap
    ks: tuple[int, ...]
    gaps: Tensor
    largest: float
    eps: tuple[float, ...]
    statement: Statement | None
    unstated: str | None
    spare: int

    @property
    def curve(self) -> list[CurveRow]:
        """The forgetting curve: for each k the mean and quantiles of the gap, and the worst."""
        rows = forgetting_curve(self.ks, self.gaps)
        means = self.gaps.mean(0).tolist()
        return [{"k": row["k"], "mean": mean, **row} for row, mean in zip(rows, means, strict=True)]

    def window(self, epsilon: float) -> int | None:
        """The least k < T, of the grid, from which on every gap that was seen is within ε."""
        return least_window(self.ks, self.gaps, epsilon)

    def line(self) -> str:
        """From which k on every window was within ε."""
        parts = ", ".join(
            f"{self.gap.within(eps)} {'at no k' if k is None else f'from k = {k} on'}"
            for eps, k in ((eps, self.window(eps)) for eps in self.eps)
        )
        where = f"{len(self.gaps)} windows of {self.length} inputs"
        return f"{self.model}: {self.gap.formula}, seen on {where}: {parts}"

    def rows(self) -> Sequence[Row]:
        """The forgetting curve."""
        return self.curve

    def draw(self, axes: Any) -> None:
        """The forgetting curve, and each ε."""
        draw_curve(axes, self.curve, self.eps, self.line())

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data."""
        run = self.run
        record: dict[str, Any] = as_json({
            "schema": SCHEMA,
            "kind": "on your data, as computed",
            "model": self.model,
            "sha256": run.sha256,
            "run": {
                "inputs": run.inputs, "outputs": run.outputs, "device": run.device,
                "batch": run.batch, "causality": "tried" if run.causal else "not tried",
            },
            "data": {"source": self.data, "windows": self.windows, "length": self.length},
            "gap": {"name": self.gap.name, "formula": self.gap.formula},
            "largest_output": self.largest,
            "forgetting": {"windows": len(self.gaps), "curve": self.curve},
            "memory": [{"eps": eps, "k": self.window(eps)} for eps in self.eps],
            "statement": None if self.statement is None else self.statement.to_json(),
            "spare": self.spare,
            "unstated": self.unstated,
        })  # fmt: skip
        return record
