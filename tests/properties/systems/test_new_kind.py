"""A new kind of system is one file: the rooms are copied, it is put there, and nothing else."""

from pathlib import Path

from rooms import with_files

# Diagonal linear systems of two units, each with a rate of its own.
KIND = """
import numpy as np
from hypothesis import strategies as st

from properties.systems.drawing.choices import pick, seeds
from properties.systems.kind import Kind, cell_named
from properties.systems.spec import spec_of
from properties.systems.vanilla.drawn import drawn

Rates = spec_of("rates", "T K lam scale", activation="identity", n=2)


@st.composite
def rates(draw, wanted):
    T = draw(pick((3, 5)))
    return Rates(T=T, K=T, lam=draw(pick((0.5, 0.25))), seed=draw(seeds()), batch=wanted.batch)


def numbers(spec, member):
    return drawn(spec, member) | {"W": np.diag((spec.lam, spec.lam / 2))}


KINDS = (
    Kind(
        Rates, rates, numbers=numbers, cell=cell_named("linear"),
        extremal=lambda: iter([Rates(T=4, K=4, lam=0.75)]), contracts=True,
    ),
)
"""
PROGRAM = """
import msgspec
from dataclasses import replace
from properties.attacks.budget import Budget
from properties.attacks.campaign import attack_claim
from properties.attacks.shrink import shrink
from properties.errors import SpecError
from properties.systems.columns import cells_of
from properties.systems.table import kind_named, parse_spec
from theory import claim
from theory.language.parse import parse_statement

one = claim("state-bound")
form = one.form("uniform")
about = replace(one, forms=(replace(form, about="rates"),), false_variants=())
budget = Budget(random=3, targeted=2, gradient=1, ascent=1, batch=2, sequences=1)
for attack in ("random", "extremal"):
    (found,) = attack_claim(about, attack, budget=budget, seed=0).values()
    print(found.tally.holds > 0, found.tally.violated, found.tally.undecided, list(found.cells))
spec = kind_named("rates").spec(T=3, K=3, batch=2, seed=9)
false = parse_statement("h_gap <= 0")
print(parse_spec(spec.text) == spec, shrink("state-bound", "x", false, (), spec).verdict)
try:
    parse_spec(spec.text.replace('"lam"', '"n"').replace('"T"', '"taps":2,"T"'))
except SpecError as error:
    print(error)
"""


def test_a_kind_is_one_file(tmp_path: Path) -> None:
    """It is drawn, built, attacked, shrunk, replayed, and refuses the fields of others."""
    lines = with_files(tmp_path, {"properties/systems/rates.py": KIND}, PROGRAM)
    assert lines[:3] == ["True 0 0 ['linear']"] * 2 + ["True VIOLATED"]
    assert "Object contains unknown field `taps`" in lines[3]
