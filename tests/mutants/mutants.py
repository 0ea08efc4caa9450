"""Which edits of the trusted core no test notices: `tox -e mutants`.

    python tests/mutants/mutants.py [--sample N] [--seed S] [--module PREFIX] [--record FILE]

A deterministic sample of mutants, each module with its share, is tried one by one against the quick
tests of the folder that is the module's, those of its own file first. The record has the score of
each part, and every survivor with its reason, which `reasons.toml` holds.

No kept tool does this: mutmut edits the bodies of functions alone, cosmic-ray starts a process for
each mutant, which imports for seconds, and neither draws a sample or turns a rounding inwards.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import resource
import signal
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "planted"))

from planted import copy_rooms  # noqa: E402

PARTS = {
    "theory/kernel": "kernel", "impl/arithmetic": "carriers", "impl/numbers": "carriers",
    "impl/norms": "norms", "impl/checker": "checker", "properties/judging": "judge",
}  # fmt: skip
WARM = ("flint", "hypothesis", "msgspec", "numpy", "safetensors", "sympy", "torch", "z3")
MEMORY = 2**33  # bytes: a mutant may ask for any amount

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
# What rounds outwards, and what takes the other end: an inward edit makes a bound unsound.
ENDS = {
    "up": "down", "upper": "lower", "above": "below", "hi": "lo", "ceil": "floor", "max": "min",
    "amax": "amin", "maximum": "minimum", "fmax": "fmin", "all": "any",
}  # fmt: skip
ENDS |= {b: a for a, b in ENDS.items()}
INWARD = {  # the same without its rounding, for those that have no opposite
    "add_up": "{0} + {1}", "mul_up": "{0} * {1}", "div_up": "{0} / {1}", "sum_up": "{0}.sum(-1)",
    "subtract_down": "{0} - {1}", "sqrt_up": "{0} ** 0.5", "norm_up": "{0}.norm(dim=-1)",
    "float_above": "float({0})", "nextafter": "{0}", "norm_above": "{0}.norm()",
}  # fmt: skip


class Mutant(NamedTuple):
    """One edit of a module; `text` is the whole module with it, `name` says the edit."""

    file: str
    name: str
    text: str


def mutants(file: str, text: str) -> list[Mutant]:
    """All mutants of a module of this text that are Python."""
    whole, found = text.encode(), {}
    lines = whole.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]
    for node, after in edits(ast.parse(text)):
        first = starts[node.lineno - 1] + node.col_offset
        last = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        before = " ".join(whole[first:last].decode().split())
        edited = (whole[:first] + after.encode() + whole[last:]).decode()
        where = lines[node.lineno - 1].decode().strip()
        name = f"{file}: {before} → {after}" + (f" in {where}" if before != where else "")
        with suppress(SyntaxError):  # as of an edit in a pattern
            ast.parse(edited)
            found[edited] = Mutant(file, name, edited)
    return list(found.values())


def edits(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Each node of a tree that is edited, with its new text."""
    for node in walk(tree):
        match node:
            case ast.Compare(left, [op], rights):
                yield node, code(ast.Compare(left, [COMPARISONS[type(op)]()], rights))
            case ast.BinOp(left, op, right) if type(op) in ARITHMETIC:
                yield node, code(ast.BinOp(left, ARITHMETIC[type(op)](), right))
            case ast.BoolOp(op, values):
                other = ast.Or() if isinstance(op, ast.And) else ast.And()
                yield node, code(ast.BoolOp(other, values))
            case ast.UnaryOp(ast.Not() | ast.USub(), operand):
                yield node, code(operand)
            case ast.Constant(bool() as value):
                yield node, str(not value)
            case ast.Constant(int() | float() as value):
                yield node, repr(value + 1)
            case ast.Expr(ast.Call()) | ast.Raise() | ast.Delete() | ast.AugAssign():
                yield node, "pass"
            case ast.Return(ast.expr()):
                yield node, "return None"
            case ast.If(test) | ast.IfExp(test) | ast.While(test):
                yield test, f"(not {code(test)})"
            case ast.Name(id=name) if name in ENDS:
                yield node, ENDS[name]
            case ast.Attribute(value, name) if name in ENDS:
                yield node, f"{code(value)}.{ENDS[name]}"
            case ast.Call(ast.Name(name) | ast.Attribute(_, name), args) if name in INWARD:
                if len(args) > INWARD[name].count("{1}"):
                    yield node, "(" + INWARD[name].format(*map(code, args)) + ")"


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below that say something that is computed: no text for people, nor types."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for one in value if isinstance(value, list) else [value]:
            match one:
                case ast.Raise():
                    yield one
                case ast.Assert() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
                    pass
                case ast.FunctionDef(name="__repr__" | "__str__") | ast.If(
                    ast.Name("TYPE_CHECKING")
                ):
                    pass
                case ast.MatchValue() | ast.MatchSingleton() | ast.keyword("strict"):
                    pass
                case ast.AST():
                    yield one
                    yield from walk(one)


def code(node: ast.expr) -> str:
    """An expression as text that stands anywhere."""
    text = ast.unparse(node)
    plain = isinstance(node, ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript)
    return text if plain else f"({text})"


