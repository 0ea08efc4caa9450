"""Measurements of a model on recorded inputs, and a statement on others drawn like them.

Everything but the statement is an observation, in float64, of these windows alone. Sources: Miller
& Hardt, section 4, data-dependent stability; Clopper & Pearson for the statement.

The forgetting curve: gaps between full and truncated runs, for each length of truncation.

How many windows of recorded inputs were run, reported while a measurement goes on.
"""

import logging
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.cells.runs import Runner, Truncations, blocks, grid, truncations
from rnnbounds.impl.certificate.epsilons import EPSILONS, epsilons_of
from rnnbounds.impl.certificate.notebook import Plotted, Row
from rnnbounds.impl.errors import InputError, exactly
from rnnbounds.impl.memory.exact import Decided, within
from rnnbounds.impl.memory.local import Local, local, sampled
from rnnbounds.impl.memory.repeats import reason_unstated
from rnnbounds.impl.memory.statement import (
    SHARE,
    Statement,
    from_k,
    least_window,
    presupposed,
    require_enough,
    stated,
)
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.near.near import (
    RECORDED,
    ZERO,
    NearCertificate,
    affordable,
    end_states,
    past_inputs,
    require_states,
    size_of,
    spread,
)
from rnnbounds.impl.near.near import near as near_data
from rnnbounds.impl.numbers.json_values import as_json
from rnnbounds.impl.reading.data.recordings import Array, Data, Windows, float64
from rnnbounds.impl.reading.data.sequences import DataSource, read_data

QUANTILES = (0.5, 0.9, 0.99)

CurveRow = dict[str, float]


def forgetting_curve(ks: Sequence[int], gaps: Tensor) -> list[CurveRow]:
    """The curve's rows: for each k the quantiles 0.5, 0.9 and 0.99 of gaps (M, len(ks)), and the
    largest."""
    quantiles = torch.quantile(gaps, gaps.new_tensor(QUANTILES), dim=0)
    names = [f"q{100 * q:g}" for q in QUANTILES]
    return [
        {"k": k, **dict(zip(names, quantiles[:, i].tolist(), strict=True)),
         "worst": float(gaps[:, i].amax())}
        for i, k in enumerate(ks)
    ]  # fmt: skip


R = TypeVar("R")


@dataclass
class WindowCount:
    """Calls progress(done, total) after each block of windows; a total of `total` windows."""

    total: int
    progress: Callable[[int, int], None] | None
    done: int = 0

    def after(self, windows: slice, found: R) -> R:
        """Count these windows as done, report the progress, and return `found`."""
        self.done += windows.stop - windows.start
        if self.progress is not None:
            self.progress(self.done, self.total)
        return found


_LOG = logging.getLogger("rnnbounds.measure")
SCHEMA = "rnnbounds/measurement/1"
CURVE, FEWEST = 2000, 20  # windows of which every truncation is run
CURVE_WORK, HELD_WORK = 2**35, 2**36  # products, beyond which fewer windows are taken
PRODUCTS = 2**10  # that take as long as a number that is held takes memory


@dataclass(frozen=True, eq=False, repr=False)
class Observed(Plotted):
    """Gaps seen on data: of so many windows of so many inputs, cut from so many `sequences` of
    `recorded` inputs. ks: the grid of k; gaps: of the first windows, (M, len(ks)). statement: of
    all windows drawn like these, or None with the reason `unstated`."""

    data: str
    sequences: int
    recorded: int
    windows: int
    length: int
    ks: tuple[int, ...]
    gaps: Tensor
    eps: tuple[float, ...]
    statement: Statement | None
    unstated: str | None

    @property
    def curve(self) -> list[CurveRow]:
        """The forgetting curve: for each k the quantiles of the gap, and the worst seen."""
        return forgetting_curve(self.ks, self.gaps)

    def window(self, epsilon: float) -> int | None:
        """The least k of the grid from which on every gap that was seen is within ε; None where it
        is beyond 0.8 T, of which windows of T inputs show nothing."""
        return least_window(self.ks, self.gaps, epsilon)

    @property
    def axes(self) -> str:
        """How the data were read."""
        return f"(N, T, …) = ({self.sequences}, {self.recorded}, …)"

    def rows(self) -> Sequence[Row]:
        """The forgetting curve."""
        return self.curve

    def draw(self, axes: Any) -> None:
        """The forgetting curve, and each ε."""
        rows = self.curve
        for name in rows[0].keys() - {"k"}:
            axes.plot([row["k"] for row in rows], [row[name] for row in rows], label=name)
        for epsilon in self.eps:
            axes.axhline(epsilon, linestyle=":", color="grey")
        axes.set(yscale="log", xlabel="k", ylabel="gap of outputs", title=self.line())
        axes.legend()

    def told(self, within: Callable[[float], str]) -> str:
        """From which k on all was within each ε, which `within` words."""
        return ", ".join(
            f"{within(eps)} {from_k(self.window(eps), self.length, self.recorded)}"
            for eps in self.eps
        )


