"""What is attacked is never above what is certified, for models of every kind of cell."""

import pytest

from impl.cells.stacks.stack import PREFIX
from impl.certificate.record import Certificate
from impl.memory.adversary.attack import Attacked, attack, bracket
from properties.systems.certified.models import certified
from properties.systems.certified.specs import COMMON, LARGE, OTHERS
from properties.systems.spec import SystemSpec
from properties.systems.table import system

CELLS = (*COMMON, *OTHERS)
WORK = 2**32  # a tenth of what a user's model is given
REGIMES = ("gaussian", "driven", "signs", "shift", "gaussian")
FACTORS = (0.75, 0.5, 0.9, 0.25)
DTYPES = ("float32", "float64", "bfloat16", "float16")
EPSILONS = (0.1, 0.01, 0.26, 0.57)


def drawn(number: int) -> SystemSpec:
    """A model of the cell whose turn it is, whose parts change at paces of their own."""
    cell, turn = CELLS[number % len(CELLS)], number // len(CELLS) + number
    n = (2, 3, 4, 1, 6)[turn % 5]
    return system(
        "certified",
        cell=cell,
        norm="auto",
        regime=REGIMES[turn // 2 % len(REGIMES)],
        dtype=DTYPES[turn % len(DTYPES)],
        T=1,
        K=0,
        n=n,
        d=min(1 + turn % 2, n),
        layers=2 if cell.startswith((PREFIX, "deep-")) else 1,
        lam=FACTORS[turn % len(FACTORS)] / (2 if cell in LARGE else 1),
        epsilon=EPSILONS[turn // 3 % len(EPSILONS)],
        scale=(1.0, 0.25, 4.0)[turn % 3],
        bias=(0.5, 0.0, 1.0)[turn // 2 % 3],
        seed=number,
    )


def attacked(number: int) -> tuple[Certificate, Attacked]:
    """The certificate of a drawn model, and what is found against it at the same ε."""
    model, told = certified(drawn(number), 0)
    epsilons = tuple(epsilon for epsilon, _ in told.windows)
    return told, attack(model, told.input_bound, epsilons, work=WORK)


def quotients(numbers: range) -> dict[str, list[float]]:
    """Of each cell, the certified k over that which no k is below, where both are 1 or more."""
    found: dict[str, list[float]] = {}
    for number in numbers:
        told, against = attacked(number)
        for _, least, k in bracket(told, against):
            if k is not None:
                assert least <= k
                found.setdefault(told.cell, []).append(k / max(least, 1))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("cell", COMMON)
def test_no_attack_exceeds_a_certificate(cell: str) -> None:
    """Of the common cells, one model each; and something is found against each but the zero one."""
    number = CELLS.index(cell)
    told, against = attacked(number)
    found = bracket(told, against)
    assert len(found) == len(told.windows)
    assert told.verdict != "certified" or all(least <= k for _, least, k in found)
