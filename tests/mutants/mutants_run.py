"""The mutation score of the trusted core: `tox -e mutants`.

    python tests/mutants/mutants_run.py [--sample N] [--seed S] [--module PREFIX] [--record FILE]

A deterministic sample of mutants, each module with its share, is tried one by one against the tests
that reach the edited line. A line of `--results` is written for each; a mutant that has one is not
tried again. The record has the score of each part, and every survivor with its reason, which
`reasons.toml` holds.

No kept tool does this: mutmut edits the bodies of functions alone, cosmic-ray starts a process for
each mutant, which imports for seconds, and neither draws a sample or turns a rounding inwards.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import signal
import sys
import tempfile
import tomllib
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mutants_edits import Mutant, mutants
from mutants_reach import Reach, reach_of
from mutants_trial import load, prepare, trial

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "planted"))

from planted import copy_rooms  # noqa: E402

REASONS = Path(__file__).with_name("reasons.toml")
PARTS = {
    "theory/kernel": "kernel", "impl/arithmetic": "carriers", "impl/numbers": "carriers",
    "impl/norms": "norms", "impl/checker": "checker", "properties/judging": "judge",
}  # fmt: skip
# In this order: what was tried is then imported once for those that come later, which, as the
# contracts of imports say, it does not know.
ROOMS = {"theory/": "rnnbounds.theory.claims.table", "impl/": "rnnbounds.impl.cells.table"}
COLLECT = 0.5  # seconds to collect a file of tests, about
Row = dict[str, Any]
Known = tuple[Reach, dict[str, float]]


def sample(found: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """About `count` mutants: of each module its share, at least one, drawn by the seed."""
    of_file: dict[str, list[Mutant]] = {}
    for one in found:
        of_file.setdefault(one.file, []).append(one)
    drawn = []
    for file, some in sorted(of_file.items()):
        share = min(len(some), max(1, round(count * len(some) / len(found))))
        drawn += random.Random(f"{seed} {file}").sample(some, share)
    return [one for one in drawn if is_python(one.text)]


def is_python(text: str) -> bool:
    """True if the text can be parsed: an edit in a pattern may not."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def select_tests(
    mutant: Mutant, reach: Reach, seconds: dict[str, float], budget: float
) -> tuple[list[str], list[str]]:
    """The tests that reach a mutant, fastest first, within a budget of CPU seconds, in which a file
    costs COLLECT: those of the mutant's own folder, and others.

    A line that at most one test reaches may run once for all, at the import or behind a cache: all
    tests that reach its module count, and those of the file that is named after it. Where none is
    known to, since it runs in another process, all tests of the folder count.
    """
    lines = {int(line): tests for line, tests in reach.get(mutant.file, {}).items()}
    known = sorted(lines)  # a line within a statement counts as the one on which this begins
    place = bisect_right(known, mutant.line)
    tests = set(lines[known[place - 1]]) if place else set()
    folders = (f"tests/{folder}/" for folder in Path(mutant.file).parents)
    home = next(folder for folder in folders if any(test.startswith(folder) for test in seconds))
    if len(tests) <= 1:
        tests = {test for some in lines.values() for test in some}
        named = f"{home}test_{Path(mutant.file).stem}.py::"
        tests |= {test for test in seconds if test.startswith(named)}
    tests = tests or {test for test in seconds if test.startswith(home)}
    own: list[str] = []
    others: list[str] = []
    files: set[str] = set()
    for test in sorted(tests, key=lambda test: (not test.startswith(home), seconds[test], test)):
        file = test.split("::")[0]
        cost = seconds[test] + COLLECT * (file not in files)
        if cost <= budget:
            budget -= cost
            files.add(file)
            (own if test.startswith(home) else others).append(test)
    return own, others


def outcome(
    mutant: Mutant, stages: Sequence[Sequence[str]], copy: Path, seconds: dict[str, float]
) -> tuple[str, str]:
    """The outcome of a mutant in the copy, which is afterwards as it was before.

    Most mutants fall to tests of their own folder, before others need be imported.
    """
    place = copy / mutant.file
    before = place.read_text(encoding="utf-8")
    place.write_text(mutant.text, encoding="utf-8")
    found, by = "survived", "" if any(stages) else "no test reaches it"
    try:
        for tests in filter(None, stages):
            found, by = trial(copy, ROOT, tests, 20 + 3 * sum(seconds[test] for test in tests))
            if found != "survived":
                break
    finally:
        place.write_text(before, encoding="utf-8")
    return found, by


