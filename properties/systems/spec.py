"""SystemSpec: a few small numbers that rebuild a batch of systems bit for bit.

A spec is what Hypothesis draws, what shrinks, what a failure prints and what ``replay`` reads.
Whole matrices appear only in `Values`, for systems that a search found rather than drew.
"""

from __future__ import annotations

import msgspec

from impl.cells.activation import activation
from impl.cells.table import CELLS
from impl.errors import UnknownActivationError
from properties.errors import SpecError
from properties.systems.causal.fields import check_causal
from properties.systems.cells.fields import check_cell
from properties.systems.certified.fields import check_certified
from properties.systems.drawing.written import Candidate as Candidate
from properties.systems.drawing.written import Values as Values
from properties.systems.drawing.written import check_candidate
from properties.systems.kinds import (
    ACTIVATIONS_OF,
    CAUSAL,
    CELL_KINDS,
    CERTIFIED_KINDS,
    CERTIFIED_REGIMES,
    DTYPES,
    EXACT_LIMITS,
    EXACT_REGIMES,
    GATED,
    LONGEST,
    TIGHTER_LIMITS,
)
from properties.systems.kinds import Kind as Kind
from reports.records.codec import require_unique

REGIMES = (
    "orthogonal",
    "gaussian",
    "symmetric",
    "diagonal",
    "permutation",
    "block",
    "rank-one",
    "nilpotent",
    "shear",
    "similar",
    "zero",
)
INPUTS = ("constant", "gaussian", "alternating", "impulse", "resonant", "saturating", "zero")
# What a spec says even where it is as by default: without it, it is of no system in particular.
NAMED = ("kind", "n", "d", "T", "seed")
# The kinds with a second set of weights.
PAIRED = ("smooth", "projection")
TRAINED = ("WUb", "W", "U", "WU", "b", "Wb", "Ub")
LOSSES = ("squared", "linear", "cross-entropy")
SCHEDULES = ("inverse", "constant")
BALLS = ("spectral", "infinity", "frobenius")
CHOICES = {
    "inputs": INPUTS, "trained": TRAINED, "loss": LOSSES, "schedule": SCHEDULES, "ball": BALLS,
    "dtype": DTYPES,
}  # fmt: skip
NUMBERS = ("lam", "scale", "bias", "epsilon", "alpha", "target", "distance", "start")
LIMITS = {
    "n": 512, "d": 512, "T": 100_000, "K": 4_096, "batch": 65_536, "sequences": 4_096,
    "steps": 10_000, "states": 1024, "units": 512, "layers": 64, "taps": 64, "dilation": 64,
    "layer": 64,
}  # fmt: skip
LEAST = {"K": 0, "steps": 0, "units": 0, "layer": 0}

# The exact kinds of which a candidate can be written out.
WRITTEN = ("candidate", "sigmoid")
# What one batch may hold: 1 GiB of float64.
ENTRIES = 2**27


class SystemSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A batch of ``batch`` systems with ``sequences`` input sequences each.

    ``lam`` is the spectral norm aimed at (for ``descent``: the start a_1), ``scale`` the bound B_x
    on ‖x_t‖₂, ``bias`` the standard deviation of b, ``K`` the largest window. ``member`` and
    ``sequence`` choose one pair of the batch, which is then rebuilt alone, to the same bits.

    Losses have targets of size ``target`` and gradients in the ``trained`` weights. The second
    weights of ``smooth`` and the second matrix of ``projection`` lie about ``distance`` away, and
    second inputs by that share of their bound.
    ``training``, and cells, make ``steps`` steps α/t (inverse) or α with αβ = ``alpha``, where β is
    the certified smoothness; ``quadratic`` has β = ``lam``, ε = ``epsilon`` and α = ``alpha``.

    The exact kinds have ``states`` rows of an orthogonal matrix, an initial state of size ``start``
    and ``units`` singular values that are exactly 1; ``found`` writes a candidate out.

    ``certified`` models have the weights of a ``cell`` in a ``dtype``, and the certificate of a
    ``norm``; of a stack perhaps one ``layer`` is looked at, by what is printed of it.

    Causal models have ``layers`` with ``taps`` each (attention: positions), dilation^l apart.
    """

    kind: Kind = "rnn"
    activation: str = "tanh"
    regime: str = "orthogonal"
    inputs: str = "constant"
    n: int = 1
    d: int = 1
    T: int = 1
    K: int = 0
    lam: float = 0.5
    scale: float = 1.0
    bias: float = 0.0
    epsilon: float = 0.01
    alpha: float = 1.0
    seed: int = 0
    batch: int = 1
    sequences: int = 1
    member: int | None = None
    sequence: int | None = None
    values: Values | None = None
    trained: str = "WUb"
    loss: str = "squared"
    target: float = 1.0
    distance: float = 0.25
    steps: int = 0
    schedule: str = "inverse"
    ball: str = "spectral"
    states: int = 1
    start: float = 0.0
    units: int = 0
    found: Candidate | None = None
    layers: int = 1
    taps: int = 2
    dilation: int = 1
    cell: str = ""
    norm: str = "auto"
    dtype: str = "float64"
    layer: int = 0

    def alone(self, member: int, sequence: int) -> SystemSpec:
        """The spec of one (system, sequence) pair of this batch."""
        if self.member is not None:
            member = self.member
        if self.sequence is not None:
            sequence = self.sequence
        return msgspec.structs.replace(self, member=member, sequence=sequence)

    @property
    def members(self) -> range:
        """The members of the batch that this spec builds."""
        return range(self.batch) if self.member is None else range(self.member, self.member + 1)

    @property
    def chosen(self) -> range:
        """The sequences of each member that this spec builds."""
        one = self.sequence
        return range(self.sequences) if one is None else range(one, one + 1)

    @property
    def regimes(self) -> tuple[str, ...]:
        """The regimes of this kind, the simplest first."""
        known = (
            EXACT_REGIMES | CELL_KINDS | CAUSAL | dict.fromkeys(CERTIFIED_KINDS, CERTIFIED_REGIMES)
        )
        return known.get(self.kind, REGIMES)

    @property
    def text(self) -> str:
        """The spec as one line of JSON, as ``rnnbounds replay`` takes it."""
        return msgspec.json.encode(self.told).decode()

    @property
    def told(self) -> dict[str, object]:
        """The fields that are not as by default, and those that every spec must name."""
        named: dict[str, object] = {name: getattr(self, name) for name in NAMED}
        return {**named, **msgspec.to_builtins(self)}

    @property
    def size(self) -> tuple[float, ...]:
        """What shrinking makes smaller, most important first."""
        return (
            self.values is not None or self.found is not None,
            self.n,
            self.d,
            self.T,
            self.K,
            self.steps,
            self.states,
            self.units,
            self.layers,
            self.taps,
            self.dilation,
            self.regimes.index(self.regime),
            INPUTS.index(self.inputs),
            self.start != 0,
            self.bias != 0,
            self.scale != 1,
            TRAINED.index(self.trained),
            LOSSES.index(self.loss),
            self.target != 1,
            self.seed,
        )


def parse_spec(text: str | bytes) -> SystemSpec:
    """Read a spec from JSON and check every field.

    Raises:
        SpecError: not JSON, an unknown field, one that is missing or there twice, or a value
            outside its range.
    """
    try:
        require_unique(text)
        spec = msgspec.json.decode(text, type=SystemSpec)
        missing = [name for name in NAMED if name not in msgspec.json.decode(text)]
    except (ValueError, RecursionError) as error:
        raise SpecError(f"not a system spec ({error})") from None
    if missing:
        raise SpecError(f"a system spec that does not say its {', '.join(missing)}")
    check_spec(spec)
    return spec


def check_spec(spec: SystemSpec) -> None:
    """Raise SpecError for the first field that no system can have."""
    try:
        activation(spec.activation)
    except UnknownActivationError as error:
        raise SpecError(str(error)) from None
    for name, choices in {"regime": spec.regimes, **CHOICES}.items():
        if getattr(spec, name) not in choices:
            raise SpecError(f"unknown {name} {getattr(spec, name)!r}; one of {', '.join(choices)}")
    for name, limit in LIMITS.items():
        value, least = getattr(spec, name), LEAST.get(name, 1)
        if not least <= value <= limit:
            raise SpecError(f"{name} = {value} must lie between {least} and {limit}")
    if spec.K > spec.T:
        raise SpecError(f"K = {spec.K} exceeds T = {spec.T}")
    if not all(0 <= getattr(spec, name) < float("inf") for name in NUMBERS):
        raise SpecError(f"{', '.join(NUMBERS)} must be finite and non-negative")
    if spec.kind == "training" and spec.sequences != 1:
        raise SpecError("training goes along one sequence")
    if spec.seed < 0 or spec.seed >= 2**64:
        raise SpecError("seed must lie in [0, 2**64)")
    if spec.member is not None and not 0 <= spec.member < spec.batch:
        raise SpecError(f"member {spec.member} is not in a batch of {spec.batch}")
    if spec.sequence is not None and not 0 <= spec.sequence < spec.sequences:
        raise SpecError(f"sequence {spec.sequence} is not among {spec.sequences}")
    if spec.kind in CELL_KINDS:
        check_cell(spec)
    if spec.kind in CAUSAL:
        check_causal(spec)
    if spec.kind in CERTIFIED_KINDS:
        check_certified(spec)
    if spec.kind in EXACT_REGIMES:
        check_exact(spec)
    elif spec.found is not None:
        raise SpecError(f"a {spec.kind} has no candidate")
    if spec.values is not None:
        check_values(spec, spec.values)
    gates, width = shape_of(spec)
    drawn = gates * spec.n**2 + spec.sequences * (spec.T * spec.d + width * (spec.K + 1) * spec.n)
    # Training keeps the weights of every window after every step.
    kept = (spec.K + 2) * (spec.steps + 1) * spec.n * (spec.n + spec.d + 1)
    if spec.kind == "training":
        drawn += kept
    if len(spec.members) * drawn > ENTRIES:
        raise SpecError(f"the systems have more than {ENTRIES} numbers together")


def shape_of(spec: SystemSpec) -> tuple[int, int]:
    """How many matrices are stacked in W, and how many vectors make up a state."""
    kind = CELLS[spec.kind] if spec.kind in GATED else None
    return (1, 1) if kind is None else (kind.gates, kind.width)


def check_exact(spec: SystemSpec) -> None:
    """Raise SpecError unless the kind's exact construction can be made in reasonable time."""
    if spec.values is not None:
        raise SpecError(f"a {spec.kind} is exact: it is drawn in rationals, not written out")
    known = ACTIVATIONS_OF.get(spec.kind)
    if known is not None and spec.activation not in known:
        raise SpecError(f"a {spec.kind} has the activation {' or '.join(known)}")
    for name, limit in (EXACT_LIMITS | TIGHTER_LIMITS.get(spec.kind, {})).items():
        if getattr(spec, name) > limit:
            raise SpecError(f"{name} = {getattr(spec, name)} exceeds {limit}, in rationals")
    if spec.n * spec.T > LONGEST:
        raise SpecError(f"n T = {spec.n * spec.T} exceeds {LONGEST}, in rationals")
    if spec.units > spec.n:
        raise SpecError(f"units = {spec.units} exceeds n = {spec.n}")
    if spec.kind == "block" and spec.states < spec.n:
        raise SpecError(f"a block of n = {spec.n} rows needs states ≥ n")
    if spec.found is not None:
        if spec.kind not in WRITTEN:
            raise SpecError(f"a {spec.kind} has no candidate")
        check_candidate(spec, spec.found)


