"""Judgements of statements `measured ≤ bound` whose checks stay on the device.

The measured side has a number for each system, sequence and window; the bound and the assumptions
have one for each system and window, and are enclosed on the host. Comparison, counts, histograms
and maxima are made on the device, as exactly as on the host: they compare and count floats. Only
checks that floats leave open, and places of records, come to the host.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from itertools import pairwise
from operator import and_
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sympy import Symbol

from rnnbounds.properties.judging.exact_decision import Outcome
from rnnbounds.properties.judging.sides import broadcast_side
from rnnbounds.properties.judging.verdict import (
    HOLDS,
    UNDECIDED,
    VACUOUS,
    VIOLATED,
    Ends,
    Judgement,
    OpenChecks,
    Place,
    Summary,
    Verdict,
)
from rnnbounds.properties.read.numbers.device_interval import DeviceInterval, interval_shape
from rnnbounds.reports.records.histogram import EDGES
from rnnbounds.reports.records.record import Histogram, Tally
from rnnbounds.theory.numbers.interval import Interval
from rnnbounds.theory.proof.claim import Statement

Tensor = torch.Tensor
Mask = npt.NDArray[np.bool_]


def device_side(
    statement: Statement, enclosures: Mapping[str, Interval], masks: Mapping[str, Mask]
) -> DeviceInterval | None:
    """The left side if it is measured on a device and all else is alike for all sequences."""
    if statement.relation not in ("<=", "<") or not isinstance(statement.lhs, Symbol):
        return None
    measured = enclosures[statement.lhs.name]
    others = (interval_shape(enclosures[symbol.name]) for symbol in statement.rhs.free_symbols)
    shapes = (*others, *(mask.shape for mask in masks.values()))
    alike = all(len(shape) == 3 and shape[1] == 1 for shape in shapes)
    return measured if isinstance(measured, DeviceInterval) and alike else None


class DeviceJudgement(Judgement):
    """Verdicts (B, S, windows) and the measured side on the device, the bound on the host.

    `verdicts`, `lhs` and `rhs`, arrays of NumPy, are copied when first read.
    """

    def __init__(
        self, relation: str, measured: DeviceInterval, bound: Interval, shape: tuple[int, ...],
        masks: Mapping[str, Mask], finite: Mask,
    ) -> None:  # fmt: skip
        self.escalated, self.vacuous = 0, {}
        self.device = measured.tensors[0].device
        self.lo, self.hi = (end.expand(shape) for end in measured.tensors)
        self.bound = broadcast_side(bound, (shape[0], 1, shape[2]))
        self.decided_bounds: dict[Place, Ends] = {}
        low, self.high = map(self._send, self.bound.ends)
        ends = self.lo, self.hi, low, self.high
        is_finite = reduce(and_, map(torch.isfinite, ends))
        strict = relation == "<"
        holds = self.hi < low if strict else self.hi <= low
        fails = self.lo >= self.high if strict else self.lo > self.high
        codes = torch.where(fails & is_finite, int(VIOLATED), int(UNDECIDED))
        codes = torch.where(holds & is_finite, int(HOLDS), codes)
        codes = torch.where(self._send(finite), codes, int(UNDECIDED))
        vacuous = np.zeros((shape[0], 1, shape[2]), dtype=bool)
        for reason, mask in masks.items():
            if mask.any():
                newly_vacuous = mask & ~vacuous
                self.vacuous[reason] = int(np.count_nonzero(newly_vacuous)) * shape[1]
                vacuous |= newly_vacuous
        self.codes = torch.where(self._send(vacuous), int(VACUOUS), codes).to(torch.int8)

    def _send(self, array: npt.NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.array(array)).to(self.device)

    def __getattr__(self, name: str) -> Any:
        if name == "verdicts":
            value: Any = self.codes.cpu().numpy()
        elif name == "lhs":
            value = Interval.from_ends((self.lo.cpu().numpy(), self.hi.cpu().numpy()))
        elif name == "rhs":
            value = broadcast_side(self.bound, tuple(self.codes.shape))
            if self.decided_bounds:
                value = Interval.from_ends((np.array(value.lo), np.array(value.hi)))
                for at, ends in self.decided_bounds.items():
                    value.lo[at], value.hi[at] = ends
        else:
            raise AttributeError(name)
        setattr(self, name, value)
        return value

    @property
    def checks(self) -> int:
        """How many."""
        return self.codes.numel()

    def open_checks(self, finite: Mask) -> OpenChecks:
        """Those that are UNDECIDED, of finite systems."""
        is_open = (self.codes == int(UNDECIDED)) & self._send(finite)
        return OpenChecks(
            int(is_open.sum()),
            is_open.any(dim=2).cpu().numpy(),
            lambda i, s: torch.nonzero(is_open[i, s])[:, 0].tolist(),
        )

    def violated_pairs(self) -> Mask:
        """Mask (B, S) of the pairs that violate the statement."""
        return np.asarray((self.codes == int(VIOLATED)).any(dim=2).cpu().numpy())

    def write_outcome(self, at: Place, outcome: Outcome) -> None:
        """Take what exact arithmetic found of one check."""
        self.codes[at] = int(Verdict[outcome.verdict])
        if outcome.lhs is not None and outcome.rhs is not None:
            if not self.decided_bounds:  # the enclosure is that of other statements too
                self.lo, self.hi = self.lo.clone(), self.hi.clone()
            self.lo[at], self.hi[at] = outcome.lhs
            self.decided_bounds[at] = outcome.rhs

    def _ratios(self) -> Tensor:
        """As `ratio`, on the device."""
        ratio = self.hi / self.high
        for at, (_, high) in self.decided_bounds.items():
            ratio[at] = self.hi[at] / high
        holds = self.codes == int(HOLDS)
        ratio = torch.where(holds, ratio.clamp(max=1.0), ratio)
        is_known = torch.isfinite(ratio) & (holds | (self.codes == int(VIOLATED)))
        return torch.where(is_known, ratio, torch.nan)

    def summary(self, most_failing: int) -> Summary:
        """Counts and places; so many failing ones."""
        holds, violated, undecided, vacuous = (
            int((self.codes == int(verdict)).sum()) for verdict in Verdict
        )
        ratios, is_judged = self._ratios(), self.codes != int(VACUOUS)
        ends = [int((ratios <= edge).sum()) for edge in (*EDGES, torch.inf)]
        known = torch.where(torch.isnan(ratios), -torch.inf, ratios)
        held = torch.where(self.codes == int(HOLDS), known, -torch.inf)

        def place(i: int) -> tuple[int, int]:
            s, k = divmod(first_place(held[i].flatten()), held.shape[2])
            return s, k

        failing = (self.codes == int(VIOLATED)) | (self.codes == int(UNDECIDED))
        some = violated or undecided
        places = torch.nonzero(failing)[:most_failing].tolist() if some else []
        pairs = is_judged.any(dim=2)
        return Summary(
            Tally(holds=holds, violated=violated, undecided=undecided, vacuous=vacuous),
            int(pairs.any(dim=1).sum()),
            int(pairs.sum()),
            Histogram(
                edges=EDGES,
                counts=tuple(b - a for a, b in pairwise((0, *ends))),
                unmeasured=self.checks - vacuous - ends[-1],
            ),
            held.flatten(1).amax(dim=1).cpu().numpy(),
            place,
            [(i, s, k) for i, s, k in places],
        )

    def largest_sides(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The largest left side of the decided checks at each window, and the right side there."""
        is_decided = (self.codes == int(HOLDS)) | (self.codes == int(VIOLATED))
        is_decided = is_decided & torch.isfinite(self.high)
        lhs = torch.where(is_decided, self.hi, -torch.inf).flatten(0, 1)
        windows, S = lhs.shape[1], self.codes.shape[1]
        places = [divmod(first_place(lhs[:, k]), S) for k in range(windows)]
        rhs = [self._bound_at((i, s, k))[1] for k, (i, s) in enumerate(places)]
        return lhs.amax(dim=0).cpu().numpy(), np.array(rhs)

    def cost_beside(self, other: Judgement) -> Ends | None:
        """Least and greatest of this bound over another's, where both statements hold; as floats
        enclose them."""
        if not isinstance(other, DeviceJudgement):
            return super().cost_beside(other)
        both_hold = (self.codes == int(HOLDS)) & (other.codes == int(HOLDS))
        with np.errstate(all="ignore"):
            ratio = self.bound.hi / other.bound.hi
        ratio = ratio[both_hold.any(dim=1, keepdim=True).cpu().numpy() & np.isfinite(ratio)]
        return (float(ratio.min()), float(ratio.max())) if ratio.size else None

    def _bound_at(self, at: Place) -> Ends:
        i, _, k = at
        own = float(self.bound.lo[i, 0, k]), float(self.bound.hi[i, 0, k])
        return self.decided_bounds.get(at, own)

    def entry(self, at: Place) -> tuple[Verdict, Ends, Ends]:
        """Verdict and ends of both sides of one check."""
        lhs = float(self.lo[at]), float(self.hi[at])
        return Verdict(int(self.codes[at])), lhs, self._bound_at(at)


def first_place(values: Tensor) -> int:
    """The first place of the largest value, whatever the order in which a device looks."""
    return int(torch.nonzero(values == values.max())[0])
