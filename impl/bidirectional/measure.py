"""Measured memory of a model in both directions, on recorded windows.

The gap of a window of T inputs at k is ‖y_t − y_t^{[t − k, t + k]}‖₂ at its middle input t, of the
whole run and of the run on the inputs t − k, …, t + k alone, both from zero states at both ends;
with a readout that of C y. The statement is that of `impl.memory.statement`, with these gaps.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.base import Floats, Rows
from rnnbounds.impl.certificate.notebook import Row, Shown
from rnnbounds.impl.certificate.record import EPSILONS, epsilons_of
from rnnbounds.impl.errors import InputError, exactly
from rnnbounds.impl.memory.curve import CurveRow, draw_curve, forgetting_curve
from rnnbounds.impl.memory.exact import Decided
from rnnbounds.impl.memory.measure import CURVE, LENGTH, held_part
from rnnbounds.impl.memory.repeats import reason_unstated
from rnnbounds.impl.memory.running import Running, RunningError
from rnnbounds.impl.memory.runs import Runner, grid
from rnnbounds.impl.memory.statement import (
    CUT,
    FOUND,
    PRESUPPOSED,
    SHARE,
    Statement,
    least_window,
    require_enough,
    stated,
)
from rnnbounds.impl.models.bidirectional import LoadedBidirectional
from rnnbounds.impl.models.readout import Readout
from rnnbounds.impl.numbers.json_values import as_json
from rnnbounds.impl.numbers.outward import add_up, norm_up
from rnnbounds.impl.reading.data.sequences import Data, DataSource, read_data

SCHEMA = "rnnbounds/bidirectional-measurement/1"
V = TypeVar("V", bound=Any)


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredBoth(Shown):
    """The measured memory of a model in both directions; `to_json` is the record that is written.

    windows, length: so many windows of so many inputs, of which the output at input `position`
    (from 0) is looked at. ks: the grid of k; gaps (M, len(ks)). statement: of all windows drawn
    like these, or None with the reason `unstated`.

    >>> seen = rnnbounds.measure(torch.nn.GRU(1, 8, bidirectional=True), torch.randn(200, 30, 1))
    >>> seen.window(0.01), seen.curve[0]["worst"]
    """

    model: LoadedBidirectional
    data: str
    windows: int
    length: int
    position: int
    ks: tuple[int, ...]
    gaps: Tensor
    eps: tuple[float, ...]
    statement: Statement | None
    unstated: str | None = None

    @property
    def curve(self) -> list[CurveRow]:
        """The forgetting curve: for each k the quantiles of the gap, and the worst seen."""
        return forgetting_curve(self.ks, self.gaps)

    def window(self, epsilon: float) -> int | None:
        """The least k of the grid from which on every gap that was seen is within ε, or None."""
        return least_window(self.ks, self.gaps, epsilon)

    def line(self) -> str:
        """From which k on every window was within ε."""
        told = ", ".join(
            f"within {exactly(eps)} {'at no k' if k is None else f'from k = {k} either side on'}"
            for eps, k in ((eps, self.window(eps)) for eps in self.eps)
        )
        where = f"{self.windows} windows of {self.length} inputs"
        return f"{self.model.source}: {self.model.name}, seen on {where}: {told}"

    def rows(self) -> list[Row]:
        """The forgetting curve."""
        return list(self.curve)

    def draw(self, axes: Any) -> None:
        """The forgetting curve, and each ε."""
        draw_curve(axes, self.curve, self.eps, self.line(), "k either side")

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data; what is infinite or no number is null."""
        read = self.model.readout
        record: dict[str, Any] = as_json({
            "schema": SCHEMA,
            "model": self.model.source,
            "cell": self.model.name,
            "shape": {"n": self.model.n, "d": self.model.d},
            "sha256": self.model.digest,
            **({} if read is None else {"readout": read.to_json()}),
            "data": {"source": self.data, "windows": self.windows, "length": self.length},
            "position": self.position,
            "forgetting": {"windows": len(self.gaps), "curve": self.curve},
            "memory": [{"eps": eps, "k": self.window(eps)} for eps in self.eps],
            "statement": None if self.statement is None else self.statement.to_json(),
            "unstated": self.unstated,
        })  # fmt: skip
        return record


