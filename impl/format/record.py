"""The certificate of a model as a record, which maker, file, page and checker read alike.

Every key is written and no other is read, so that a file of another version is refused. Which
parts `impl.checker` proves is said in `impl.checker.truncated`; all else is information.
"""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import replace

from rnnbounds.impl.errors import at_least
from rnnbounds.impl.format.fields import (
    Bound,
    BoundedReadout,
    Count,
    Exactly,
    InputBox,
    Layer,
    OfModel,
    Other,
    RecordError,
    Size,
    Stated,
    Steps,
    Window,
)

SCHEMA: Literal["rnnbounds/certificate/1"] = "rnnbounds/certificate/1"
OF_STATES = ("B_x", "S_0", "B_h", "drive", "radius", "equivalence", "reach", "gain")
CONSTANTS = ("L_rho", "M_rho", "W_norm", "U_norm", "L_x", *OF_STATES)  # of a vanilla cell
_OF_NORM = ("drive", "equivalence", "reach", "radius")  # constants
ALL = "all states (ℝⁿ)"
BOX = "the box that is proved to hold every state from zero on"

Verdict = Literal["certified", "refuted", "undecided"]
WitnessKind = Literal["eigenvalue", "two-orbits", "unstable-orbit", "growth"]


class RoundingRecord(Exactly, frozen=True):
    """The bound on ‖fl(h_t) − h_t‖₂ in the model's dtype, or why there is none."""

    dtype: str
    state: Bound
    reason: str | None


class Tried(Exactly, frozen=True, omit_defaults=True):
    """A norm with its factor and its k at the smallest ε; the reason if the factor is infinite, or
    why the norm was not tried."""

    norm: str
    lam: Bound = field(name="lambda")
    k: Steps | None
    reason: str | None = None
    skipped: str | None = None


class Skipped(Exactly, frozen=True):
    """An attempt that was not made, and why."""

    what: str
    reason: str


class Witness(Exactly, frozen=True, rename={"bound": "input_bound"}):
    """Why a model is not contractive.

    `eigenvalue`: a linear map has an eigenvalue of that `modulus` ≥ 1. `two-orbits`: under the
    constant `input` (d,) two distinct points of that `period`, one within `radius` of each of the
    `points` (n,). `unstable-orbit`: one such point, with an eigenvalue of modulus > 1 of the
    Jacobian of a whole period, so that states near it part. `growth`: the orbits of the two points
    stay apart, and move apart by the factor `modulus` ≥ 1 each step. Euclidean distances.

    What it refutes is that any norm makes the step a contraction of its `states` under the inputs
    that were asked for, ‖x_t‖₂ ≤ `bound`: of all states, or of the proved box of those that are
    reached from zero. That the two runs start from zero is not said. distance: the `input` lies at
    most so far from the nearest recorded input in Euclidean norm, if any are known.
    """

    kind: WitnessKind
    text: str
    input: tuple[float, ...] = ()
    points: tuple[tuple[float, ...], ...] = ()
    radius: float = 0.0
    period: int = 1
    modulus: float | None = None
    states: str = ALL
    bound: float = 0.0
    distance: float | UnsetType = UNSET

    @property
    def claim_text(self) -> str:
        """Refuted claim in words, with the input bound and the states."""
        states = "the proved box around all runs from zero" if self.states == BOX else self.states
        return f"for ‖x_t‖₂ ≤ {at_least(self.bound)} no norm makes it a contraction of {states}"


class Next(Struct, frozen=True):
    """Next steps for an undecided model: the call or command that measures it on recorded inputs,
    then advice in lines of text; its numbers follow under further keys."""

    measure: str
    lines: tuple[str, ...] = ()


