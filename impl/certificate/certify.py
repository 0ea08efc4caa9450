"""The certificate of a user's model: its contraction factor, its memory and all constants.

For a cell that contracts by λ < 1 in a norm ‖·‖_* of its states s, with ‖h‖₂ ≤ C‖s‖_* for the
output h and with the drive S = sup ‖φ(0, x)‖_*,

    ‖h_T − h_T^k‖₂ ≤ C λᵏ S/(1 − λ)    for every T and every input with ‖x_t‖₂ ≤ B,

where a bound on ‖s_t‖_* may replace S/(1 − λ), and what is left by a comparison of two runs all of
it (`impl.norms.differences`). So the truncated model remembers the last k inputs to within ε. Every
number is rounded so that this stays true for the weights as stored, in real arithmetic. Source:
Miller & Hardt, Lemma 1.

The least gain and the least bound on rounding over all norms that certify.

Each norm ‖·‖_* in which the step contracts by λ < 1 on the same states and inputs bounds the same
quantities: ‖h_T − h′_T‖₂ ≤ C L δ/(1 − λ) for runs whose inputs are within δ of one another, and
‖fl(h_T) − h_T‖₂. So the least of these bounds holds, whichever norm has the least k. Of the former
‖g_h‖₂ is one too, where |s_i − s′_i| ≤ g_i δ unit by unit: it is at most that of any maximum norm.
"""

import logging
import math
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from msgspec.structs import asdict

from rnnbounds.impl.arithmetic.inputs.sets import InputSet, bound_of
from rnnbounds.impl.cells.kind import Analysis, Kind
from rnnbounds.impl.cells.refutation.periodic import LIMIT_REACHED, limit_work
from rnnbounds.impl.cells.refutation.refute import NO_BOX_SUFFIX
from rnnbounds.impl.cells.rounding import Rounding
from rnnbounds.impl.cells.table import CELLS, NORM_NAMES, kind_of
from rnnbounds.impl.certificate.advice import Advice, advise
from rnnbounds.impl.certificate.epsilons import (
    EPSILONS,
    Epsilons,
    ShareError,
    each_epsilon,
    epsilons_of,
    share_of,
)
from rnnbounds.impl.certificate.record import Certificate, in_words
from rnnbounds.impl.errors import InputError, UnknownNameError, at_most, factor, refused, renamed
from rnnbounds.impl.format.fields import Bound, BoundedReadout, InputBox, Other, Shape, Window
from rnnbounds.impl.format.record import SCHEMA, RoundingRecord, Skipped, Tried, Verdict
from rnnbounds.impl.models.device import check_device
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.models.torch_machine import require_sound
from rnnbounds.impl.norms.metric import UnansweredError, reason_to_omit
from rnnbounds.impl.norms.norm_data import StateNorm
from rnnbounds.impl.numbers.outward import mul_up, norm_up
from rnnbounds.impl.reading.adapters import Source, load_model

_LOG = logging.getLogger("rnnbounds.certify")
REFUTATION = "refutation"  # among what was skipped
_DIGITS, _ROUNDS = 4, 4  # of an ε that is a share
MEASURE = "rnnbounds.measure(module, data)"


