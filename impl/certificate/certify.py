"""The certificate of a user's model: its contraction factor, its memory and all constants.

For a cell that contracts by λ < 1 in a norm ‖·‖_* of its states s, with ‖h‖₂ ≤ C‖s‖_* for the
output h and with the drive S = sup ‖φ(0, x)‖_*,

    ‖h_T − h_T^k‖₂ ≤ C λᵏ S/(1 − λ)    for every T and every input with ‖x_t‖₂ ≤ B,

where a bound on ‖s_t‖_* may replace S/(1 − λ). So the truncated model remembers the last k inputs
to within ε. Every number is rounded so that this stays true for the weights as stored, in real
arithmetic. Source: Miller & Hardt, Lemma 1.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from impl.cells.kind import Kind
from impl.cells.refutation.refute import ALL, BOXLESS, Witness
from impl.cells.table import CELLS, NORM_NAMES, kind_of
from impl.certificate.advice import Advice, advise
from impl.errors import InputError, RangeError, UnknownNameError
from impl.inputs.sets import InputSet
from impl.models.loaded import LoadedModel
from impl.models.torch_machine import require_sound
from impl.norms.semidefinite import SOLVED, left_out
from impl.norms.state_norms import StateNorm
from impl.numbers.outward import mul_up
from impl.reading.adapters import Source, load_model
from impl.renames import renamed
from impl.training.certificate import Task, TrainingCertificate

SCHEMA = "rnnbounds/certificate/1"
EPSILONS = (1e-2, 1e-4, 1e-6)
REFUTATION = "refutation"  # among what was skipped

Verdict = Literal["certified", "refuted", "undecided"]


class NormError(InputError):
    """A norm that says nothing about this kind of cell."""

    def __init__(self, norm: str, kind: Kind) -> None:
        where = [other.name for other in CELLS.values() if norm in other.norms]
        only = f"{where[0]} and the like" if where else "stacks of layers"
        only = "linear systems" if where == ["linear"] else only
        super().__init__(
            f"the {norm} norm certifies {only} only; use the {kind.norms[-1]} norm for {kind.name}"
        )


class NotTrainedError(InputError):
    """A training run of a kind of cell about whose training nothing is certified."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(
            f"nothing is certified about training {kind.name} cells, only about vanilla RNNs and "
            f"linear systems; leave the options of training out"
        )