def try_all(
    chosen: Sequence[Mutant], copy: Path, known: Known, budget: float, results: Path
) -> None:
    """Try all mutants without a row, and survivors of a smaller budget again, room by room; then
    the tests that failed must pass without a mutant.

    Raises RuntimeError if one of these does not: what it seems to kill would be no kill.
    """
    reach, seconds = known
    rows = read(results)
    done = {n for n, row in rows.items() if row["outcome"] != "survived" or row["budget"] >= budget}
    for room in ("theory/", "impl/", "properties/"):
        for mutant in chosen:
            if mutant.name in done or not mutant.file.startswith(room):
                continue
            stages = select_tests(mutant, reach, seconds, budget)
            found, by = outcome(mutant, stages, copy, seconds)
            row = {"name": mutant.name, "file": mutant.file, "outcome": found, "by": by}
            row |= {"budget": budget}
            with results.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(row, ensure_ascii=False) + "\n")
            print(f"{found:8} {mutant.name}", flush=True)
        if room in ROOMS:
            load(ROOMS[room])
    killers = sorted({row["by"] for row in read(results).values() if row["outcome"] == "failed"})
    found, by = trial(copy, ROOT, killers, 600) if killers else ("survived", "")
    if found != "survived":
        raise RuntimeError(f"{by} fails without a mutant: delete its rows of {results}")


def read(results: Path) -> dict[str, Row]:
    """The last row of each mutant in a file of results."""
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    return {row["name"]: row for row in map(json.loads, lines)}


def report(rows: Sequence[Row], reasons: dict[str, dict[str, str]], first: str) -> list[str]:
    """The record: a table of the parts' scores, then the survivors with their reasons."""
    counts: Counter[tuple[str, str]] = Counter()
    survivors = []
    for row in rows:
        part = next(name for folder, name in PARTS.items() if row["file"].startswith(folder))
        kind = row["outcome"]
        if kind == "survived":
            ((kind, reason),) = reasons.get(row["name"], {"survived": "not looked at yet"}).items()
            survivors.append(f"- {kind}: `{row['name']}`: {reason}")
        for name in (part, "all"):
            counts[name, "mutants"] += 1
            counts[name, kind] += 1
    table = [
        "| part | mutants | killed | of these by time | equivalent | survive | score |",
        "|---|---|---|---|---|---|---|",
    ]
    for part in (*dict.fromkeys(PARTS.values()), "all"):
        whole, same = counts[part, "mutants"], counts[part, "equivalent"]
        over = counts[part, "timeout"]
        killed = counts[part, "failed"] + counts[part, "broken"] + over
        score = f"{100 * killed / max(1, whole - same):.1f} %"
        cells = (part, whole, killed, over, same, whole - same - killed, score)
        table.append(f"| {' | '.join(map(str, cells))} |")
    return [first, "", *table, "", "Of those that no test killed:", "", *sorted(survivors)]


def main(arguments: Sequence[str]) -> int:
    """Try the sample and write the record; see the module."""
    parser = argparse.ArgumentParser(description="Mutation score of the trusted core.")
    parser.add_argument("--sample", type=int, default=320, metavar="N", help="about so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=5.0, help="of tests for each mutant")
    parser.add_argument(
        "--module",
        default="",
        metavar="PREFIX",
        help="of this file or folder alone, which writes no record",
    )
    parser.add_argument("--results", type=Path, default=Path("mutants.jsonl"))
    parser.add_argument("--reach", type=Path, default=Path("mutants-reach.json"))
    parser.add_argument("--record", type=Path, default=Path("mutants.md"))
    asked = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    files = sorted(path for folder in PARTS for path in (ROOT / folder).rglob("*.py"))
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in files}
    found = [mutant for file, text in texts.items() for mutant in mutants(file, text)]
    drawn = sample(found, asked.sample, asked.seed)
    chosen = [mutant for mutant in drawn if mutant.file.startswith(asked.module)]
    known = reach_of(asked.reach, tuple(PARTS))
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder, "code")
        copy_rooms(copy)
        prepare(copy, ROOT)
        try_all(chosen, copy, known, asked.seconds, asked.results)
    results = read(asked.results)
    rows = [results[mutant.name] for mutant in chosen]
    first = (
        f"{len(rows)} of {len(found)} mutants, drawn with seed {asked.seed}; each was tried with "
        f"tests that reach its line and are not slow, up to {asked.seconds:g} s of CPU time."
    )
    lines = report(rows, tomllib.loads(REASONS.read_text(encoding="utf-8")), first)
    if not asked.module:
        asked.record.write_text("\n".join([*lines, ""]), encoding="utf-8")
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
