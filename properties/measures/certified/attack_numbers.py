"""Attack on a certified model, compared with its certificate and with runs of the model.

No certified k is below one that a witness requires; each ε and each gap of a witness bounds from
below the gap of its two runs, which are repeated: whole, and from zero through the last k inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from flint import arb, fmpq

from rnnbounds.impl.memory.adversary.attack import Attacked, MemoryWitness, attack
from rnnbounds.properties.measures.certified.point import (
    ModelPoint,
    RecomputedValue,
    ball_column,
    euclidean_norm,
    largest_modulus,
)
from rnnbounds.properties.systems.certified.models import CACHED_MODELS, certified_model
from rnnbounds.properties.systems.spec import SystemSpec

SEARCH_WORK = 2**24  # products: a short search


@lru_cache(maxsize=CACHED_MODELS)
def attack_first_model(spec: SystemSpec) -> Attacked:
    """Attack the first model of a spec at the ε of its certificate; cached."""
    model, certificate = certified_model(spec, 0)
    inputs = certificate.input_bound if certificate.inputs is None else certificate.inputs
    return attack(model, inputs, [epsilon for epsilon, _ in certificate.windows], work=SEARCH_WORK)


def recomputed_and_printed(
    p: ModelPoint, attacked: Attacked
) -> dict[str, tuple[RecomputedValue, float]]:
    """Pair each number that the attack prints with its recomputed value: (recomputed, printed)."""
    pairs: dict[str, tuple[RecomputedValue, float]] = {
        f"k {i}": (fmpq(attacked.least(epsilon)), float(k))
        for i, (epsilon, k) in enumerate(p.certificate.windows)
        if k is not None
    }
    for i, witness in enumerate(attacked.witnesses):
        gap = witness_gap(p, witness)
        pairs[f"gap {i}"], pairs[f"eps {i}"] = (gap, witness.gap), (gap, witness.epsilon)
        sizes = [euclidean_norm([arb(a) for a in x]) for x in witness.inputs.tolist()]
        pairs[f"witness {i}"] = largest_modulus(sizes), attacked.input_bound
    return pairs


def witness_gap(p: ModelPoint, witness: MemoryWitness) -> arb:
    """‖h_T − h_T^k‖₂ at the inputs of a witness."""
    x = witness.inputs.tolist()
    ends = (last_output(p, inputs) for inputs in (x, x[len(x) - witness.k :]))
    return euclidean_norm([a - b for a, b in zip(*ends, strict=True)])


def last_output(p: ModelPoint, inputs: Sequence[Sequence[float]]) -> list[arb]:
    """The output after a run from zero."""
    s = [arb(0)] * sum(p.widths)
    for x in inputs:
        s = p.program(p.arithmetic, ball_column(s), ball_column(x)).matrix.entries()
    return s[-p.n :]