@dataclass(frozen=True)
class Certificate:
    """What is certified about one model; see `to_json` for the record that is written.

    verdict: `certified` (λ < 1 in `norm`, on ℝⁿ or on the invariant box of a gated cell), `refuted`
    (a `witness` shows that no norm makes the cell a contraction), or `undecided` (no norm tried
    certifies it, which says nothing). lam: the factor in `norm`, which is the best one found unless
    certified. windows: pairs (ε, k), ε in the Euclidean norm of the output h; k None where nothing
    is known. tried: (norm, its factor, its k at the smallest ε). weights: those of the norm
    (`StateNorm`). rounding: a bound on ‖fl(h_t) − h_t‖₂ for all t when the cell is run in its own
    dtype with accurate activations, None if none is known. training: what is certified about
    training it, None for cells of which nothing is. skipped: norms that were not tried, and the
    search for a witness if it was not, each with why. rounds_to_one: how many decays of the cell
    may round to 1, by dtype; where some do in the model's own, what is certified about real numbers
    says nothing about the model as it is run, so that the verdict is `undecided`, with the
    `reason`. unrounded: why no bound on rounding is known. states: those that are spoken of.
    refused: why the box that the cell states is not proved; nothing is certified on it. tensors:
    the full names in the source of what was read as the `cell`, by role. ignored, unread: those
    that the caller said to leave out of it, and those of tensors elsewhere (`LoadedModel`). inputs:
    the set of all inputs, None for the ball ‖x‖₂ ≤ B; what is said of training and of rounding is
    said of the ball that holds the set. readout: the linear map that ε is about, with its bound on
    ‖C‖₂; None for h itself. advising: seeks the `advice`.
    """

    model: str
    cell: str
    n: int
    d: int
    dtype: str
    digest: str
    norm: str
    lam: float
    verdict: Verdict
    input_bound: float
    constants: dict[str, float]
    windows: tuple[tuple[float, int | None], ...]
    tried: tuple[tuple[str, float, int | None], ...]
    weights: tuple[float, ...] | tuple[tuple[float, ...], ...] | None
    rounding: float | None
    witness: Witness | None
    training: TrainingCertificate | None
    skipped: tuple[tuple[str, str], ...] = ()
    rounds_to_one: Mapping[str, int] = field(default_factory=dict)
    unrounded: str | None = None
    states: str = ALL
    refused: str | None = None
    tensors: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    readout: Mapping[str, Any] | None = None
    inputs: InputSet | None = None
    advising: Callable[[], Advice | None] = field(default=lambda: None, repr=False, compare=False)

    @cached_property
    def advice(self) -> Advice | None:
        """What to do next about a model that no norm certifies and nothing refutes, None for
        others; sought when it is first asked for."""
        return self.advising()

    @property
    def speaks_of(self) -> str:
        """The inputs that are spoken of."""
        among = "" if self.inputs is None else f"x_t in {self.inputs.what}, "
        return f"every {among}‖x_t‖₂ ≤ {self.input_bound:g}"

    @property
    def reason(self) -> str | None:
        """Why nothing is certified although something might be, None for all other models."""
        count = self.rounds_to_one.get(self.dtype, 0)
        if self.verdict != "undecided":
            return None
        if self.refused is not None:
            return f"{self.refused}; mend its box()"
        if self.lam < 1 and count:
            what = f"{count} decays" if count > 1 else "1 decay"
            return (
                f"{what} may round to 1 in {self.dtype}, or overflow, so that the model as run may "
                f"never forget"
            )
        if self.states.endswith(BOXLESS):
            return (
                f"no norm that was tried certifies it on {self.states}; write its box(), if there "
                f"is one that it does not leave"
            )
        return None

    @property
    def stable(self) -> bool | None:
        """True if certified, False if refuted, None if undecided."""
        return {"certified": True, "refuted": False}.get(self.verdict)

    def window(self, epsilon: float) -> int | None:
        """The k of one of the ε that were asked for; raises RangeError for any other."""
        if epsilon not in dict(self.windows):
            asked = ", ".join(f"{eps:g}" for eps, _ in self.windows)
            raise RangeError("ε", epsilon, f"one of {asked}")
        return dict(self.windows)[epsilon]

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data; what is infinite is null."""
        return {
            "schema": SCHEMA,
            "model": self.model,
            "cell": self.cell,
            "tensors": dict(self.tensors),
            "ignored": list(self.ignored),
            "unread": list(self.unread),
            "shape": {"n": self.n, "d": self.d},
            "dtype": self.dtype,
            "sha256": self.digest,
            "norm": self.norm,
            "lambda": _finite(self.lam),
            "verdict": self.verdict,
            "reason": self.reason,
            "stable": self.stable,
            "input_bound": self.input_bound,
            "inputs": None if self.inputs is None else self.inputs.to_json(),
            "constants": {name: _finite(value) for name, value in self.constants.items()},
            "truncation": [{"eps": eps, "k": k} for eps, k in self.windows],
            "norms_tried": [
                {"norm": name, "lambda": _finite(lam), "k": k} for name, lam, k in self.tried
            ]
            + [
                {"norm": name, "lambda": None, "k": None, "skipped": reason}
                for name, reason in self.skipped
                if name in NORM_NAMES
            ],
            "weights": self.weights,
            "rounding": {"dtype": self.dtype, "state": self.rounding, "reason": self.unrounded},
            "states": self.states,
            "skipped": [{"what": what, "reason": reason} for what, reason in self.skipped],
            "rounds_to_one": dict(self.rounds_to_one),
            "witness": None if self.witness is None else self.witness.to_json(),
            "training": None if self.training is None else self.training.to_json(),
        } | {
            name: told
            for name, told in (
                ("readout", None if self.readout is None else dict(self.readout)),
                ("next", None if self.advice is None else self.advice.to_json()),
            )
            if told is not None
        }


@renamed(epsilons="eps", epsilon="eps")
def certify(
    model: Source | LoadedModel[Any],
    input_bound: float,
    eps: float | Sequence[float] = EPSILONS,
    norm: str = "auto",
    *,
    cell: str | None = None,
    ignore: Collection[str] = (),
    layer: str | None = None,
    readout: str | None = None,
    training: Task | None = None,
) -> Certificate:
    """Certify, refute or leave undecided that a model is stable under inputs ‖x_t‖₂ ≤ B.

    `model`, `cell`, `ignore`, `layer` and `readout` as in `load_model`; with a readout ε is one of
    its outputs, and so is `gain`; `eps` is one ε or several; `norm` is
    one of the cell's, or "auto", which keeps the one with the least k at the smallest ε; `training`
    is the training that is asked about. An `InputSet` in place of B says which inputs there are.
    The model is the cell in real arithmetic with the weights as stored and both biases added
    unrounded; both runs of a gap start from the zero state.
    Raises an InputError for what is no model, for B < 0, ε ≤ 0, NaN, norms and training that the
    cell has not. Sources: Miller & Hardt, section 2, Lemma 1; Rump and Higham for the rounding.
    """
    require_sound()
    loaded = load_model(model, cell, ignore=ignore, layer=layer, readout=readout)
    bound, epsilons = _checked(input_bound, (eps,) if isinstance(eps, (int, float)) else eps)
    kind, task = kind_of(loaded.name), training or Task()
    if not kind.trains and task != Task():
        raise NotTrainedError(kind)
    if loaded.readout is not None and task != Task():
        what = "training is certified of the output h, not of a readout's"
        raise InputError(f"{what}; leave one of them out")
    names = _names(norm, kind)
    reason = left_out(loaded.n) if norm == "auto" and SOLVED in names else None
    skipped: tuple[tuple[str, str], ...] = () if reason is None else ((SOLVED, reason),)
    names = tuple(name for name in names if name not in dict(skipped))
    inputs = bound if isinstance(bound, InputSet) else None
    if inputs is not None:
        inputs.require(loaded.d)
    system = kind.analyse(loaded, bound)
    norms = [system.norm(name) for name in names]
    read = loaded.readout
    of_h = {one: one if read is None else read.within(one) for one in epsilons}
    smallest = min(of_h.values())
    best = min(norms, key=lambda tried: _rank(tried, smallest))
    witness = None if best.lam < 1 else system.refute(inputs)
    asked = () if witness is None or inputs is None else witness.input
    if inputs is not None and asked and not inputs.holds(asked):
        witness, skipped = None, (*skipped, (REFUTATION, "of constant inputs of the set only some"))
    if not best.lam < 1 and witness is None and (unsought := system.unsought) is not None:
        skipped += ((REFUTATION, unsought),)
    undecided: Verdict = "undecided" if witness is None else "refuted"
    at_one = system.rounds_to_one
    forgets = best.lam < 1 and system.refused is None and not at_one.get(loaded.dtype, 0)
    rounding, aim = system.rounding(best), of_h[epsilons[0]]

    def tries(changed: LoadedModel[Any], B: float) -> tuple[str, float, int | None] | None:
        told = kind.analyse(changed, B)
        one = min((told.norm(name) for name in names), key=lambda norm: _rank(norm, aim))
        sound = told.refused is None and not told.rounds_to_one.get(changed.dtype, 0)
        return (one.name, one.lam, one.window(aim)) if one.lam < 1 and sound else None

    def advising() -> Advice | None:
        if undecided != "undecided" or best.lam < 1 or system.refused is not None:
            return None
        told = system.constants(best)
        return advise(loaded, kind, bound, aim, best.lam, told, tries)

    trained = system.training(epsilons, task, best)
    return Certificate(
        model=loaded.source,
        cell=loaded.name,
        n=loaded.n,
        d=loaded.d,
        dtype=loaded.dtype,
        digest=loaded.digest,
        norm=best.name,
        lam=best.lam,
        verdict="certified" if forgets else undecided,
        input_bound=float(bound),
        constants=system.constants(best)
        | {"gain": _gain(best, loaded) if forgets else math.inf}
        | ({} if trained is None else trained.named),
        windows=tuple((one, best.window(of_h[one]) if forgets else None) for one in epsilons),
        tried=tuple((tried.name, tried.lam, tried.window(smallest)) for tried in norms),
        weights=best.weights,
        rounding=rounding.bound,
        witness=witness,
        training=trained,
        skipped=skipped,
        rounds_to_one=at_one,
        unrounded=rounding.reason,
        states=system.region,
        refused=system.refused,
        tensors=loaded.tensors,
        ignored=loaded.ignored,
        unread=loaded.unread,
        inputs=inputs,
        advising=advising,
        readout=None if loaded.readout is None else loaded.readout.to_json(),
    )


def _gain(norm: StateNorm, model: LoadedModel[Any]) -> float:
    """That of the outputs h, or of the readout."""
    scale = 1.0 if model.readout is None else model.readout.norm
    return float(mul_up(norm.gain, scale))


def _checked(input_bound: float, epsilons: Sequence[float]) -> tuple[float, tuple[float, ...]]:
    if not 0 <= input_bound < math.inf:
        raise RangeError("the input bound B", input_bound, "a number ≥ 0")
    if not epsilons:
        raise RangeError("the list of ε", "empty", "at least one number > 0")
    for epsilon in epsilons:
        if not 0 < epsilon < math.inf:
            raise RangeError("ε", epsilon, "a number > 0")
    bound = input_bound if isinstance(input_bound, InputSet) else float(input_bound)
    return bound, tuple(map(float, epsilons))


def _names(norm: str, kind: Kind) -> tuple[str, ...]:
    if norm == "auto":
        return kind.norms
    if norm not in NORM_NAMES:
        raise UnknownNameError("norm", norm, ["auto", *NORM_NAMES])
    if norm not in kind.norms:
        raise NormError(norm, kind)
    return (norm,)


def _rank(norm: StateNorm, epsilon: float) -> tuple[bool, float, float]:
    """Certified first, then the shortest window, then the smallest factor."""
    k = norm.window(epsilon) if norm.lam < 1 else None
    return (not norm.lam < 1, math.inf if k is None else k, norm.lam)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
