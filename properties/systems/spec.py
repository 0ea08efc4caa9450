"""SystemSpec: a few small numbers that rebuild a batch of systems bit for bit.

A spec is what Hypothesis draws, what shrinks, what a failure prints and what ``replay`` reads. Each
kind of system has a struct of its own with the fields that it uses; together they are a union that
the name of the kind tells apart. Whole matrices appear only in `Values`, for systems that a search
found rather than drew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, cast, get_type_hints

import msgspec

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.errors import UnknownNameError
from rnnbounds.properties.errors import SpecError

REGIMES = (
    "orthogonal", "gaussian", "symmetric", "diagonal", "permutation", "block", "rank-one",
    "nilpotent", "shear", "similar", "zero",
)  # fmt: skip
INPUTS = ("constant", "gaussian", "alternating", "impulse", "resonant", "saturating", "zero")
# What a spec says even where it is as by default: without it, it is of no system in particular.
REQUIRED_FIELDS = ("kind", "n", "d", "T", "seed")
TRAINED = ("WUb", "W", "U", "WU", "b", "Wb", "Ub")
LOSSES = ("squared", "linear", "cross-entropy")
BALLS = ("spectral", "infinity", "frobenius")
CHOICES = {"inputs": INPUTS, "trained": TRAINED, "loss": LOSSES, "ball": BALLS}
NUMBERS = ("lam", "scale", "bias", "epsilon", "alpha", "target", "distance", "start")
LIMITS = {
    "n": 512, "d": 512, "T": 100_000, "K": 4_096, "batch": 65_536, "sequences": 4_096,
    "steps": 10_000, "states": 1024, "units": 512, "layers": 64, "taps": 64, "dilation": 64,
}  # fmt: skip
LEAST = {"K": 0, "steps": 0, "units": 0}
# What one batch may hold: 1 GiB of float64.
ENTRIES = 2**27


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


class SystemSpec(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True
):
    """A batch of ``batch`` systems with ``sequences`` input sequences each: what is said of systems
    of any kind. `spec_of` makes the struct of one kind.

    ``lam`` is the spectral norm aimed at (for ``descent``: the start a_1), ``scale`` the bound B_x
    on ‖x_t‖₂, ``bias`` the standard deviation of b, ``K`` the largest window. ``member`` and
    ``sequence`` choose one pair of the batch, which is then rebuilt alone, to the same bits.

    Losses have targets of size ``target`` and gradients in the ``trained`` weights. The second
    weights of ``smooth`` and the second matrix of ``projection`` lie about ``distance`` away, and
    second inputs by that share of their bound.
    ``training``, and cells, make ``steps`` steps α/t (inverse) or α with αβ = ``alpha``, where β is
    the certified smoothness; ``quadratic`` has β = ``lam``, ε = ``epsilon`` and α = ``alpha``.

    The exact kinds have ``states`` rows of an orthogonal matrix, an initial state of size ``start``
    and ``units`` singular values that are exactly 1.

    Causal models have ``layers`` with ``taps`` each (attention: positions), dilation^l apart.
    """

    seed: int = 0
    batch: int = 1
    sequences: int = 1
    member: int | None = None
    sequence: int | None = None

    # The fields that a kind may have, and what they are of kinds that do not.
    n: ClassVar[int] = 1
    d: ClassVar[int] = 1
    T: ClassVar[int] = 1
    K: ClassVar[int] = 0
    activation: ClassVar[str] = "tanh"
    regime: ClassVar[str] = "orthogonal"
    inputs: ClassVar[str] = "constant"
    lam: ClassVar[float] = 0.5
    scale: ClassVar[float] = 1.0
    bias: ClassVar[float] = 0.0
    epsilon: ClassVar[float] = 0.01
    alpha: ClassVar[float] = 1.0
    values: ClassVar[Values | None] = None
    trained: ClassVar[str] = "WUb"
    loss: ClassVar[str] = "squared"
    target: ClassVar[float] = 1.0
    distance: ClassVar[float] = 0.25
    steps: ClassVar[int] = 0
    ball: ClassVar[str] = "spectral"
    states: ClassVar[int] = 1
    start: ClassVar[float] = 0.0
    units: ClassVar[int] = 0
    layers: ClassVar[int] = 1
    taps: ClassVar[int] = 2
    dilation: ClassVar[int] = 1
    cell: ClassVar[str] = ""

    # The kind's name, how its systems are drawn, the simplest first, and their activations.
    kind: ClassVar[str]
    regimes: ClassVar[tuple[str, ...]] = REGIMES
    activations: ClassVar[tuple[str, ...]] = ()  # any
    # How large fields may be, where that is less than LIMITS, and which are at least another one.
    limits: ClassVar[Mapping[str, float]] = {}
    floors: ClassVar[Mapping[str, str]] = {}
    # How many matrices are stacked in W, and how many vectors in a state.
    stacked: ClassVar[tuple[int, int]] = (1, 1)
    # True if there are second weights.
    paired: ClassVar[bool] = False
    # Raises SpecError for what else must be so.
    check: ClassVar[Callable[[Any], None] | None] = None
    # The `properties.systems.kind.Kind` of these systems.
    kind_record: ClassVar[Any] = None

    @classmethod
    def has(cls, name: str) -> bool:
        """True if specs of the kind have a field of this name."""
        return name in cls.__struct_fields__

    def select_pair(self, member: int, sequence: int) -> SystemSpec:
        """The spec of one (system, sequence) pair of this batch."""
        member = member if self.member is None else self.member
        sequence = sequence if self.sequence is None else self.sequence
        return msgspec.structs.replace(self, member=member, sequence=sequence)

    @property
    def members(self) -> range:
        """The members of the batch that this spec builds."""
        return range(self.batch) if self.member is None else range(self.member, self.member + 1)

    @property
    def sequence_range(self) -> range:
        """The sequences of each member that this spec builds."""
        index = self.sequence
        return range(self.sequences) if index is None else range(index, index + 1)

    @property
    def text(self) -> str:
        """The spec as one line of JSON, as ``rnnbounds replay`` takes it."""
        return msgspec.json.encode(self.explicit_fields).decode()

    @property
    def explicit_fields(self) -> dict[str, object]:
        """The fields that are not as by default, and those that every spec must name."""
        return {
            **{name: getattr(self, name) for name in self.required_fields()},
            **msgspec.to_builtins(self),
        }

    @classmethod
    def required_fields(cls) -> tuple[str, ...]:
        """List the fields that a spec of this kind states even at their default values."""
        return tuple(name for name in REQUIRED_FIELDS if name == "kind" or cls.has(name))


class SpecType(Protocol):
    """The struct of a kind, as what makes its specs."""

    kind: str
    regimes: tuple[str, ...]
    activations: tuple[str, ...]
    __struct_fields__: tuple[str, ...]

    def __call__(self, **fields: Any) -> SystemSpec:
        """The spec of these fields; raises TypeError for one that the kind does not use."""
        ...


def spec_of(kind: str, fields: str, **class_fields: Any) -> SpecType:
    """The struct of a kind: of `SystemSpec` the named fields; what else is ``class_fields`` is so
    of every system of the kind."""
    types = get_type_hints(SystemSpec)
    names = fields.split()
    defaults = vars(SystemSpec) | (
        {"regime": class_fields["regimes"][0]} if "regimes" in class_fields else {}
    )
    field_definitions = [(name, types[name].__args__[0], defaults[name]) for name in names]
    if "activation" not in names:
        class_fields.setdefault(
            "activations", (class_fields.get("activation", SystemSpec.activation),)
        )
    return cast(
        SpecType,
        msgspec.defstruct(
            kind, field_definitions, bases=(SystemSpec,), tag=kind, tag_field="kind",
            namespace={"kind": kind, **class_fields},
            frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True,
        ),
    )  # fmt: skip


def check_spec(spec: SystemSpec) -> None:
    """Raise SpecError for the first field that no system can have."""
    try:
        activation(spec.activation)
    except UnknownNameError as error:
        raise SpecError(str(error)) from None
    if spec.activations and spec.activation not in spec.activations:
        known = "one of the activations" if len(spec.activations) > 1 else "the activation"
        raise SpecError(f"a {spec.kind} has {known} {', '.join(spec.activations)}")
    for name, choices in {"regime": spec.regimes, **CHOICES}.items():
        if spec.has(name) and getattr(spec, name) not in choices:
            raise SpecError(f"unknown {name} {getattr(spec, name)!r}; one of {', '.join(choices)}")
    for name, limit in {**LIMITS, **spec.limits}.items():
        value, least = getattr(spec, name), LEAST.get(name, 0 if name in NUMBERS else 1)
        if not least <= value <= limit:
            raise SpecError(f"{name} = {value} must lie between {least} and {limit}")
    if spec.K > spec.T:
        raise SpecError(f"K = {spec.K} exceeds T = {spec.T}")
    if not all(0 <= getattr(spec, name) < float("inf") for name in NUMBERS):
        raise SpecError(f"{', '.join(NUMBERS)} must be finite and non-negative")
    if spec.seed < 0 or spec.seed >= 2**64:
        raise SpecError("seed must lie in [0, 2**64)")
    if spec.member is not None and not 0 <= spec.member < spec.batch:
        raise SpecError(f"member {spec.member} is not in a batch of {spec.batch}")
    if spec.sequence is not None and not 0 <= spec.sequence < spec.sequences:
        raise SpecError(f"sequence {spec.sequence} is not among {spec.sequences}")
    if spec.check is not None:
        type(spec).check(spec)  # type: ignore[misc]
    if spec.values is not None:
        check_values(spec, spec.values)
    gates, width = spec.stacked
    number_count = gates * spec.n**2 + spec.sequences * (
        spec.T * spec.d + width * (spec.K + 1) * spec.n
    )
    if spec.has("trained"):
        # Training keeps the weights of every window after every step.
        number_count += spec.steps and (spec.K + 2) * (spec.steps + 1) * spec.n * (
            spec.n + spec.d + 1
        )
    if len(spec.members) * number_count > ENTRIES:
        raise SpecError(f"the systems have more than {ENTRIES} numbers together")


def check_values(spec: SystemSpec, values: Values) -> None:
    """Raise SpecError unless every written-out array has the shape that n, d and T announce."""
    if (spec.batch, spec.sequences) != (1, 1):
        raise SpecError("values write out one system with one sequence, not a batch")
    n, d, T, p = spec.n, spec.d, spec.T, len(values.C)
    gates, width = spec.stacked
    g, N = gates * n, width * n
    tables = ((values.W, g, n), (values.U, g, d), (values.C, p, n), (values.x, T, d))
    fits = all(len(a) == r and all(len(row) == c for row in a) for a, r, c in tables)
    fits = fits and (values.y is None or len(values.y) == p)
    other = (values.W2, values.U2, values.b2)
    if spec.paired or any(part is not None for part in other):
        if values.W2 is None or values.U2 is None or values.b2 is None:
            raise SpecError(f"{spec.kind} needs all of the other weights W2, U2, b2, or none")
        others = ((values.W2, n, n), (values.U2, n, d), ([values.b2], 1, n))
        fits = fits and all(len(a) == r and all(len(row) == c for row in a) for a, r, c in others)
    biases = [values.b] if values.b_hh is None else [values.b, values.b_hh]
    if (gates > 1) != (values.b_hh is not None):
        raise SpecError(f"b_hh = {values.b_hh}: gated cells have a second bias, and no others do")
    fits = fits and all(len(bias) == g for bias in biases)
    if not fits or p < 1 or {len(values.h), len(values.h_other)} != {N}:
        raise SpecError(f"the values do not have the shapes of n = {n}, d = {d}, T = {T}")
