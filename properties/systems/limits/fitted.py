"""Candidates that optimisation finds: a readout of fewer states, the best fit of a sigmoid network.

The search may round as it likes: what it finds is written out in floats, which are rationals, and
the judge decides about those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import cos, pi
from typing import Any

import torch
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.properties.adam import Adam
from rnnbounds.properties.systems.limits.extremal import CandidateSpec, Sigmoid
from rnnbounds.properties.systems.limits.pairs import draw_network
from rnnbounds.properties.systems.limits.sigmoid import STEPS, probe_inputs
from rnnbounds.properties.systems.spec import Candidate as Written
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import nearest_floats

Tensor = torch.Tensor
RESTARTS = 8
KEPT_FITS = 2
RATE, LEAST_RATE = 0.05, 0.001
# Found numbers are cut to multiples of this, so that the rationals stay short.
GRID = 2.0**20
# A match has round numbers: what is found is also tried on a grid that it falls onto.
COARSE = 2.0**6
# (n, m) with fewer than 2n states.
SHORT_SIZES = ((1, 1), (2, 3), (2, 2), (3, 5), (3, 4), (2, 1), (3, 3))
LARGEST_STATES = 8
# (n, m) of several units, one of each in a round.
VECTOR_SIZES = ((2, 4), (3, 3))
LEVEL = 2.0


def learning_rate(share: float) -> float:
    """The rate after a share of the steps, down a cosine."""
    return LEAST_RATE + (RATE - LEAST_RATE) * (1 + cos(pi * share)) / 2


@dataclass(frozen=True)
class CandidateSearch:
    """Free parameters of R candidates of m states at once, each with a V = diag(signs) Cayley(S).

    Shapes: free[name] (R, …), signs (R, m); the skew S has the free entries below its diagonal.
    """

    parameters: dict[str, Tensor]
    signs: Tensor

    @property
    def V(self) -> Tensor:
        """The orthogonal matrices, (R, m, m)."""
        m = self.signs.shape[1]
        low = torch.tril(self.parameters["S"], -1)
        S, one = low - low.mT, torch.eye(m, dtype=torch.float64)
        found: Tensor = self.signs[:, :, None] * torch.linalg.solve(one + S, one - S, left=False)
        return found

    def descend(self, loss: Callable[[CandidateSearch], Tensor], steps: int) -> Tensor:
        """Steps of Adam on the losses (R,) of all candidates; the losses at the end."""
        for tensor in self.parameters.values():
            tensor.requires_grad_()
        optimiser = Adam(self.parameters.values())
        for i in range(steps):
            optimiser.step(loss(self).sum(), learning_rate(i / steps))
        for tensor in self.parameters.values():
            tensor.requires_grad_(False)
        with torch.no_grad():
            return loss(self)

    def rounded(self, grid: float) -> CandidateSearch:
        """Round all free parameters to the nearest multiples of 1/grid."""
        return CandidateSearch(
            {name: round_to_grid(v.detach(), grid) for name, v in self.parameters.items()},
            self.signs,
        )

    def explicit(self, r: int, **parts: Any) -> Written:
        """One candidate, written out."""
        S, m = self.parameters["S"][r].tolist(), self.signs.shape[1]
        skew = [S[i][j] for i in range(m) for j in range(i)]
        return Written(skew=skew, signs=self.signs[r].tolist(), **parts)


def round_to_grid(values: Tensor, grid: float) -> Tensor:
    """The nearest multiples of 1/grid."""
    return torch.round(values * grid) / grid


def start_search(
    m: int, seed: int, sizes: dict[str, tuple[int, ...]]
) -> tuple[CandidateSearch, torch.Generator]:
    """Normal parameters of R candidates, half of the V with a reflection."""
    rng = torch.Generator().manual_seed(seed % 2**32)
    shapes = {"S": (m, m), **sizes}
    free = {
        name: torch.randn(RESTARTS, *shape, generator=rng, dtype=torch.float64)
        for name, shape in shapes.items()
    }
    signs = torch.ones(RESTARTS, m, dtype=torch.float64)
    signs[1::2, 0] = -1.0
    return CandidateSearch(free, signs), rng


def candidate_fits(count: int, steps: int, seed: int) -> Iterator[SystemSpec]:
    """The best of several searches for each size below 2n; another round for every six counts."""
    for turn in range(round_count(count)):
        for n, m in SHORT_SIZES:
            yield from fit_readouts(n, m, 2 * steps, seed + turn)


def round_count(count: int) -> int:
    """How often a search is begun anew: a profile's count in sixes."""
    return max(1, count // 6)


def fit_readouts(n: int, m: int, steps: int, seed: int) -> list[SystemSpec]:
    """Two steps of W = 0 with m states: the least ‖E D₀G − I‖² + ‖E D₁G − I‖² + ‖E D₁V D₀G‖².

    The activity patterns D₀, D₁ are all units in the first half of the searches, and drawn in the
    others. The readout is solved for again, exactly, of what is written out.
    """
    search, rng = start_search(m, seed, {"G": (m, n), "E": (n, m)})
    patterns = torch.rand(RESTARTS, 2, m, generator=rng, dtype=torch.float64) < 0.75
    patterns[: RESTARTS // 2] = True
    first, second = patterns.double().unbind(1)
    identity = torch.eye(n, dtype=torch.float64)

    def residual(at: CandidateSearch) -> Tensor:
        G, E = at.parameters["G"], at.parameters["E"]
        early, late = first[:, :, None] * G, second[:, :, None] * G
        carried = second[:, :, None] * (at.V @ early)
        parts = (E @ early - identity, E @ late - identity, E @ carried)
        return torch.stack([part.square().sum((1, 2)) for part in parts]).sum(0)

    best_runs = best_searches(search.descend(residual, steps))
    rounded = search.rounded(GRID)
    base = CandidateSpec(regime="solved", n=n, d=n, T=2, lam=0.0, states=m)
    return [
        replace(
            base,
            found=rounded.explicit(
                r,
                G=rounded.parameters["G"][r].tolist(),
                s=preactivation_levels(first[r]),
                d=preactivation_levels(second[r]),
            ),
        )
        for r in best_runs
    ]


def preactivation_levels(pattern: Tensor) -> list[float]:
    """A pre-activation far from the kink for each unit."""
    return [LEVEL if on else -LEVEL for on in pattern]


def best_searches(losses: Tensor) -> list[int]:
    """The searches with the smallest losses."""
    order: list[int] = torch.argsort(losses.nan_to_num(nan=torch.inf), stable=True)[
        :KEPT_FITS
    ].tolist()
    return order


def scalar_fits(count: int, steps: int, seed: int) -> Iterator[SystemSpec]:
    """The best fits of m = 1 … 8 units to a sigmoid and to a tanh network, w = ±1/2; some to
    networks of several units, of the spectral radius 1/2."""
    for turn in range(round_count(count)):
        for m in range(1, LARGEST_STATES + 1):
            for name in ("sigmoid", "tanh"):
                yield from fit_sigmoid(name, m, steps, seed + turn)
        for i, (n, m) in enumerate(VECTOR_SIZES):
            yield from fit_sigmoid(
                ("sigmoid", "tanh")[(turn + i) % 2], m, steps // 2, seed + turn, n=n
            )


def fit_sigmoid(
    name: str, m: int, steps: int, seed: int, lam: float = 0.5, n: int = 1
) -> list[SystemSpec]:
    """The nearest unitary networks of m units on all probes, the readout by least squares."""
    spec = Sigmoid(activation=name, lam=lam, states=m, n=n, seed=seed % 2**48)
    network, _ = draw_network(spec, 0)
    rho = activation(name)
    x = torch.tensor(nearest_floats(probe_inputs()), dtype=torch.float64)
    W, f, b, start, c = (
        torch.tensor(nearest_floats(part), dtype=torch.float64)
        for part in (network.V.tolist(), network.g, network.d, network.start, network.e)
    )
    targets, h = [], start.expand(len(x), -1)
    for k in range(STEPS):
        h = rho(h @ W.mT + x[:, k, None] * f + b)
        targets.append(h @ c)
    y = torch.stack(targets, 1).flatten()
    search, _ = start_search(m, seed + m, {"g": (m, 1), "d": (m, 1), "s": (m, 1)})
    # Units near the network's own.
    search.parameters["S"] *= 0.25
    unit_of_copy = torch.arange(m) % n
    search.parameters["g"] += f[unit_of_copy, None]
    search.parameters["d"] += b[unit_of_copy, None]

    def design(at: CandidateSearch) -> Tensor:
        V, s, rows = at.V, at.parameters["s"].expand(-1, -1, len(x)), []
        for pushed in (at.parameters["g"] * x.T[:, None, None] + at.parameters["d"]).unbind():
            s = rho(torch.baddbmm(pushed, V, s))
            rows.append(s)
        states = torch.stack(rows, 3).flatten(2).mT
        return torch.cat([states, torch.ones_like(states[:, :, :1])], 2)

    def readout(states: Tensor) -> Tensor:
        gram = states.mT @ states + 1e-10 * torch.eye(m + 1, dtype=torch.float64)
        specs: Tensor = torch.linalg.solve(gram, states.mT @ y)
        return specs

    def error(at: CandidateSearch) -> Tensor:
        states = design(at)
        gap = (states @ readout(states)[:, :, None])[:, :, 0] - y
        # The largest gaps count most.
        return gap.square().mean(1) + gap.pow(8).mean(1).pow(0.25)

    best_runs = best_searches(search.descend(error, steps))
    specs = []
    for grid in (GRID, COARSE):
        rounded = search.rounded(grid)
        e = round_to_grid(readout(design(rounded)), GRID)
        g, d, s = (rounded.parameters[name][:, :, 0].tolist() for name in ("g", "d", "s"))
        for r in best_runs:
            parts = {
                "G": [[v] for v in g[r]], "d": d[r], "s": s[r], "E": [e[r, :m].tolist()],
                "e0": [e[r, m].item()],
            }  # fmt: skip
            specs.append(replace(spec, found=rounded.explicit(r, **parts)))
    return specs