@refused(epsilons="eps", epsilon="eps")
@renamed("0.4", input_bound="inputs")
@isolated()
def certify(
    model: Source | LoadedModel[Any],
    *,
    inputs: float | InputSet,
    eps: Epsilons = EPSILONS,
    norm: str = "auto",
    cell: str | None = None,
    ignore: Collection[str] = (),
    layer: str | None = None,
    readout: str | None = None,
    direction: str | None = None,
    device: str = "cpu",
) -> Certificate:
    """Certify, refute or leave undecided that a model is stable under these inputs: ‖x_t‖₂ ≤ B.

    Certified means λ < 1 and, for each ε, a k with ‖h_T − h_T^k‖₂ ≤ ε for every T, h^k from the
    zero state on the last k inputs.

    `model` is a `torch.nn.RNN`, `LSTM` or `GRU` of any number of layers, a module that holds one, a
    state dict, a file of weights, or `package.module:factory`, whose code is run. `cell` names the
    cell where the weights do not tell it; `layer` the part of a bigger model, as "encoder.rnn";
    `ignore` the tensors to leave out; `readout` the linear layer after the cell, of whose outputs ε
    and `gain` then speak; `direction`, "forward" or "backward", the cell that is asked about of a
    layer in both directions. `eps` is one ε or several, each a number or a share of the certified
    bound on the output, as "5%"; `norm` is one of the cell's, or "auto",
    which keeps the one with the least k at the smallest ε, and the least gain and rounding of all
    that certify. `inputs` are B or an `InputSet`. The model is the cell in
    real arithmetic with the weights as stored and both biases added unrounded; both runs of a gap
    start from the zero state. `device` is where boxes, norms and constants are bounded, "cpu" or a
    CUDA device; there sums are taken in another order, so that last digits may differ, on the safe
    side. Witnesses are sought on the CPU. Raises an InputError for what is no model, for B < 0, ε ≤
    0, NaN, norms that the cell has not, a device that is not there. Sources: Miller & Hardt,
    section 2, Lemma 1; Rump and Higham for the rounding.

    >>> rnnbounds.certify(torch.nn.LSTM(1, 16), inputs=rnnbounds.input_box(-1, 1, 1), eps=0.1)
    """
    require_sound(check_device(device))
    loaded = load_model(
        model, cell, ignore=ignore, layer=layer, readout=readout, direction=direction
    )
    bound = bound_of(inputs)
    epsilons = epsilons_of([one for one, _ in absolute(eps, loaded, lambda: bound)])
    kind = kind_of(loaded.name)
    names = _names(norm, kind)
    reasons = {} if norm != "auto" else {name: reason_to_omit(name, loaded.n) for name in names}
    skipped = tuple((name, reason) for name, reason in reasons.items() if reason is not None)
    names = tuple(name for name in names if name not in dict(skipped))
    given = bound if isinstance(bound, InputSet) else None
    if given is not None:
        given.require(loaded.d)
    here = device == "cpu"
    _LOG.info("certifying %s, %d outputs, %s", loaded.name, loaded.n, loaded.dtype)
    for what, reason in skipped:
        _LOG.info("%s: skipped: %s", what, reason)
    placed = loaded if here else replace(loaded, cell=kind.cell_of(loaded.weights, device))
    system = kind.analyse(placed, bound)
    norms, unanswered = _norms(system, names)
    if norm != "auto" and unanswered:
        raise unanswered[norm]
    skipped += tuple((name, str(error)) for name, error in unanswered.items())
    read = loaded.readout
    scale = 1.0 if read is None else read.norm
    of_h = {one: one if read is None else read.within(one) for one in epsilons}
    smallest = min(of_h.values())
    best = min(norms, key=lambda tried: _rank(tried, smallest))
    # Witnesses are sought one point after another, in balls: on the CPU.
    seeking = system if here or best.lam < 1 else kind.analyse(loaded, bound)
    if not best.lam < 1:
        _LOG.info("no norm certifies it; seeking a witness")
    with limit_work() as work:
        witness = None if best.lam < 1 else seeking.refute()
    asked = () if witness is None or given is None else witness.input
    if given is not None and asked and not given.holds(asked):
        witness, skipped = (
            None,
            (*skipped, (REFUTATION, "only some constant inputs of the set were tried")),
        )
    unsought = system.reason_for_no_search or (LIMIT_REACHED if work.exhausted else None)
    if not best.lam < 1 and witness is None and unsought is not None:
        skipped += ((REFUTATION, unsought),)
    at_one = system.rounds_to_one
    known = best.lam < 1 and best.window(smallest) is not None
    forgets = known and system.refused is None and not at_one.get(loaded.dtype, 0)
    verdict: Verdict = "refuted" if witness is not None else "undecided"
    verdict = "certified" if forgets else verdict
    bounds, aim = least(system, norms, best, loaded.n), of_h[epsilons[0]]

    def tries(
        changed: LoadedModel[Any], B: float | InputSet
    ) -> tuple[str, float, int | None] | None:
        told = kind.analyse(changed, B)
        one = min(_norms(told, names)[0], key=lambda norm: _rank(norm, aim), default=None)
        if one is None or told.refused is not None or told.rounds_to_one.get(changed.dtype, 0):
            return None
        k = one.window(aim) if one.lam < 1 else None
        return None if k is None else (one.name, one.lam, k)

    def advising() -> Advice | None:
        if verdict != "undecided" or best.lam < 1 or system.refused is not None:
            return None
        told = system.constants(best)
        return advise(loaded, kind, bound, epsilons[0], best.lam, told, tries)

    box = None if given is None else InputBox(**given.to_dict())
    undecided = verdict == "undecided"
    gain = float(mul_up(bounds.size, scale)) if forgets else math.inf
    proof: dict[str, Any] = system.proof(best) if forgets else {}
    certificate = Certificate(
        schema=SCHEMA,
        model=loaded.source,
        cell=loaded.name,
        tensors=dict(loaded.tensors),
        ignored=loaded.ignored,
        unread=loaded.unread,
        shape=Shape(loaded.n, loaded.d),
        dtype=loaded.dtype,
        digest=loaded.digest,
        norm=best.name,
        lam=Bound(best.lam),
        verdict=verdict,
        reason=_reason(system, best, loaded.dtype, in_words(box, float(bound)))
        if undecided
        else None,
        is_stable={"certified": True, "refuted": False}.get(verdict),
        input_bound=float(bound),
        inputs=box,
        constants={
            name: Bound(value) for name, value in (system.constants(best) | {"gain": gain}).items()
        },
        truncation=tuple(
            Window(one, best.window(of_h[one]) if forgets else None) for one in epsilons
        ),
        norms_tried=_tried(system, norms, smallest, skipped),
        weights=best.stated.weights,
        box=proof.get("box"),
        layers=proof.get("layers"),
        rounding=RoundingRecord(loaded.dtype, bounds.rounding_bound, bounds.rounded.reason),
        states=system.region,
        skipped=tuple(Skipped(what, reason) for what, reason in skipped),
        rounds_to_one=dict(at_one),
        witness=witness,
        other_norms=bounds.other_norms(system) or None if forgets else None,
        unit_gains=bounds.units if forgets else None,
        readout=None if read is None else BoundedReadout(**read.to_dict()),
        next={"measure": MEASURE} if undecided else None,
    )
    return certificate.knowing(input_set=given, seek=advising)