@dataclass(frozen=True, eq=False, repr=False)
class Measurement(Observed):
    """The measured memory of a model on data; see `to_dict` for the record that is written.

    seen: all truncations of the first windows; local: the last steps of the first few. near:
    what is certified of all inputs near these, if it was asked for.

    >>> seen = rnnbounds.measure(torch.nn.LSTM(1, 16), torch.randn(200, 30, 1), eps=0.1)
    >>> seen.window(0.1), seen.curve[0]["worst"]
    """

    model: LoadedModel[Any]
    seen: Truncations
    local: Local
    near: NearCertificate | None

    @property
    def axes(self) -> str:
        """How the data were read."""
        return f"(N, T, d) = ({self.sequences}, {self.recorded}, {self.model.d})"

    def line(self) -> str:
        """From which k on every window was within ε."""
        where = f"{self.windows} windows of {self.length} inputs, read as {self.axes}"
        told = self.told(lambda eps: f"within {exactly(eps)}")
        return f"{self.model.source}: {self.model.name}, seen on {where}: {told}"

    def to_dict(self) -> dict[str, Any]:
        """The record as plain JSON data; what is infinite or no number is null."""
        told, seen, ratio = self.local, self.seen, float(self.seen.ratio.amax())
        median, worst = (
            found.tolist() for found in (told.products.median(0)[0], told.products.amax(0))
        )
        pairs = int(seen.pairs.sum())
        record: dict[str, Any] = as_json({
            "schema": SCHEMA,
            "kind": "on your data",
            "model": self.model.source,
            "cell": self.model.name,
            "shape": {"n": self.model.n, "d": self.model.d},
            "sha256": self.model.digest,
            **({} if (read := self.model.readout) is None else {"readout": read.stated()}),
            "data": {
                "source": self.data, "windows": self.windows, "length": self.length,
                "sequences": self.sequences,
            },
            "forgetting": {"windows": len(seen.gaps), "curve": self.curve},
            "memory": [{"eps": eps, "k": self.window(eps)} for eps in self.eps],
            "stability": {
                "largest_ratio": ratio,
                "pairs": pairs,
                "expanding": int(seen.expanding.sum()),
                "contracts": None if math.isnan(ratio) else bool(pairs) and ratio < 1,
            },
            "steps": {
                "windows": len(told.norms),
                "last": told.norms.shape[1],
                "norm": {"median": float(told.norms.median()), "largest": float(told.norms.amax())},
                "products": [
                    {"k": k, "median": median[i], "largest": worst[i]}
                    for i, k in enumerate(self.ks[: len(median)])
                ],
                "lyapunov": {
                    "mean": float(told.exponents.mean()),
                    "least": float(told.exponents.amin()),
                    "largest": float(told.exponents.amax()),
                },
            },
            "statement": self.statement,
            "unstated": self.unstated,
            "near": self.near,
        })  # fmt: skip
        return record