def measure_both(
    model: LoadedBidirectional,
    data: DataSource | Data,
    *,
    window: int | None = None,
    eps: float | Sequence[float] = EPSILONS,
    confidence: float = 0.99,
    share: float | None = None,
    input_bound: float | None = None,
) -> MeasuredBoth:
    """Run a model on data, in full and on windows, and state what follows for data drawn alike.

    Arguments and errors as in `impl.memory.measure`.
    """
    read, eps = read_data(data).require_width(model.d), epsilons_of(eps)
    if input_bound is not None:
        read.require_of(input_bound)
    if window is None and read.one:
        window = min(read.T, LENGTH, max(2, read.T // 8))
    held = read.windows(window)
    M, T = len(held), held.T
    t, unstated = T // 2, reason_unstated(read, held)
    if share is not None and unstated is not None:
        raise unstated
    alpha, needed = require_enough(M, len(eps), confidence, share)
    ks, runs = grid(max(t, T - 1 - t)), _Runs.of(model)
    with torch.no_grad():
        gaps = runs.gaps(held_part(held, slice(0, min(M, CURVE))), t, ks)
        if not bool(torch.isfinite(gaps).all()):
            raise InputError(
                f"{model.source} overflows on {read.source}; scale the inputs as in training"
            )
        statement = None
        if unstated is None:
            first, some = M // 2, min(M // 2, len(gaps))
            out = min(M - first, max(2 * needed, CURVE))
            x = held_part(held, slice(first, first + out))
            chosen = [(one, least_window(ks, gaps[:some], one)) for one in eps]
            lines = tuple(
                stated(one, k, None if k is None else runs.within(x, t, k, one), alpha)
                for one, k in chosen
            )
            told = PRESUPPOSED + (CUT if held.sequences < M else "") + FOUND
            aim = SHARE if share is None else share
            statement = Statement(confidence, some, out, T, lines, aim, needed, told)
    reason = None if unstated is None else str(unstated)
    return MeasuredBoth(model, read.source, M, T, t, ks, gaps, eps, statement, reason)


@dataclass(frozen=True, eq=False)
class _Runs:
    """Runners of all layers' cells, (forward, reverse), and the readout if any."""

    layers: tuple[tuple[Runner, Runner], ...]
    readout: Readout | None

    @classmethod
    def of(cls, model: LoadedBidirectional) -> "_Runs":
        layers = tuple((Runner.of(both.forward), Runner.of(both.reverse)) for both in model.layers)
        return cls(layers, model.readout)

    def gaps(self, x: Tensor, t: int, ks: Sequence[int]) -> Tensor:
        """‖y_t − y_t^{[t − k, t + k]}‖₂ of windows x (M, T, d), in float64: (M, len(ks))."""

        def output(start: int, stop: int) -> Rows:
            part = [Rows(x[None, :, s]) for s in range(start, stop)]
            return self._output(Floats, Rows, part, t - start)

        whole, T = output(0, x.shape[1]), x.shape[1]
        apart = [
            self._apart(Floats, output(max(0, t - k), min(T, t + k + 1)), whole).value for k in ks
        ]
        gaps: Tensor = torch.linalg.vector_norm(torch.cat(apart), dim=2).T
        return gaps

    def within(self, x: Tensor, t: int, k: int, epsilon: float) -> Decided:
        """Decide for which windows that gap is at most ε, in real arithmetic; the rest count as
        beyond it, undecided where the bounds on rounding leave it open."""

        def output(start: int, stop: int) -> RunningError:
            part = [RunningError.exactly(x[None, :, s]) for s in range(start, stop)]
            return self._output(Running, RunningError.exactly, part, t - start)

        T = x.shape[1]
        apart = self._apart(Running, output(0, T), output(max(0, t - k), min(T, t + k + 1)))
        size = apart.value.abs()
        inside = norm_up(add_up(size, apart.error))[0] <= epsilon
        least = (size - apart.error).clamp(min=0).norm(dim=2)[0] * (1 - 2.0**-40)
        return Decided(inside, ~inside & ~(least > epsilon))

    def _output(
        self, arithmetic: Callable[..., Any], lift: Callable[[Tensor], V], x: list[V], t: int
    ) -> V:
        """The outputs (1, M, n) at position t of inputs x in that arithmetic."""
        for l, (forward, reverse) in enumerate(self.layers):
            last = l + 1 == len(self.layers)
            m = arithmetic(forward.parameters), arithmetic(reverse.parameters)
            a = _run(forward, m[0], lift, x[: t + 1] if last else x)
            b = _run(reverse, m[1], lift, x[t:][::-1] if last else x[::-1])
            if last:
                y: V = m[0].join(a[-1], b[-1])
                return y
            x = [m[0].join(*pair) for pair in zip(a, b[::-1], strict=True)]
        raise AssertionError("no layers")

    def _apart(self, arithmetic: Callable[..., Any], a: V, b: V) -> V:
        """The difference of two outputs, of the readout if there is one."""
        if self.readout is None:
            return cast(V, a - b)
        named = {name: part[None] for name, part in self.readout.parameters.items()}
        return cast(V, self.readout.apart(arithmetic(named), a, b))


def _run(runner: Runner, m: Any, lift: Callable[[Tensor], V], x: Sequence[V]) -> list[V]:
    """The outputs of a cell along x, from the zero state."""
    s, found = lift(runner.zero(x[0].value.shape[1])), []
    for one in x:
        s = runner.program(m, s, one)
        found.append(s.part(runner.states - runner.n, runner.states))
    return found