def check_values(spec: SystemSpec, values: Values) -> None:
    """Raise SpecError unless every written-out array has the shape that n, d and T announce."""
    if (spec.batch, spec.sequences) != (1, 1):
        raise SpecError("values write out one system with one sequence, not a batch")
    n, d, T, p = spec.n, spec.d, spec.T, len(values.C)
    gates, width = shape_of(spec)
    g, N = gates * n, width * n
    tables = ((values.W, g, n), (values.U, g, d), (values.C, p, n), (values.x, T, d))
    fits = all(len(a) == r and all(len(row) == c for row in a) for a, r, c in tables)
    fits = fits and (values.y is None or len(values.y) == p)
    other = (values.W2, values.U2, values.b2)
    if spec.kind in PAIRED or any(part is not None for part in other):
        if values.W2 is None or values.U2 is None or values.b2 is None:
            raise SpecError(f"{spec.kind} needs all of the other weights W2, U2, b2, or none")
        others = ((values.W2, n, n), (values.U2, n, d), ([values.b2], 1, n))
        fits = fits and all(len(a) == r and all(len(row) == c for row in a) for a, r, c in others)
    biases = [values.b] if values.b_hh is None else [values.b, values.b_hh]
    if (spec.kind in GATED) != (values.b_hh is not None):
        raise SpecError(f"b_hh = {values.b_hh}: gated cells have a second bias, and no others do")
    fits = fits and all(len(bias) == g for bias in biases)
    if not fits or p < 1 or {len(values.h), len(values.h_other)} != {N}:
        raise SpecError(f"the values do not have the shapes of n = {n}, d = {d}, T = {T}")