@isolated()
def measure_cell(
    loaded: LoadedModel[Any],
    data: DataSource | Data,
    *,
    window: int | None = None,
    eps: float | Sequence[float] = EPSILONS,
    confidence: float = 0.99,
    share: float | None = None,
    inputs: float | InputSet | None = None,
    near: float | None = None,
    states: str = ZERO,
    progress: Callable[[int, int], None] | None = None,
) -> Measurement:
    """Measure a recurrent layer that was read; arguments and errors as in `rnnbounds.measure`.

    `near` is about runs from the zero state; with `states` "recorded" about runs from all states
    within 0.001 of the range of each entry around the end state of one of 20 recordings, stretches
    of T inputs spaced in the data, against the run from zero: after k inputs of a window and from
    then on. As many windows are certified, evenly spaced in the data, as a fixed number of products
    pays for.
    """
    read = read_data(data)
    if loaded.backward:
        read = read.reversed
    read.require_width(loaded.d, window)
    if inputs is not None:
        read.require_of(inputs)
    near = None if near is None else size_of(near)
    require_states(states, near)
    eps = epsilons_of(eps)
    held, runner = read.windows(window), Runner.of(loaded)
    M, T = len(held), held.T
    before = past_inputs(read, T) if states == RECORDED else None
    ks, unstated = grid(T), reason_unstated(read, held)
    if share is not None and unstated is not None:
        raise unstated
    parts: list[Truncations] = []
    with torch.no_grad(), _noting(parts, ks, eps, read.T):
        alpha, needed = require_enough(M, len(eps), confidence, share)
        each = len(ks) * (runner.states + runner.outputs) + T * held.d
        some = min(M, CURVE, max(FEWEST, CURVE_WORK // max(1, sum(ks) * runner.products)))
        out = min(M - M // 2, max(2 * needed, HELD_WORK // (6 * T * runner.products)))
        near_count = (
            0 if near is None else affordable(runner, M, T, 0 if before is None else len(before))
        )
        total = some + near_count + (0 if unstated else out)
        report = WindowCount(total, progress)
        _LOG.info("measuring %s on %d windows of %d inputs", loaded.name, M, T)
        if near is not None:
            level = logging.WARNING if near_count < M else logging.INFO
            _LOG.log(level, "certifying k near %d of the %d windows", near_count, M)
        for block in blocks(some, max(each, sum(ks) * runner.products // PRODUCTS)):
            parts.append(report.after(block, truncations(runner, held_part(held, block), ks)))
        seen = Truncations.joined(parts)
        if not bool(torch.isfinite(seen.gaps).all()):
            raise InputError(
                f"{loaded.source} overflows on {read.source}; scale the inputs as in training"
            )
        differentiated, last = sampled(runner, M, T)
        steps = local(runner, held_part(held, slice(0, differentiated)), ks, last)
        chosen = [least_window(ks, seen.gaps[: M // 2], epsilon) for epsilon in eps]
        statement = None
        if unstated is None:
            asked = [(k, e) for k, e in zip(chosen, eps, strict=True) if k is not None]
            each = 8 * (runner.states + runner.outputs) + T * held.d
            found = []
            for block in blocks(out, each):
                rows = slice(M // 2 + block.start, M // 2 + block.stop)
                part = within(runner, held_part(held, rows), asked) if asked else []
                found.append(report.after(block, part))
            decided = (
                Decided(*map(torch.cat, zip(*one, strict=True))) for one in zip(*found, strict=True)
            )
            lines = [
                stated(epsilon, k, None if k is None else next(decided), alpha)
                for epsilon, k in zip(eps, chosen, strict=True)
            ]
            aim = SHARE if share is None else share
            statement = Statement(
                confidence, min(M // 2, some), out, T, tuple(lines), aim, needed, presupposed(held)
            )
        around = None
        if near is not None:
            around = near_data(
                runner,
                held_part(held, spread(near_count, M)),
                near,
                eps,
                None if before is None else end_states(runner, before),
                done=lambda count: report.after(slice(0, count), None),
            )
    return Measurement(
        read.source, read.N, read.T, M, T, ks, seen.gaps, eps, statement,
        None if unstated is None else str(unstated), loaded, seen, steps, around,
    )  # fmt: skip


@contextmanager
def _noting(
    parts: Sequence[Truncations], ks: Sequence[int], eps: Sequence[float], recorded: int
) -> Iterator[None]:
    """Note on an interruption of the block, which is no error, what was seen of windows so far."""
    try:
        yield
    except Exception:
        raise
    except BaseException as interruption:
        if parts:
            gaps = torch.cat([part.gaps for part in parts])
            told = (from_k(least_window(ks, gaps, epsilon), ks[-1], recorded) for epsilon in eps)
            within = (f"within {exactly(e)} {k}" for e, k in zip(eps, told, strict=True))
            interruption.add_note(f"seen in the first {len(gaps)} windows: {', '.join(within)}")
        raise


def held_part(held: Windows, rows: slice | Array) -> Tensor:
    """Some of the windows, in order: (M, T, d)."""
    return float64(held[rows])
