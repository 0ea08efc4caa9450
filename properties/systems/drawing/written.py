"""Systems that are written out in numbers: what a search found rather than drew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from properties.errors import SpecError

if TYPE_CHECKING:
    from properties.systems.spec import SystemSpec


class Values(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One system written out: W (n, n), U (n, d), b (n), C (p, n), x (T, d), two states (n).

    Where a loss needs it the target y (p), and where there are two weights the other ones. A cell
    of g gates has W (g n, n), U (g n, d), b and b_hh (g n), and states that may be (c, h); outside
    of its invariant box they are moved to the nearest ones there.
    """

    W: list[list[float]]
    U: list[list[float]]
    b: list[float]
    C: list[list[float]]
    x: list[list[float]]
    h: list[float]
    h_other: list[float]
    y: list[float] | None = None
    W2: list[list[float]] | None = None
    U2: list[list[float]] | None = None
    b2: list[float] | None = None
    b_hh: list[float] | None = None


class Candidate(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A candidate URNN s_t = ρ(V s_{t−1} + G x_t + d) of m rows with the output E s + e_0.

    ``skew`` holds the entries below the diagonal of a skew S, row by row, and V is the Cayley image
    (I − S)(I + S)⁻¹ with its rows times ``signs``; G (m, d), d and s = s_{−1} (m), E (p, m), e0
    (p). Floats are rationals, and everything is decided about these. Empty parts are the kind's to
    find, or zero. A ``candidate`` has in s and d its pre-activations at the first two times, from
    which the bias and the initial state follow, and its E is solved for.
    """

    skew: list[float]
    signs: list[float]
    G: list[list[float]]
    d: list[float]
    s: list[float]
    E: list[list[float]] = []
    e0: list[float] = []


def check_candidate(spec: SystemSpec, found: Candidate) -> None:
    """Raise SpecError unless the candidate has the shapes of n, d and states, and is finite."""
    n, m, d = spec.n, spec.states, spec.d
    p = 1 if spec.kind == "sigmoid" else n
    rows = ([found.skew], [found.signs], [found.d], [found.s], found.G, found.E, [found.e0])
    fits = len(found.skew) == m * (m - 1) // 2 and len(found.G) == m
    fits = fits and {len(found.signs), len(found.d), len(found.s)} == {m}
    fits = fits and all(len(row) == d for row in found.G) and len(found.e0) in (0, p)
    fits = fits and len(found.E) in (0, p) and all(len(row) == m for row in found.E) and d == p
    if not fits or not all(abs(v) == 1 for v in found.signs):
        raise SpecError(f"the candidate does not have the shapes of states = {m}, n = {n}, d = {d}")
    if not all(abs(v) < float("inf") for table in rows for row in table for v in row):
        raise SpecError("the candidate must be finite")
    if (spec.batch, spec.sequences) != (1, 1):
        raise SpecError("a candidate writes out one system with one sequence, not a batch")