def sample(found: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """About `count` mutants: of each module its share, at least one, drawn by the seed."""
    of_file: dict[str, list[Mutant]] = {}
    for one in found:
        of_file.setdefault(one.file, []).append(one)
    drawn = []
    for file, some in sorted(of_file.items()):
        share = min(len(some), max(1, round(count * len(some) / len(found))))
        drawn += random.Random(f"{seed} {file}").sample(some, share)
    return drawn


def tests_of(file: str) -> list[str]:
    """The files of tests that are the module's: named after it first, then those of its folder."""
    folders = [ROOT / "tests" / folder for folder in Path(file).parents]
    home = next(folder for folder in folders if any(folder.glob("test_*.py")))
    stem = Path(file).stem
    return [str(p) for p in sorted(home.rglob("test_*.py"), key=lambda p: (stem not in p.stem, p))]


def tried(mutant: Mutant, copy: Path, seconds: int) -> str:
    """The first test that fails with it, `time` or `broken`; empty if none does in CPU seconds.

    Tests run in a fork of this process, which has imported the large libraries.
    """
    place = copy / mutant.file
    before = place.read_text(encoding="utf-8")
    place.write_text(mutant.text, encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        first = Path(folder, "first")
        first.touch()
        if (child := os.fork()) == 0:
            judge(mutant.file, copy, seconds, first)
        try:
            _, status = os.waitpid(child, 0)
        finally:
            place.write_text(before, encoding="utf-8")
            with suppress(ProcessLookupError):  # it, and whatever the tests started
                os.killpg(child, signal.SIGKILL)
        exit_code = os.waitstatus_to_exitcode(status)
        if exit_code in (pytest.ExitCode.OK, -signal.SIGXCPU) and not first.read_text():
            return ""
        return first.read_text() or ("time" if exit_code == -signal.SIGALRM else "broken")


def judge(file: str, copy: Path, seconds: int, first: Path) -> None:
    """The child: run the tests on the copy; note the first that fails."""

    class First:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed:
                first.write_text(report.nodeid, encoding="utf-8")

    os.setsid()
    with Path(os.devnull).open("wb") as sink:
        os.dup2(sink.fileno(), 1)
        os.dup2(sink.fileno(), 2)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    signal.alarm(20 * seconds)
    os.chdir(copy)
    options = ("-x", "-q", "-m", "not slow", "--assert=plain", "-p", "no:cacheprovider")
    settings = ("-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT))
    os._exit(int(pytest.main([*options, *settings, *tests_of(file)], [First()])))


def report(results: dict[Mutant, str], first: str) -> tuple[list[str], list[str]]:
    """A table of the parts' scores, which is recorded, and the survivors with their reasons."""
    reasons = tomllib.loads(Path(__file__).with_name("reasons.toml").read_text(encoding="utf-8"))
    counts: Counter[tuple[str, str]] = Counter()
    survivors = []
    for mutant, by in results.items():
        kind, part = (
            "killed",
            next(p for folder, p in PARTS.items() if mutant.file.startswith(folder)),
        )
        if not by:
            ((kind, why),) = reasons.get(mutant.name, {"survived": "not looked at yet"}).items()
            survivors.append(f"- {kind}: `{mutant.name}`: {why}")
        counts.update((name, what) for name in (part, "all") for what in ("mutants", kind))
    table = ["| part | mutants | killed | equivalent | score |", "|---|---|---|---|---|"]
    for part in (*dict.fromkeys(PARTS.values()), "all"):
        whole, killed, same = (counts[part, what] for what in ("mutants", "killed", "equivalent"))
        score = 100 * killed / max(1, whole - same)
        table.append(f"| {part} | {whole} | {killed} | {same} | {score:.1f} % |")
    return [first, "", *table, ""], ["Of those that no test killed:", "", *sorted(survivors)]


def main(arguments: Sequence[str]) -> int:
    """Try the sample and write the record; see the module."""
    parser = argparse.ArgumentParser(description="Mutation score of the trusted core.")
    parser.add_argument("--sample", type=int, default=320, metavar="N", help="about so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=60, help="of CPU time for each mutant")
    parser.add_argument("--module", default="", metavar="PREFIX", help="of this alone; no record")
    parser.add_argument("--record", type=Path, default=Path("mutants.md"))
    asked = parser.parse_args(arguments)
    files = sorted(path for folder in PARTS for path in (ROOT / folder).rglob("*.py"))
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in files}
    found = [mutant for file, text in texts.items() for mutant in mutants(file, text)]
    drawn = [
        one for one in sample(found, asked.sample, asked.seed) if one.file.startswith(asked.module)
    ]
    results: dict[Mutant, str] = {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder, "code")
        copy_rooms(copy)
        for name in WARM:
            import_module(name)
        os.environ |= {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
        sys.dont_write_bytecode = True
        sys.path[:] = [str(copy), *(p for p in sys.path if p and Path(p).resolve() != ROOT)]
        for mutant in drawn:
            results[mutant] = tried(mutant, copy, asked.seconds)
            print(f"{results[mutant] or 'SURVIVED'}: {mutant.name}", flush=True)
    first = (
        f"{len(drawn)} of {len(found)} mutants, drawn with seed {asked.seed}; each was tried with "
        f"the quick tests of its folder, up to {asked.seconds} s of CPU time."
    )
    told, survivors = report(results, first)
    if not asked.module:
        asked.record.write_text("\n".join(told), encoding="utf-8")
    print(*told, *survivors, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
