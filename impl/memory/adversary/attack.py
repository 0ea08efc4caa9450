"""How long a model remembers at least: inputs that no short window fixes, as witnesses.

A certificate's (ε, k) says that for every T and all inputs of the set ‖h_T − h_T^j‖₂ ≤ ε for every
window j ≥ k, both runs from the zero state: `impl.norms.norm_data` takes the least k of a bound
that falls with k. So one sequence of inputs with ‖h_T − h_T^j‖₂ > ε refutes every k ≤ j, and the
least k that is true is at least j + 1, which no certified k is below. Norm, output (h, or f(h)
where a readout f is asked about), start and arithmetic (real, of the weights as stored) are those
of the certificate.

The gap of a pair of runs is decided in balls, which grow with every step, by the sizes of the
weights at worst, so that long runs need more bits: a run whose balls have outgrown what they hold
is begun again, with as many as the steps that it has come suggest for all of them, until the gap is
decided, within a limit of work. Source: Johansson, Arb.
"""

import math
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb, ctx
from torch import Tensor

from rnnbounds.impl.arithmetic.entries import Balls, Columns
from rnnbounds.impl.arithmetic.inputs.maximisers import input_set_of
from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.cells.runs import Runner
from rnnbounds.impl.certificate.epsilons import EPSILONS, epsilons_of
from rnnbounds.impl.certificate.notebook import Plotted, Row
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.errors import InputError, at_most, exactly
from rnnbounds.impl.memory.adversary.search import LONGEST, WORK, Search
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.models.torch_machine import require_sound
from rnnbounds.impl.numbers.json_values import as_json
from rnnbounds.impl.reading.adapters import Source, load_model

BITS = (128, 256, 512, 1024, 2048, 4096)
PROOF_WORK = 2**30  # products of 64-bit words in one run of a pair


def proved_gap(runner: Runner, x: Tensor, past: int, epsilon: float) -> tuple[int, float]:
    """The largest k ≤ K with a gap that is certainly above ε after k common inputs, and a lower
    bound on that gap: x (past + K, d). k is −1 where none is proved.

    The answer is that of the least precision at which the last gap is above ε, or of the last that
    the limit of work allows.
    """
    K, best = len(x) - past, (-1, 0.0)
    left = [bits for bits in BITS if affordable(runner, len(x), bits)]
    while left and best[0] < K:
        bits, *left = left
        with ctx.workprec(bits):
            found, came = _longest(runner, x, past, epsilon, to_the_end=not left)
        best = max(best, found)
        left = [more for more in left if more * came >= bits * len(x)] or left[-1:]
    return best


