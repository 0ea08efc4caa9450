"""A new kind of system is one file: the rooms are copied, it is put there, and nothing else."""

import re
from pathlib import Path

import pytest
from rooms import with_files

README = Path(__file__).parents[3] / "README.md"
FILE = "properties/systems/rates.py"
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


@pytest.mark.slow
def test_a_kind_is_one_file(tmp_path: Path) -> None:
    """It is drawn, built, attacked, shrunk, replayed, and refuses the fields of others."""
    (kind,) = re.findall(rf"```python\n(# {FILE}\n.*?)```", README.read_text(), re.DOTALL)
    lines = with_files(tmp_path, {FILE: kind}, PROGRAM)
    assert lines[:3] == ["True 0 0 ['linear']"] * 2 + ["True VIOLATED"]
    assert "Object contains unknown field `taps`" in lines[3]
