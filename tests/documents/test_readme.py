"""The README says what the code says.

``python tests/documents/test_readme.py report/run.json`` writes the table of claims anew, there and
in the record that the package carries, from the record of a run.
"""

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from msgspec import structs
from safetensors.torch import save_file

from impl.cells.table import CELLS
from impl.convert.truncate import truncate
from properties.attacks.budget import PROFILES
from reports import disk, load, problems
from reports.table import CARRIED, encode_table, table_of
from rnnbounds.cli import main
from rnnbounds.commands.claims import markdown_table
from rnnbounds.commands.proofs import row_of
from theory import CLAIMS
from theory.axioms.base import AXIOMS
from theory.proof.laws import axioms_of, counted

README = Path(__file__).parents[2] / "README.md"
START, END = "<!-- claims -->\n", "<!-- end of claims -->"


def test_table_of_claims(capsys: pytest.CaptureFixture[str]) -> None:
    """The table is what the command prints, of the record that another test keeps current."""
    assert main(["claims", "--markdown"]) == 0
    assert README.read_text().split(START)[1].split(END)[0] == capsys.readouterr().out


def test_axioms() -> None:
    """The README says what the last line of `rnnbounds prove` says: every law is one in use."""
    used = {axiom for claim in CLAIMS for form in claim.forms for axiom in axioms_of(form.proof)}
    assert {axiom.text for axiom in AXIOMS if axiom not in used} == set()
    assert counted(AXIOMS).text in " ".join(README.read_text().split())


def test_no_k_below(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands about long memories print what stands there, but for what is left out."""
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    weights = torch.nn.LSTM(3, 16).state_dict()
    weights["weight_hh_l0"] /= 4
    save_file(weights, "lstm.safetensors")
    block = README.read_text().split("### No k below")[1].split("```")[1]
    told: list[str] = []
    for line in filter(None, block.splitlines()):
        if line.startswith("$ "):
            assert main(line.removeprefix("$ rnnbounds ").split()) == 0
            told = capsys.readouterr().out.splitlines()
        else:
            assert line in [*told, "…"]


def test_the_example_of_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cell that the README adds is read, certified, and truncated to within ε."""
    (source,) = (block for block in blocks("python") if "class Kept" in block)
    known: dict[str, Any] = {}
    exec(source, known)
    monkeypatch.setitem(CELLS, "kept", known["KINDS"][0])  # as impl/cells/table.py finds it
    generator = torch.Generator().manual_seed(0)
    model = {"g": torch.tensor([-1.0, 0.0, 1.0]), "b": torch.ones(3)}
    model["W"] = torch.randn(3, 3, generator=generator) / 16
    model["U"] = torch.randn(3, 2, generator=generator)
    module, certificate = truncate(model, 1e-2, 1.0, cell="kept")
    assert certificate["verdict"] == "certified"
    x = torch.nn.functional.normalize(torch.randn(1, 200, 2, generator=generator), dim=2)
    whole = type(module)(dict(module.named_parameters()), cell="kept", k=200)
    with torch.no_grad():
        assert float((whole(x) - module(x)).norm(dim=2).max()) <= 1e-2


@pytest.mark.slow
def test_the_model_on_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """The LSTM is trained as the README does, and `measure` prints what stands there: words, k and
    shares to the letter, what was seen to 2 %, since training rounds otherwise elsewhere."""
    pytest.importorskip("statsmodels")
    monkeypatch.chdir(tmp_path)
    (source,) = (block for block in blocks("python") if "statsmodels" in block)
    exec(source, {})
    told = re.findall(r"```\n(\$ rnnbounds measure .*?)```", README.read_text(), re.DOTALL)
    assert len(told) == 2
    for command, *expected in map(str.splitlines, told):
        assert main(command.split()[2:]) == 0
        found = capsys.readouterr().out.splitlines()
        if expected[0] == expected[-1] == "…":
            expected = expected[1:-1]
            start = [line.split(":")[0] for line in found].index(expected[0].split(":")[0])
            found = found[start : start + len(expected)]
        assert len(found) == len(expected)
        for line, stands in zip(found, expected, strict=True):
            for one, other in zip(line.split(), stands.split(), strict=True):
                seen, stood = (word.strip(",;") for word in (one, other))
                assert seen == stood or float(seen) == pytest.approx(float(stood), rel=0.02)


def test_no_part_of_a_run_is_carried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The record of one claim would take the others away: both files stay as they are."""
    places = {name: tmp_path / name for name in ("README", "CARRIED")}
    for name, place in places.items():
        place.write_bytes(globals()[name].read_bytes())
        monkeypatch.setitem(globals(), name, place)
    before = [place.read_bytes() for place in places.values()]
    budget = replace(PROFILES["quick"], random=2, targeted=1, batch=4, sequences=2)
    monkeypatch.setitem(PROFILES, "quick", budget)
    one = ("certified-norm", "-n", "0", "--attacks", "random", "--out", str(tmp_path))
    assert main(["verify", *one]) == 0
    with pytest.raises(SystemExit, match="it is not of all claims"):
        write(tmp_path / "run.json")
    assert [place.read_bytes() for place in places.values()] == before


def blocks(language: str) -> list[str]:
    """The README's examples in a language."""
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(), re.DOTALL)


def write(record: Path) -> None:
    """The table of a whole run that holds, to both places or to neither; else SystemExit."""
    run = load(record)
    found = problems(run)
    if {claim.id for claim in run.claims} != {claim.id for claim in CLAIMS}:
        found.append("it is not of all claims")
    if found:
        raise SystemExit(f"{record}: {found[0]}; write the run of all claims again")
    needs = {claim.id: row_of(claim, ()).needs for claim in CLAIMS}
    table_now = table_of(run)
    rows = tuple(structs.replace(row, needs=needs[row.id]) for row in table_now.claims)
    table_now = structs.replace(table_now, claims=rows)
    head, rest = README.read_bytes().decode().split(START)
    table = "".join(f"{line}\n" for line in markdown_table(rows))
    page = head + START + table + END + rest.split(END)[1]
    disk.write({CARRIED: encode_table(table_now), README: page.encode()})


if __name__ == "__main__":
    write(Path(sys.argv[1]))