def _reason(system: Analysis, best: StateNorm, dtype: str, inputs: str) -> str | None:
    """Why an undecided model is not certified for these inputs, if more than its norms says so."""
    if system.refused is not None:
        return f"for {inputs}, {system.refused}"
    if best.lam < 1 and (count := system.rounds_to_one.get(dtype, 0)):
        what = f"{count} decays" if count > 1 else "1 decay"
        return f"{what} may round to 1 in {dtype}, or overflow: the model as run may never forget"
    if best.lam < 1:
        return (
            f"λ < 1 in the {best.name} norm, but no k is certified: one step has no finite "
            f"bound, and so the states have none"
        )
    if system.region.endswith(NO_BOX_SUFFIX):
        return (
            f"no norm that was tried certifies it on {system.region}; define its box() if its "
            f"states stay in one"
        )
    return None


def _tried(
    system: Analysis,
    norms: Sequence[StateNorm],
    epsilon: float,
    skipped: Sequence[tuple[str, str]],
) -> tuple[Tried, ...]:
    """All norms that the cell has, those that were skipped last."""
    found = []
    for one in norms:
        reason = system.reason_infinite(one.name) if math.isinf(one.lam) else None
        found.append(Tried(one.name, Bound(one.lam), one.window(epsilon), reason))
    for name, reason in skipped:
        if name in NORM_NAMES:
            found.append(Tried(name, Bound(math.inf), None, skipped=reason))
    return tuple(found)


def absolute(
    eps: Epsilons, model: LoadedModel[Any], inputs: Callable[[], float | InputSet]
) -> list[tuple[float, tuple[float, float] | None]]:
    """Each ε as a number, and of a share beside it the share and the bound that it is of.

    The bound is the least B_h ≥ ‖h_t‖₂ found, times ‖C‖₂ of a readout, which bounds ‖C h_t‖₂; the
    number is rounded down to four digits. The inputs are asked for where there is a share. Raises
    InputError where no such bound is certified.
    """
    asked = each_epsilon(eps)
    shares = [share_of(one) if isinstance(one, str) else None for one in asked]
    if not any(shares):
        return [(one, None) for one in asked]
    stated = inputs()
    scale = 1.0 if model.readout is None else model.readout.norm
    size, numbers = math.inf, list(EPSILONS)
    for _ in range(_ROUNDS):  # B_h is that of the norm which is best at these ε
        certificate = certify(model, inputs=stated, eps=numbers)
        found = certificate.constants["B_h"] * scale
        if not 0 < found < size:
            break
        size = found
        pairs = zip(asked, shares, strict=True)
        numbers = [number if share is None else _part(share, size) for number, share in pairs]
        if certificate.verdict != "certified":
            break
    if math.isinf(size):
        raise ShareError(next(one for one in asked if isinstance(one, str)))
    of = [None if share is None else (share, size) for share in shares]
    return list(zip(numbers, of, strict=True))


