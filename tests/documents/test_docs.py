"""The documentation says what the code says: its programs and commands are run."""

import ast
import doctest
import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import rnnbounds
from rnnbounds.cli import main
from rnnbounds.impl.cells.table import CELLS
from rnnbounds.impl.convert.truncate import truncate
from rnnbounds.theory import CLAIMS
from rnnbounds.theory.claims.models import NO_MODEL

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(\S*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def page(name: str) -> str:
    """The text of a page."""
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    """The examples of a page in a language."""
    return [block for word, block in BLOCK.findall(page(name)) if word == language]


PUBLIC = {
    **dict.fromkeys(rnnbounds.__all__, rnnbounds),
    **dict.fromkeys(rnnbounds.cells.__all__, rnnbounds.cells),
    **dict.fromkeys(rnnbounds.strategies.__all__, rnnbounds.strategies),
    **dict.fromkeys(rnnbounds.theory.__all__, rnnbounds.theory),
}
"""Each public name, and the module that has it."""


def test_every_public_name_is_in_the_reference() -> None:
    """Once each, under its module, and no other."""
    told, module = [], "rnnbounds"
    for kind, name in re.findall(r"\.\. (\w+):: ([\w.]+)$", page("reference/python"), re.MULTILINE):
        if kind in ("currentmodule", "automodule"):
            module = name
        else:
            told.append((name, module))
    assert sorted(told) == sorted((name, home.__name__) for name, home in PUBLIC.items())


def test_the_public_names_fit_on_two_screens() -> None:
    """No more than a reader sees at once: of `rnnbounds` 30, with its modules 45."""
    assert len(rnnbounds.__all__) <= 30
    assert len(PUBLIC) <= 45


@pytest.mark.parametrize("name", sorted(PUBLIC.keys() - {"CLAIMS", *rnnbounds.strategies.__all__}))
def test_every_public_name_has_an_example(name: str) -> None:
    """Which is Python, and names nothing of rnnbounds that is not public."""
    thing = getattr(PUBLIC[name], name)
    (*_, example) = doctest.DocTestParser().get_examples(thing.__doc__ or "")
    assert private_names(example.source) == []


def private_names(source: str) -> list[str]:
    """What a program takes from rnnbounds that is not public."""
    return [
        node.attr
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "rnnbounds"
        and node.attr not in dir(rnnbounds)
    ]


def test_it_is_short() -> None:
    """At most 15,000 words, and six guides of at most 900."""
    words = {place: len(place.read_text("utf-8").split()) for place in DOCS.rglob("*.md")}
    written = {place: n for place, n in words.items() if place.parent.name != "generated"}
    assert sum(written.values()) <= 15_000
    guides = [n for place, n in written.items() if place.parent.name == "guides"]
    assert len(guides) == 6
    assert max(guides) <= 900


def test_no_link_is_dead() -> None:
    """Every place that a page names by a path is there; what it names inside is the build's to
    say, which takes warnings for errors."""
    for place in DOCS.rglob("*.md"):
        if place.parent.name in ("generated", "records"):
            continue
        for link in re.findall(r"\]\(([^)#:]+)[^):]*\)", place.read_text(encoding="utf-8")):
            assert (place.parent / link).exists(), f"{place.name}: {link}"


def test_every_form_is_in_the_table_with_its_inclusions() -> None:
    """Each form once; the counts are those of the theory."""
    place = spec_from_file_location("tables", DOCS / "tables.py")
    assert place is not None
    assert place.loader is not None
    tables = module_from_spec(place)
    place.loader.exec_module(tables)
    first, _, *lines = tables.forms()
    rows = [line.split(" | ") for line in lines if line.startswith("| `")]
    forms = {f"{claim.id}/{form.name}": form for claim in CLAIMS for form in claim.forms}
    told = {row[0].strip("|` "): row[1] for row in rows}
    assert told == {
        name: ", ".join(form.inclusions) or "none: derived" for name, form in forms.items()
    }
    assert {row[0].strip("|` ") for row in rows if "not shown" in row[-1]} == NO_MODEL
    assuming = sum(bool(form.inclusions) for form in forms.values())
    counts = f"{len(forms)} forms, {assuming} of them derived from an assumed inclusion"
    assert first == f"{counts}."
    schemas = "\n".join(tables.schemas())
    assert all(f'"rnnbounds/{name}"' in schemas for name in ("run/4", "guarded/2", "changes/1"))


def test_attack_a_bound(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its program recomputes both sides of a dumped counter-example, and all keys are listed."""
    monkeypatch.chdir(tmp_path)
    statement = ("--statement", "h_gap <= S_0*lam**k", "--dump", "worst.npz")
    assert main(["replay", '{"kind":"linear","n":1,"d":1,"T":4,"K":2,"seed":0}', *statement]) == 1
    capsys.readouterr()
    (program,) = blocks("guides/bounds", "python")[:1]
    exec(program, {})
    differences = [line.split()[1:] for line in capsys.readouterr().out.splitlines()]
    assert len(differences) == 3
    assert all(abs(float(number)) < 1e-12 for line in differences for number in line)
    listed = page("reference/files")
    with np.load("worst.npz") as arrays:
        assert [name for name in arrays if f"`{name}`" not in listed] == []


@pytest.mark.slow
def test_models(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands about both directions and long memories print what stands there, but for what is
    left out."""
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    weights = torch.nn.LSTM(3, 16).state_dict()
    weights["weight_hh_l0"] /= 4
    save_file(weights, "lstm.safetensors")
    torch.manual_seed(0)
    both = torch.nn.LSTM(3, 16, bidirectional=True).state_dict()
    divided = {name: part / 4 if "weight_hh" in name else part for name, part in both.items()}
    save_file(divided, "both.safetensors")
    found: list[str] = []
    shown = blocks("guides/models", "")[1:]
    for line in filter(None, "".join(shown).splitlines()):
        if line.startswith("$ "):
            assert main(line.removeprefix("$ rnnbounds ").split()) == 0
            found = [told.rstrip() for told in capsys.readouterr().out.splitlines()]
        else:
            assert line.rstrip() in [*found, "…"]


def test_the_example_of_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cell that is added is read, certified, and truncated to within ε."""
    source, _ = blocks("guides/cell", "python")
    known: dict[str, Any] = {}
    exec(source, known)
    monkeypatch.setitem(CELLS, "kept", known["KINDS"][0])  # as impl/cells/table.py finds it
    generator = torch.Generator().manual_seed(0)
    model = {"g": torch.tensor([-1.0, 0.0, 1.0]), "b": torch.ones(3)}
    model["W"] = torch.randn(3, 3, generator=generator) / 16
    model["U"] = torch.randn(3, 2, generator=generator)
    module, certificate = truncate(model, eps=1e-2, inputs=1.0, cell="kept")
    assert certificate["verdict"] == "certified"
    x = torch.nn.functional.normalize(torch.randn(1, 200, 2, generator=generator), dim=2)
    whole = type(module)(dict(module.named_parameters()), cell="kept", k=200)
    with torch.no_grad():
        assert float((whole(x) - module(x)).norm(dim=2).max()) <= 1e-2


def test_the_examples_of_an_own_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minGRU whose box is proved, and an LRU whose λ is max |Λ|, each truncated to within ε."""
    monkeypatch.setattr("rnnbounds.impl.cells.table.CELLS", CELLS | {})
    known: dict[str, Any] = {}
    exec(blocks("guides/cell", "python")[1], known)
    draw = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=draw, dtype=torch.float64)

    nu = normal(3) - 1
    lru = known["lru_weights"](nu, normal(3), torch.complex(normal(3, 2), normal(3, 2)))
    gated = {"W_z": normal(3, 2), "W_h": normal(3, 2), "b_z": normal(3), "b_h": normal(3)}
    x = torch.nn.functional.normalize(normal(4, 120, 2), dim=2)
    for cell, model in (("min-gru", gated), ("lru", lru)):
        module, certificate = truncate(model, eps=1e-2, inputs=1.0, cell=cell)
        assert certificate["verdict"] == "certified"
        whole = type(module)(dict(module.named_parameters()), cell=cell, k=120)
        with torch.no_grad():
            assert float((whole(x) - module(x)).norm(dim=2).max()) <= 1e-2
        if cell == "min-gru":
            assert None not in certificate["box"]
        else:
            assert certificate["lambda"] == pytest.approx(float((-nu.exp()).exp().max()), rel=1e-12)


def test_the_example_of_a_loaded_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """It is the certificate that was written."""
    monkeypatch.chdir(tmp_path)
    (source,) = blocks("reference/python", "python")
    with torch.random.fork_rng(devices=[]):
        exec(source, {})
    assert capsys.readouterr().out.split() == re.findall(r"\b(?:True|False)\b", source)


@pytest.mark.slow
def test_the_model_on_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """The LSTM is trained as it says, and `measure` prints what stands there: words to the
    letter, numbers to 10 % or 1, since training rounds otherwise elsewhere."""
    pytest.importorskip("statsmodels")
    monkeypatch.chdir(tmp_path)
    source, *_ = blocks("guides/data", "python")
    with torch.random.fork_rng(devices=[]):
        exec(source, {})
    shown = [block for block in blocks("guides/data", "") if "sunspots.safetensors" in block]
    assert len(shown) == 2
    for command, *told in map(str.splitlines, shown):
        assert main(command.split()[2:]) == 0
        stands(told, capsys.readouterr().out.splitlines(), command)


@pytest.mark.slow
def test_any_model_and_what_reaches_a_layer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """The attention has its window; the hook saves what the layer is given."""
    monkeypatch.chdir(tmp_path)
    _, hook, attention = blocks("guides/data", "python")
    (tmp_path / "nets.py").write_text(attention)
    with torch.random.fork_rng(devices=[]):
        exec(attention, {"__name__": "__main__"})
    defined: dict[str, Any] = {}
    exec(hook, defined)
    model, x = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.GRU(3, 4)), torch.randn(5, 6, 2)
    defined["save_inputs"](model, "1", [x[:2], x[2:]], "rnn.npy")
    assert np.allclose(np.load("rnn.npy"), model[0](x).detach().numpy(), rtol=1e-5, atol=1e-6)
    *_, shown = blocks("guides/data", "")
    command, *lines = shown.splitlines()
    assert main(command.split()[2:]) == 0
    found = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert {line for line in lines if line != "…"} <= {*found}


