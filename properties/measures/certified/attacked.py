"""Attack on a certified model, compared with its certificate and with runs of the model.

No certified k is below one that a witness requires; each ε and each gap of a witness bounds from
below the gap of its two runs, which are repeated: whole, and from zero through the last k inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from flint import arb, fmpq

from rnnbounds.impl.memory.adversary.attack import Attacked, MemoryWitness, attack
from rnnbounds.properties.measures.certified.point import Point, Seen, column, largest, root
from rnnbounds.properties.systems.certified.models import KEPT, certified
from rnnbounds.properties.systems.spec import SystemSpec

WORK = 2**24  # products: a short search


@lru_cache(maxsize=KEPT)
def attacked(spec: SystemSpec) -> Attacked:
    """Attack the first model of a spec at the ε of its certificate; cached."""
    model, told = certified(spec, 0)
    inputs = told.input_bound if told.inputs is None else told.inputs
    return attack(model, inputs, [epsilon for epsilon, _ in told.windows], work=WORK)


def of_attack(p: Point, against: Attacked) -> dict[str, tuple[Seen, float]]:
    """Pair each number that the attack prints with its recomputed value: (recomputed, printed)."""
    found: dict[str, tuple[Seen, float]] = {
        f"k {i}": (fmpq(against.least(epsilon)), float(k))
        for i, (epsilon, k) in enumerate(p.certificate.windows)
        if k is not None
    }
    for i, witness in enumerate(against.witnesses):
        gap = gap_of(p, witness)
        found[f"gap {i}"], found[f"eps {i}"] = (gap, witness.gap), (gap, witness.epsilon)
        sizes = [root([arb(a) for a in x]) for x in witness.inputs.tolist()]
        found[f"witness {i}"] = largest(sizes), against.input_bound
    return found


def gap_of(p: Point, witness: MemoryWitness) -> arb:
    """‖h_T − h_T^k‖₂ at the inputs of a witness."""
    x = witness.inputs.tolist()
    ends = (ran(p, inputs) for inputs in (x, x[len(x) - witness.k :]))
    return root([a - b for a, b in zip(*ends, strict=True)])


def ran(p: Point, inputs: Sequence[Sequence[float]]) -> list[arb]:
    """The output after a run from zero."""
    s = [arb(0)] * sum(p.widths)
    for x in inputs:
        s = p.program(p.made, column(s), column(x)).matrix.entries()
    return s[-p.n :]