def _part(share: float, bound: float) -> float:
    """That share of a bound, rounded down."""
    return float(at_most(share * bound * (1 - 2**-40), _DIGITS))


def _norms(
    system: Analysis, names: Sequence[str]
) -> tuple[list[StateNorm], dict[str, UnansweredError]]:
    """The norms of these names, and why one of the solver's is not among them, by its name."""
    norms, unanswered = [], {}
    for name in names:
        try:
            norms.append(system.norm(name))
            _LOG.debug("%s norm: λ ≤ %s", name, factor(norms[-1].lam))
        except UnansweredError as error:
            unanswered[name] = error
            _LOG.info("%s norm: skipped: %s", name, error)
    return norms, unanswered


def _names(norm: str, kind: Kind) -> tuple[str, ...]:
    if norm == "auto":
        return kind.norms
    if norm not in NORM_NAMES:
        raise UnknownNameError("norm", norm, ["auto", *NORM_NAMES])
    if norm not in kind.norms:
        kinds = [other.name for other in CELLS.values() if norm in other.norms]
        scope = f"{kinds[0]} and the like" if kinds else "stacks of layers"
        scope = "linear systems" if kinds == ["linear", "leaky-identity"] else scope
        what = f"the {norm} norm certifies {scope} only"
        raise InputError(f"{what}; for {kind.name} choose among {', '.join(kind.norms)}")
    return (norm,)


def _rank(norm: StateNorm, epsilon: float) -> tuple[bool, float, float]:
    """Certified first, then the shortest window, then the smallest factor."""
    k = norm.window(epsilon) if norm.lam < 1 else None
    return not norm.lam < 1, math.inf if k is None else k, norm.lam


@dataclass(frozen=True)
class Least:
    """The least bounds, each with its norm; `best` is the norm of the windows.

    size: the least gain of h. units: those of all units, if the gain is theirs and no norm's.
    """

    best: StateNorm
    gain: StateNorm
    size: float
    units: list[float] | None
    rounding: StateNorm
    rounded: Rounding

    @property
    def rounding_bound(self) -> Bound:
        """The bound on rounding, infinite if none is known."""
        return Bound(math.inf if self.rounded.bound is None else self.rounded.bound)

    def other_norms(self, system: Analysis) -> dict[Literal["gain", "rounding"], Other]:
        """The norms of the gain and, of a vanilla cell, of rounding, each where it is another."""
        found: dict[Literal["gain", "rounding"], Other] = {}
        if self.units is None and self.gain is not self.best:
            found["gain"] = _other(system, self.gain)
        if self.rounding is not self.best and not system.proof(self.best):
            found["rounding"] = _other(system, self.rounding)
        return found


def least(system: Analysis, norms: Sequence[StateNorm], best: StateNorm, n: int) -> Least:
    """The least gain of n outputs and rounding of the norms that certify, those of the best one if
    it ties, or of the units."""
    certifying = [
        norm
        for norm in norms
        if norm.lam < 1 and math.isfinite(norm.drive) and math.isfinite(norm.equivalence)
    ]
    rounded = {id(norm): system.rounding(norm) for norm in [best, *certifying]}

    def bound(norm: StateNorm) -> float:
        rounding_bound = rounded[id(norm)].bound
        return math.inf if rounding_bound is None else rounding_bound

    candidates = [best, *certifying]  # of equal ones the first is kept, and of any that underflow
    gain = min(candidates, key=lambda norm: max(norm.gain, sys.float_info.min))
    rounding = min(candidates, key=bound)
    size, units = gain.gain, None
    if certifying:
        found = system.unit_gains()
        if (of_units := float(norm_up(found[-n:]))) < size and size > sys.float_info.min:
            size, units = of_units, found.tolist()
    return Least(best, gain, size, units, rounding, rounded[id(rounding)])


def _other(system: Analysis, norm: StateNorm) -> Other:
    """The norm of another constant as a record states it; layers have their norms with them."""
    layers = system.proof(norm).get("layers")
    return Other(**asdict(norm.stated), states=Bound(system.states(norm)), layers=layers)
