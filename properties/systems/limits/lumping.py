"""Lumping: units of tanh networks that are equal for all inputs, up to the sign, in rationals."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from flint import fmpq, fmpq_mat, fmpz

from rnnbounds.properties.systems.limits.sigmoid import SigmoidNetwork
from rnnbounds.properties.systems.unitary.linear import block_diagonal

# (i, ±1): plus or minus unit i.
Signed = tuple[int, int]


def equal_unit_sets(
    V: fmpq_mat, g: Sequence[fmpq], d: Sequence[fmpq], start: Sequence[fmpq]
) -> list[set[Signed]]:
    """Sets of signed units that are equal at all times, whatever the inputs are.

    The coarsest partition in which those of one set have the same input weight, bias and initial
    state, and the same signed sums of recurrent weights from every set: equal states stay equal. A
    set comes with its negative, but once where it is its own negative, which is then 0.
    """
    rows, scalar_rows = (
        A.numer_denom()[0].tolist() for A in (V, fmpq_mat(list(zip(g, d, start, strict=True))))
    )
    signed = [(i, s) for i in range(len(rows)) for s in (1, -1)]
    keys: dict[Signed, tuple[object, ...]] = {
        (i, s): tuple(s * v for v in scalar_rows[i]) for i, s in signed
    }
    count = 0
    while True:
        numbers: dict[tuple[object, ...], int] = {}
        set_of_unit = {unit: numbers.setdefault(keys[unit], len(numbers)) for unit in signed}
        sets: list[set[Signed]] = [set() for _ in numbers]
        for unit, number in set_of_unit.items():
            sets[number].add(unit)
        if len(sets) == count:
            return sets
        count = len(sets)
        # The sum of a set's negative is the negative of its own.
        representatives = [lump for lump in sets if min(lump)[1] == 1]
        sums = [[signed_sum(row, lump) for lump in representatives] for row in rows]
        keys = {(i, s): (set_of_unit[i, s], *(s * v for v in sums[i])) for i, s in signed}


def signed_sum(weights: Sequence[fmpq | fmpz], lump: Collection[Signed]) -> fmpq | fmpz:
    """Σ ± of the weights from a set; 0 from one that is its own negative."""
    if any((i, -s) in lump for i, s in lump):
        return fmpz(0)
    return sum((s * weights[i] for i, s in lump), fmpz(0))


def is_same_map(one: SigmoidNetwork, other: SigmoidNetwork) -> bool:
    """True if lumping proves that two tanh networks have equal outputs for all inputs; False proves
    nothing."""
    sets = equal_unit_sets(
        block_diagonal(one.V, other.V), one.g + other.g, one.d + other.d, one.start + other.start
    )
    read = [*(-v for v in one.e), *other.e]
    return one.e0 == other.e0 and all(signed_sum(read, lump) == 0 for lump in sets)
