"""Headers of Python's, with the slots that its grammar gives their words."""

import ast
import io
import tokenize
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

Sentence = tuple[list[str], list[str]]  # words, and their tags
_HEADED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_KINDS = {tokenize.NUMBER: "<number>", tokenize.STRING: "<string>"}


def read_headers(module: str) -> Iterator[Sentence]:
    """The headers of a module's source, in their order; none where it is not installed."""
    spec = find_spec(module)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return
    for node in ast.walk(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))):
        if isinstance(node, _HEADED):
            node.body, node.decorator_list = [ast.Pass()], []
        if isinstance(node, (*_HEADED, ast.Import, ast.ImportFrom)):
            line = ast.unparse(node).splitlines()[0]
            if line.isascii():
                yield tag_words(line)


def tag_words(line: str) -> Sentence:
    """Words and tags of a header in one line."""
    statement = f"{line} pass" if line.endswith(":") else line
    spans = list(find_slots(ast.parse(statement).body[0], line))
    words, tags = [], []
    for token in tokenize.generate_tokens(io.StringIO(line).readline):
        at = token.start[1]
        if not token.string.strip():
            continue
        words.append(_KINDS.get(token.type, token.string))
        inside = [(kind, first) for kind, first, end in spans if first <= at < end]
        tags.append("O")
        if inside:
            kind, first = inside[0]
            tags[-1] = f"{'B' if at == first else 'I'}-{kind}"
    return words, tags


def find_slots(node: ast.AST, line: str) -> Iterator[tuple[str, int, int]]:
    """(type, first column, one past the last); what is inside of another slot is of that one."""

    def span(kind: str, alias: ast.expr | None) -> Iterator[tuple[str, int, int]]:
        if alias is not None:
            yield kind, alias.col_offset, alias.end_col_offset or 0

    match node:
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            kind = "module" if isinstance(node, ast.Import) else "name"
            if isinstance(node, ast.ImportFrom):
                yield "module", len("from "), line.index(" import ")
            for alias in names:
                end = alias.col_offset + len(alias.name)
                yield kind, alias.col_offset, end
                if alias.asname:
                    yield "alias", end + len(" as "), end + len(f" as {alias.asname}")
        case ast.ClassDef(name=name, bases=bases, keywords=keywords):
            yield "class", len("class "), len(f"class {name}")
            for base in [*bases, *(keyword.value for keyword in keywords)]:
                yield from span("base", base)
        case ast.FunctionDef(name=name, args=a) | ast.AsyncFunctionDef(name=name, args=a):
            start = line.index("def ") + len("def ")
            yield "function", start, start + len(name)
            arguments = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
            for arg in arguments:
                if arg is not None:
                    yield "parameter", arg.col_offset, arg.col_offset + len(arg.arg)
                    yield from span("annotation", arg.annotation)
            for default in [*a.defaults, *a.kw_defaults]:
                yield from span("default", default)
            yield from span("return", getattr(node, "returns", None))
