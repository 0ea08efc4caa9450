"""The README is short and says what the code says: its program and its commands are run."""

import re
from pathlib import Path

import pytest
import torch

from rnnbounds.cli import main
from rnnbounds.theory import CLAIMS
from rnnbounds.theory.axioms.base import AXIOMS
from rnnbounds.theory.proof.proof import axioms_used

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_short() -> None:
    """Read in a few minutes: 160 lines, 12 kB."""
    assert len(TEXT.splitlines()) <= 160
    assert len(TEXT.encode()) <= 12_000


def test_counts() -> None:
    """Of claims, of forms, and of the textbook theorems, every one of which is in use."""
    forms = [form for claim in CLAIMS for form in claim.forms]
    used = {axiom for form in forms for axiom in axioms_used(form.proof)}
    assert {axiom.text for axiom in AXIOMS if axiom not in used} == set()
    assert f"{len(CLAIMS)} claims are stated" in TEXT
    words = " ".join(TEXT.split())
    assuming = sum(bool(form.inclusions) for form in forms)
    assert f"{len(forms)} forms, {assuming} of them derived from an assumed inclusion" in words
    assert f"{len({axiom.id for axiom in AXIOMS})} textbook theorems" in words
    assert all(f"`{name}`" in TEXT for name in ("truncation", "urnn-tight"))


def test_places_that_it_names_exist() -> None:
    """Files of the repository; a link to another page is tested with the documentation."""
    for place in re.findall(r"\]\(([^):]+)\)", TEXT):
        assert (ROOT / place.split("#")[0]).exists(), place


@pytest.mark.slow
def test_sixty_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The model is trained and certified, and the four questions are answered, as it says: words to
    the letter, numbers to a tenth, since training rounds otherwise elsewhere."""
    monkeypatch.chdir(tmp_path)
    (program,) = re.findall(r"```python\n(# train.py\n.*?)```", TEXT, re.DOTALL)
    with torch.random.fork_rng(devices=[]):
        exec(program, {})
    (block,) = re.findall(r"```\n\$ (rnnbounds certify .*?)```", TEXT, re.DOTALL)
    command, *expected = block.splitlines()
    assert main(command.split()[1:]) == 0
    found = capsys.readouterr().out.splitlines()
    for line, stands in zip(found, expected[: expected.index("…")], strict=False):
        assert [*map(rounded, line.split())] == [*map(rounded, stands.split())]
    asked = re.findall(r"\| `rnnbounds (\w+ [^`]*)` \|", TEXT)
    assert [one.split()[0] for one in asked] == ["certify", "certify", "truncate"]
    for one in (*asked, "check short.safetensors"):
        assert main(one.split()) == 0
    assert re.search(r"memory at ε = 0.1: between \d+ and 2\d", capsys.readouterr().out)


def rounded(word: str) -> object:
    """A number to a tenth of itself, or 1; any other word as it is."""
    try:
        number = float(word.strip(","))
    except ValueError:
        return word
    return pytest.approx(number, rel=0.1, abs=1 if word.isdecimal() else 1e-9)
