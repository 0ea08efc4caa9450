"""No attacked lower end is above a certified k: every kind of cell, every kind of set of inputs.

``python tests/properties/certified/test_brackets.py UNITS [WORK]`` prints how far the two are apart
for models of so many units, the attack having 2^WORK products.
"""

import sys
from collections.abc import Callable
from itertools import cycle
from statistics import median

import pytest
import torch

from rnnbounds.impl.arithmetic.inputs.sets import input_box, input_rows
from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import CELLS, kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.inputs import input_data
from rnnbounds.impl.memory.adversary.attack import attack, bracket
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.properties.systems.certified.models import draw_weights
from rnnbounds.properties.systems.certified.specs import COMMON
from rnnbounds.properties.systems.drawing.draws import member_generator
from rnnbounds.properties.systems.table import make_spec

SEEDS, WORK, D = 1, 2**24, 2  # three seeds, each with every set, are what the documentation counts
# Stacks of cells that are not torch's, which are read alike.
RARE = ("leaky-tanh", "lstm-projected", "deep-tanh", "gru-cho", "rnn-relu")
KINDS = tuple(dict.fromkeys((*CELLS, *COMMON, *(f"stacked-{name}" for name in RARE))))


def table(seed: int) -> torch.Tensor:
    """Five inputs, one side of zero more often than the other."""
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(5, D, generator=draw, dtype=torch.float64) + 0.5


SETS: dict[str, Callable[[int], float]] = {
    "ball": lambda seed: 1.0 + seed,
    "box": lambda seed: input_box(-0.25, 1.0 + seed, D),
    "rows": lambda seed: input_rows(table(seed)),
    "data with a margin": lambda seed: input_data(table(seed), 0.125),
}


def drawn(cell: str, seed: int, n: int = 3) -> LoadedModel:
    """A model of three units, or of n, that mostly contracts, in float32."""
    spec = make_spec(
        "certified", cell=cell, norm="auto", regime="gaussian", n=n, d=D, T=1, K=0, bias=0.5,
        lam=(0.25, 0.5, 0.125)[seed % 3], seed=seed, dtype="float32",
        layers=2 if cell.startswith((PREFIX, "deep-")) else 1,
    )  # fmt: skip
    suffix = kind_of(cell).suffix
    parts = draw_weights(spec, member_generator(spec, 0))
    held = {name + suffix: torch.from_numpy(part.copy()).float() for name, part in parts.items()}
    return load_model(held, cell)


@pytest.mark.slow
def test_no_lower_end_is_above_what_is_certified() -> None:
    """Which `bracket` would say; and the two meet, or nearly, for some. Cells take sets in turn."""
    certified, met = 0, 0
    for seed in range(SEEDS):
        for cell, among in zip(KINDS, cycle(SETS.values()), strict=False):
            model, inputs = drawn(cell, seed), among(seed)
            told = certify(model, inputs, (0.25, 0.01))
            found = attack(model, inputs, (0.25, 0.01), work=WORK)
            for _, least, k in bracket(told, found):
                certified += k is not None
                met += k is not None and least >= k - 1
    assert certified > len(KINDS) * SEEDS
    assert met > certified / 10


def main(units: int, work: int = 32) -> None:
    """Print the median and the worst quotient of the certified k and the attacked lower end, 1 in
    the place of 0, and the ten worst."""
    found = []
    for seed in range(3):
        for cell, among in zip(KINDS, cycle(SETS), strict=False):
            model, inputs = drawn(cell, seed, units), SETS[among](seed)
            told = certify(model, inputs, (0.25, 0.01))
            attacked = attack(model, inputs, (0.25, 0.01), work=2**work)
            found += [
                (max(k, 1) / max(least, 1), cell, among, seed, epsilon, least, k)
                for epsilon, least, k in bracket(told, attacked)
                if k is not None
            ]
    found.sort(reverse=True)
    quotients = [row[0] for row in found]
    above = sum(quotient > 4 for quotient in quotients)
    print(f"{units} units: {len(found)} windows, median quotient {median(quotients):.3g}, ", end="")
    print(f"worst {quotients[0]:.3g}, {above} above 4")
    for quotient, *rest in found[:10]:
        print(f"{quotient:.3g}", *rest)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