class Record(OfModel, frozen=True, kw_only=True, omit_defaults=True):
    """A certificate of any verdict.

    lam: the factor in `norm`, which is the best one found unless certified. reason: why a model is
    undecided. inputs: the set of all inputs beside ‖x‖₂ ≤ input_bound, None for that
    ball. truncation: (ε, k), ε in the Euclidean norm of the output h; k None where nothing is
    known. weights: those of the norm, of a stack those of its layers. box: the sides of the states'
    box, infinite if there is none, of a certified cell that is neither vanilla nor a stack, which
    has `layers`. states: those that are spoken of. skipped: norms that were not tried, and the
    search for a witness if it was not. rounds_to_one: how many decays of the cell may round to 1,
    by dtype: where some do in the model's own, what is certified about real numbers says nothing
    about the model as it is run. other_norms: those of the gain and of rounding where it is
    another. unit_gains: how far inputs 1 apart drive each unit of the state, where the gain follows
    from that. readout: the linear map that ε is about. next: `Next`, of an undecided model.
    attacked: what an attack on the model found, if there was one.
    """

    schema: Literal["rnnbounds/certificate/1"]
    norm: str
    lam: Bound = field(name="lambda")
    verdict: Verdict
    reason: str | None
    is_stable: bool | None = field(name="stable")
    input_bound: Size
    inputs: InputBox | None
    constants: dict[str, Bound]
    truncation: tuple[Window, ...]
    norms_tried: tuple[Tried, ...]
    weights: list[Any] | None
    box: list[Bound] | None
    layers: tuple[Layer, ...] | None
    rounding: RoundingRecord
    states: str
    skipped: tuple[Skipped, ...]
    rounds_to_one: dict[str, Count]
    witness: Witness | None
    other_norms: dict[Literal["gain", "rounding"], Other] | None = None
    unit_gains: list[Size] | None = None
    readout: BoundedReadout | None = None
    next: dict[str, Any] | None = None
    attacked: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        """Raise RecordError for a certificate that contradicts itself."""
        windows = {one.eps: one.k for one in self.truncation}
        if any(windows[one.eps] != one.k for one in self.truncation):
            raise RecordError("one ε has two different k")
        if self.verdict == "certified" and not (self.lam < 1 and None not in windows.values()):
            raise RecordError("certified, without λ < 1 or without a k")
        if (self.verdict == "refuted") != (self.witness is not None):
            raise RecordError("refuted, without a witness or the reverse")
        if self.is_stable is not {"certified": True, "refuted": False}.get(self.verdict):
            raise RecordError("verdict and stable contradict each other")
        if self.verdict != "undecided" and (self.reason, self.next) != (None, None):
            raise RecordError("a reason or next steps of a model that is decided")
        if self.rounding.dtype != self.dtype:
            raise RecordError("rounding of another dtype")
        if self.inputs is not None:
            self.inputs.require(self.shape.d, self.input_bound)

    @property
    def n(self) -> int:
        """The size of the output h."""
        return self.shape.n

    @property
    def d(self) -> int:
        """The size of the input."""
        return self.shape.d

    @property
    def is_vanilla(self) -> bool:
        """True if the cell of a certified model has neither a box nor layers."""
        return self.box is None and self.layers is None

    @property
    def proved_constants(self) -> tuple[str, ...]:
        """The names of the constants that are proved of such a cell."""
        return CONSTANTS if self.is_vanilla else OF_STATES

    @property
    def stated(self) -> Stated:
        """Its norm."""
        ends = {name: self.constants[name] for name in _OF_NORM}
        return Stated(self.norm, self.lam, self.weights, **ends)

    def of(self, constant: str) -> "Record":
        """The record in the norm in which that constant is stated."""
        if (one := (self.other_norms or {}).get(constant)) is None:  # type: ignore[call-overload]
            return self
        changed = {name: Bound(getattr(one, name)) for name in _OF_NORM}
        return replace(
            self, norm=one.name, lam=one.lam, weights=one.weights, layers=one.layers,
            other_norms=None, constants={**self.constants, **changed, "B_h": one.states},
        )  # fmt: skip