def affordable(runner: Runner, steps: int, bits: int) -> bool:
    """True if a run of so many steps at that precision is within the limit of work."""
    return runner.products * steps * (bits // 64) <= PROOF_WORK


def most_steps(runner: Runner) -> int:
    """How many steps the limit of work allows at the least precision."""
    return PROOF_WORK // (BITS[0] // 64 * max(1, runner.products))


def _longest(
    runner: Runner, x: Tensor, past: int, epsilon: float, to_the_end: bool
) -> tuple[tuple[int, float], int]:
    """Compute `proved_gap` at the working precision, and the steps until the balls are too wide to
    decide; the run stops there unless it goes `to_the_end`."""
    m, best = Balls.of_one(runner.parameters), (-1, 0.0)
    s = Columns([[arb(0)]] * runner.states)
    inputs = [Columns([[arb(a)] for a in row]) for row in x.tolist()]
    for t, one in enumerate(inputs[:past]):
        if not to_the_end and _lost(_norm([a for (a,) in s.units[-runner.n :]]), epsilon):
            return best, max(t, 1)
        s = runner.program(m, s, one)
    both = Columns([[*unit, arb(0)] for unit in s.units])
    for k in range(len(inputs) - past + 1):
        if k:
            both = runner.program(m, both, inputs[past + k - 1])
        full, late = (Columns([[unit[i]] for unit in both.units[-runner.n :]]) for i in (0, 1))
        gap = _norm([a for (a,) in runner.apart(m, full, late).units])
        if not gap.is_finite() or (not to_the_end and _lost(gap, epsilon)):
            return best, max(past + k, 1)
        least = _below(gap)
        if least > epsilon:
            best = (k, least)
    return best, len(x)


def _lost(size: arb, epsilon: float) -> bool:
    """True if a ball is too wide to decide: its radius exceeds both ε and its midpoint."""
    return bool(size.rad() > epsilon and size.rad() > abs(size.mid()))


def _norm(entries: list[arb]) -> arb:
    return sum((a * a for a in entries), arb(0)).sqrt()


def _below(x: arb) -> float:
    """A float64 that is certainly at most x, which is finite."""
    value = min(float(x.lower()), sys.float_info.max)
    while not arb(value) <= x:
        value = math.nextafter(value, -math.inf)
    return value


SCHEMA = "rnnbounds/attacked/1"


class ContradictionError(Exception):
    """A certified k that a witness refutes: one of the two proofs is wrong."""

    def __init__(self, epsilon: float, k: int, witness: "MemoryWitness") -> None:
        super().__init__(
            f"k = {k} is certified at ε = {exactly(epsilon)}, but a gap of "
            f"{at_most(witness.gap, above=epsilon)} is proved after {witness.k} inputs: one of the "
            f"two proofs is wrong; report it with the model"
        )


@dataclass(frozen=True, eq=False)
class MemoryWitness:
    """Inputs (T, d) of which the last k do not fix the output: ‖h_T − h_T^k‖₂ ≥ gap > ε."""

    epsilon: float
    k: int
    gap: float
    inputs: Tensor

    def to_dict(self) -> dict[str, Any]:
        """The witness as plain JSON data."""
        return {
            "eps": self.epsilon,
            "k": self.k,
            "gap": self.gap,
            "length": len(self.inputs),
            "inputs": self.inputs.tolist(),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Attacked(Plotted):
    """Lower bounds on the memory of one model under inputs ‖x_t‖₂ ≤ B, with their witnesses.

    windows: (ε, the least k that is not refuted), 0 where no witness was found, which says nothing.
    skipped: what the limits left out, each with why. inputs: the set of all inputs, None for the
    ball. readout: the map that ε is about, None for h itself.

    >>> found = rnnbounds.attack(torch.nn.RNN(1, 4), inputs=1.0, eps=0.1)
    >>> found.least(0.1), found.witnesses[0].gap
    """

    cell: str
    dtype: str
    digest: str
    input_bound: float
    windows: tuple[tuple[float, int], ...]
    witnesses: tuple[MemoryWitness, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    inputs: InputSet | None = None
    readout: Mapping[str, Any] | None = None

    def least(self, epsilon: float) -> int:
        """No k below it will do at ε, one of those that were asked for."""
        return dict(self.windows)[epsilon]

    def line(self) -> str:
        """Below which k no window will do."""
        told = ", ".join(f"no k below {k} at ε = {exactly(eps)}" for eps, k in self.windows)
        return f"{self.cell}: {told}"

    def rows(self) -> list[Row]:
        """The least k that is not refuted at each ε, and the gap that was proved."""
        gaps = {witness.epsilon: witness.gap for witness in self.witnesses}
        return [{"eps": eps, "no k below": k, "gap": gaps.get(eps)} for eps, k in self.windows]

    def draw(self, axes: Any) -> None:
        """The least k that is not refuted, against ε."""
        axes.plot([eps for eps, _ in self.windows], [k for _, k in self.windows], marker="o")
        axes.set(xscale="log", xlabel="ε", ylabel="no k below", title=self.line())

    def to_dict(self, *, inputs: bool = True) -> dict[str, Any]:
        """The record as plain JSON data, without the inputs of the witnesses if so asked."""
        told = [witness.to_dict() for witness in self.witnesses]
        record: dict[str, Any] = as_json({
            "schema": SCHEMA,
            "cell": self.cell,
            "dtype": self.dtype,
            "sha256": self.digest,
            "input_bound": self.input_bound,
            "inputs": self.inputs,
            **({} if self.readout is None else {"readout": self.readout}),
            "no_k_below": [{"eps": epsilon, "k": k} for epsilon, k in self.windows],
            "skipped": [{"what": what, "reason": reason} for what, reason in self.skipped],
            "witnesses": [
                {name: value for name, value in one.items() if inputs or name != "inputs"}
                for one in told
            ],
        })  # fmt: skip
        return record


@isolated()
def attack(
    model: Source | LoadedModel[Any],
    *,
    inputs: float | InputSet,
    eps: float | Sequence[float] = EPSILONS,
    cell: str | None = None,
    ignore: Collection[str] = (),
    layer: str | None = None,
    readout: str | None = None,
    direction: str | None = None,
    work: int = WORK,
) -> Attacked:
    """Seek inputs ‖x_t‖₂ ≤ B that show how long a model remembers, and prove what was found.

    `inputs` are B or an `InputSet`; `model`, `cell`, `ignore`, `layer`,
    `readout` and `direction` as in `certify`; `eps` is one ε or several. The search is in floats
    and the same each time; its limits are counted, not timed: `work` is a number of products. Every
    witness is proved in balls, for the weights as stored in real arithmetic. A low k says nothing:
    more may be remembered than was found. Raises an InputError for what is no model, for B < 0, ε ≤
    0 and NaN.

    >>> rnnbounds.attack("model.safetensors", inputs=rnnbounds.input_box(-1, 1, 1), eps=0.1)
    """
    require_sound()
    loaded = load_model(
        model, cell, ignore=ignore, layer=layer, readout=readout, direction=direction
    )
    epsilons = epsilons_of(eps)
    given = inputs if isinstance(inputs, InputSet) else None
    if given is not None:
        given.require(loaded.d)
    asked, runner = input_set_of(inputs), Runner.of(loaded)
    most = min(LONGEST, most_steps(runner) // 2)
    if most < 1:
        reason = f"for {runner.products} weights a proof of any k is beyond the limit of work"
        return _told(loaded, asked.B, given, epsilons, {}, (("attack", reason),))
    search = Search(runner, loaded.cell.U[0].detach().double(), asked, most, work)
    found: dict[float, MemoryWitness] = {}
    skipped: list[tuple[str, str]] = []
    for epsilon, x, past, seen in search.run(epsilons):
        if seen < 0 or not asked.holds(x):
            continue
        k, gap = proved_gap(runner, x, past, epsilon)
        if k >= 0:
            found[epsilon] = MemoryWitness(epsilon, k, gap, x[: past + k])
        if seen > k:
            reason = f"floats suggest {seen + 1}, unproved at {BITS[-1]} bits or for lack of work"
            skipped.append((f"more at ε = {exactly(epsilon)}", reason))
        elif k >= most:
            skipped.append((f"more at ε = {exactly(epsilon)}", f"no k above {most} was tried"))
    if search.left <= 0:
        skipped.append(("a longer search", "its limit of work was reached"))
    return _told(loaded, asked.B, given, epsilons, found, tuple(skipped))


def bracket(
    certificate: Certificate, attacked: Attacked
) -> tuple[tuple[float, int, int | None], ...]:
    """(ε, no k below, the certified k) for each ε of both; k None where nothing is certified.

    Raises InputError for two of different models, readouts or inputs, ContradictionError.
    """
    readout = None if certificate.readout is None else certificate.readout.sha256
    one = (certificate.digest, certificate.input_bound, certificate.input_set, readout)
    asked = (attacked.readout or {}).get("sha256")
    if one != (attacked.digest, attacked.input_bound, attacked.inputs, asked):
        raise InputError("these are about different models, readouts or inputs; ask both of one")
    found = []
    by_epsilon = {witness.epsilon: witness for witness in attacked.witnesses}
    for epsilon, k in certificate.windows:
        if epsilon in dict(attacked.windows):
            least = attacked.least(epsilon)
            if k is not None and least > k:
                raise ContradictionError(epsilon, k, by_epsilon[epsilon])
            found.append((epsilon, least, k))
    return tuple(found)


def _told(
    model: LoadedModel[Any],
    bound: float,
    given: InputSet | None,
    epsilons: Sequence[float],
    found: dict[float, MemoryWitness],
    skipped: tuple[tuple[str, str], ...],
) -> Attacked:
    windows = tuple((e, found[e].k + 1 if e in found else 0) for e in epsilons)
    witnesses = tuple(found[e] for e in dict.fromkeys(epsilons) if e in found)
    return Attacked(
        model.name, model.dtype, model.digest, bound, windows, witnesses, skipped, given,
        None if model.readout is None else model.readout.stated(),
    )  # fmt: skip
