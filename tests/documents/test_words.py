"""All that users read is in the field's words: documents, help, pages, messages and claims have
none of our own."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from jinja2 import Environment
from jinja2.lexer import TOKEN_DATA

import rnnbounds
from rnnbounds import theory
from rnnbounds.cli import main
from rnnbounds.impl.norms.state_norms import NORM_MEANINGS
from rnnbounds.shell.program import COMMANDS
from rnnbounds.theory import CLAIMS
from rnnbounds.theory.axioms.base import AXIOMS
from rnnbounds.theory.language.vocabulary import VOCABULARY

ROOT = Path(__file__).parents[2]
# Private names of things for which the field has a word. Not among them, as they are also standard
# or plain words: near (`--near`), first, least, reach, rows, units, columns, states, slopes,
# remaining, limits, stack (of layers), gap, kind, plain, off, about, kept, hand, drawing (of
# examples), settle (of a state), omega (the letter), sabotage (a part of a run), member (a field of
# specs) and members (of a class, in Sphinx).
OURS = re.compile(
    r"(?<!/)\b(told|hunt\w*|quarry|herd|convict\w*|fall(s|en)?|fell|rid(es?|er|den)|patience|"
    r"watcher|crew|hands|hired|kin|farewell|epitaph|referee\w*|settled|sabotaged|spans|twins?|"
    r"held(?!.out)|coarse|tubes?|chords?|suppl(y|ies|ied)|surroundings|undisturbed|roomy|"
    r"misfits?|foreign|fed|emphasis|breadth|typed|mend(s|ed)?)\b|\bluck\b",
    re.IGNORECASE,
)
RIDDLES = re.compile(r"(what|whether|where|as there|the same)\b(?!.*\?$)", re.IGNORECASE)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md"]
PAGES += sorted(
    path
    for path in (ROOT / "docs").rglob("*.md")
    if path.parent.name not in ("generated", "records")
)
ROOMS = ("theory", "impl", "properties", "reports", "rnnbounds")
MODULES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))


def ours(text: str) -> list[str]:
    """The private words in a text."""
    return [match.group() for match in OURS.finditer(text)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_documents(path: Path) -> None:
    """Prose and programs alike."""
    assert ours(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)], ids=" ".join)
def test_help(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Of the program and of each command."""
    assert main([*command, "--help"]) == 0
    assert ours(capsys.readouterr().out) == []


@pytest.mark.parametrize(
    "path", sorted((ROOT / "reports" / "pages" / "templates").glob("*.j2")), ids=lambda p: p.stem
)
def test_templates_of_pages(path: Path) -> None:
    """The text between what is filled in, tags left out."""
    source = path.read_text(encoding="utf-8")
    data = "".join(text for _, kind, text in Environment().lex(source) if kind == TOKEN_DATA)
    assert ours(re.sub(r"<[^>]*>", " ", data)) == []


@cache
def parsed(source: str) -> list[ast.AST]:
    """All nodes of a module."""
    return list(ast.walk(ast.parse(source)))


def texts(source: str) -> Iterator[tuple[int, str]]:
    """The strings of a module that may be read: line and text, {} for what is filled in.

    Docstrings are not among them, nor annotations, nor names: one word of small letters, digits
    and _.
    """
    nodes = parsed(source)
    passed: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Expr):
            passed.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            passed |= set(map(id, node.values))
            parts = (str(p.value) if isinstance(p, ast.Constant) else "{}" for p in node.values)
            yield node.lineno, "".join(parts)
        for name in ("annotation", "returns"):
            if annotation := getattr(node, name, None):
                passed |= set(map(id, ast.walk(annotation)))
    for node in nodes:
        match node:
            case ast.Constant(value=str(text)) if id(node) not in passed:
                if not re.fullmatch(r"[a-z_0-9.-]*", text):
                    yield node.lineno, text


def test_what_is_read_of_a_module() -> None:
    """Sentences and parts of f-strings, not docstrings, annotations or names."""
    module = '"""Told."""\nx: "Told" = f"a {x.told} b"; y["told"] = E("Told", "", "who told")\n'
    assert sorted(text for _, text in texts(module)) == ["Told", "a {} b", "who told"]


def read_in(
    room: str, read: Callable[[str], Iterator[tuple[int, str]]]
) -> Iterator[tuple[str, str]]:
    """FILE:LINE and text of all that is read of a room's modules."""
    for path in MODULES:
        if path.relative_to(ROOT).parts[0] == room:
            for line, text in read(path.read_text(encoding="utf-8")):
                yield f"{path.relative_to(ROOT)}:{line}", text


@pytest.mark.parametrize("room", ROOMS)
def test_messages(room: str) -> None:
    """Every string of the code that reads as text."""
    assert [(where, ours(text)) for where, text in read_in(room, texts) if ours(text)] == []


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each docstring of a module."""
    for node in parsed(source):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if documented and (text := ast.get_docstring(node)):
            yield node.body[0].lineno, text


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings(room: str) -> None:
    """Each names its object: none begins with a pronoun or a clause without a subject."""
    assert [each for each in read_in(room, docstrings) if RIDDLES.match(each[1])] == []


def stated() -> Iterator[tuple[str, str]]:
    """What is read of the theory, with where: of claims, axioms, quantities and norms."""
    for claim in CLAIMS:
        yield claim.id, claim.title
        yield claim.id, claim.extremal
        for form in claim.forms:
            yield f"{claim.id} ({form.name})", form.note
            yield from ((f"{claim.id} {each.id}", each.text) for each in form.assumptions)
        yield from ((f"{claim.id} {each.id}", each.text) for each in claim.false_variants)
    yield from ((each.id, each.text) for each in AXIOMS)
    yield from ((each.name, each.meaning) for each in VOCABULARY.values())
    yield from NORM_MEANINGS.items()


def test_the_theory() -> None:
    """No private word in any text of it, and no title that is a riddle."""
    assert [(where, ours(text)) for where, text in stated() if ours(text)] == []
    assert [where for where, text in stated() if RIDDLES.match(text)] == []


def callable_or_property(part: object) -> bool:
    """What has a docstring of its own: no field's default value has."""
    return callable(part) or isinstance(part, property)


@pytest.mark.parametrize("name", [*rnnbounds.__all__, *rnnbounds.cells.__all__, *theory.__all__])
def test_public_docstrings(name: str) -> None:
    """Of what is imported from rnnbounds and from theory, with public methods; none is a riddle."""
    (home,) = (one for one in (rnnbounds, rnnbounds.cells, theory) if name in one.__all__)
    thing = getattr(home, name)
    parts = [thing]
    if inspect.isclass(thing):
        parts += [part for name, part in vars(thing).items() if name[0] != "_"]
    for part in filter(callable_or_property, parts):
        text = re.sub(r"`[^`]*`", "", inspect.getdoc(part) or "")  # names of the code apart
        assert ours(text) == []
        assert not RIDDLES.match(text)