@pytest.mark.parametrize(
    "name", [p.relative_to(DOCS).with_suffix("") for p in DOCS.glob("guides/*.md")], ids=str
)
def test_programs_name_what_exists(name: Path) -> None:
    """Every program of a page is Python, and names of rnnbounds in it are public."""
    for source in blocks(str(name), "python"):
        assert private_names(source) == []


@pytest.mark.slow
def test_the_tutorial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its programs and commands are run, one after another: words to the letter, numbers to 10 % or
    1, since training rounds otherwise elsewhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    with torch.random.fork_rng(devices=[]):
        for language, block in BLOCK.findall(page("tutorial")):
            if language == "python":
                name = block.splitlines()[0].removeprefix("# ")
                (tmp_path / name).write_text(block)
                if name.startswith("test_"):
                    run_tests(name)
                continue
            for command, told in commands(block):
                run(shlex.split(command))
                stands(told, capsys.readouterr().out.splitlines(), command)


def commands(block: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a block, and what it prints."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *told = part.splitlines()
        yield command, told


def run(words: list[str]) -> None:
    """A command, in this process; what is no success raises."""
    program, *rest = words
    if program == "python":
        sys.modules.pop("forecaster", None)  # as in a process of its own
        runpy.run_path(rest[0], run_name="__main__")
        sys.modules.pop("forecaster", None)
        return
    assert program == "rnnbounds"
    code = main(rest)
    assert code == (1 if rest[:2] == ["certify", "free.safetensors"] else 0)


def run_tests(name: str) -> None:
    """The tests of a file."""
    for key, test in runpy.run_path(name).items():
        if key.startswith("test_"):
            test()


def stands(told: list[str], found: list[str], command: str) -> None:
    """Whether a command printed what the guide says, where `…` stands for any lines or words."""
    rest = iter(found)
    free = False
    for line in told:
        if line == "…":
            free = True
        elif free:
            assert any(alike(line, one) for one in rest), f"{command}: {line}"
            free = False
        else:
            assert alike(line, next(rest, "")), f"{command}: {line}"
    assert free or not list(rest), command


def alike(told: str, found: str) -> bool:
    """Word by word; a `…` at the end is anything."""
    words, seen = told.split(), found.split()
    if words[-1:] == ["…"]:
        words, seen = words[:-1], seen[: len(words) - 1]
    return len(words) == len(seen) and all(map(same, words, seen))


def same(told: str, found: str) -> bool:
    """Equal, or numbers near one another."""
    near = 1.0 if told.isdecimal() else 0.0
    try:
        return told == found or float(found) == pytest.approx(float(told), rel=0.1, abs=near)
    except ValueError:
        return False
