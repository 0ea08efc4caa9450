"""What the project says of fixed inputs, frozen at one commit and compared with what it says now.

    python tests/oracle.py make [DIR] [--part NAME]
    python tests/oracle.py compare [DIR] [--part NAME] [--every N] [--within R]

The parts: `certificates`, of a model of every cell in every norm under every kind of set of inputs;
`brackets`, in the best norm, of the models of which memories are bracketed, and truncated; `files`,
which tests of the checker make, most of them tampered with; `runs`, records of quick runs; `pages`.
Each is a folder with what is asked, `asked.json` and the files that it names, and what was said,
`said.json`. `compare` asks again what was asked then, prints one line per difference, and exits
with 1 if there is any. Module paths, dates and versions are no differences. A run may have more
pairs and claims than before.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

TESTS = Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS / "shared"))

from oracle_differences import differences, read, run_differences  # noqa: E402
from oracle_parts import (  # noqa: E402
    Asked,
    ask_brackets,
    ask_certificates,
    ask_files,
    say_certificate,
    say_file,
)

SEEDS = range(5)
PAGES = ("rnn-tanh", "rnn-relu", "linear", "lstm", "gru", "leaky-tanh", "diagonal", "stacked-gru")


class Part(NamedTuple):
    """ask: writes the files of what is asked into the folder. say: asks one of it, there."""

    ask: Callable[[Path], dict[str, Asked]]
    say: Callable[[Asked], Any]


def ask_pages(folder: Path) -> dict[str, Asked]:
    """The page of a frozen record, and those of some frozen models."""
    records = json.loads((folder.parent / "runs" / "said.json").read_bytes())
    (folder / "run.json").write_text(json.dumps(records["0"]))
    asked: dict[str, Asked] = {"run": {"call": ["report", "run.json"]}}
    for cell in PAGES:
        model = f"{cell}-0.safetensors"
        shutil.copy(folder.parent / "certificates" / model, folder / model)
        asked[cell] = {"call": ["certify", model, "--cell", cell, "--input-bound", "1"]}
    return asked


def say_page(asked: Asked) -> Any:
    """The exit code, and the page that the command writes."""
    from rnnbounds.cli import main

    with (
        TemporaryDirectory() as out,
        redirect_stdout(io.StringIO()),
        redirect_stderr(io.StringIO()),
    ):
        code = main([*asked["call"], "--out", out])
        return [code, (Path(out) / "index.html").read_text("utf-8")]


def ask_runs(folder: Path) -> dict[str, Asked]:
    """The seeds."""
    return {str(seed): {"seed": seed} for seed in SEEDS}


def say_run(asked: Asked) -> Any:
    """The record of a quick run."""
    program = "import sys; from rnnbounds.cli import main; sys.exit(main(sys.argv[1:]))"
    with TemporaryDirectory() as out:
        call = ["verify", "--profile", "quick", "--seed", str(asked["seed"]), "--out", out]
        home = os.environ | {"PYTHONPATH": str(TESTS.parent)}
        subprocess.run([sys.executable, "-c", program, *call], env=home, check=False,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        return json.loads((Path(out) / "run.json").read_bytes())


PARTS = {
    "certificates": Part(ask_certificates, say_certificate),
    "brackets": Part(ask_brackets, say_certificate),
    "files": Part(ask_files, say_file),
    "runs": Part(ask_runs, say_run),
    "pages": Part(ask_pages, say_page),
}


def make(folder: Path, name: str) -> None:
    """Freeze a part."""
    folder.mkdir(parents=True)
    asked = PARTS[name].ask(folder)
    (folder / "asked.json").write_text(json.dumps(asked, indent=1))
    (folder / "said.json").write_text(json.dumps(dict(answers(folder, name, asked))))


def answers(folder: Path, name: str, asked: Mapping[str, Asked]) -> Iterator[tuple[str, Any]]:
    """What is said of each; files are named from the folder, since messages name them."""
    with chdir(folder):
        for which, one in asked.items():
            yield which, PARTS[name].say(one)


def compare(folder: Path, name: str, every: int, within: float) -> Iterator[str]:
    """The lines of a part that differ, of every so manieth of what was asked."""
    asked, said = (json.loads((folder / f"{one}.json").read_bytes()) for one in ("asked", "said"))
    for which, now in answers(folder, name, dict(islice(asked.items(), None, None, every))):
        then, now, at = said[which], json.loads(json.dumps(now)), f"{name} {which}:"
        if name == "runs":
            yield from (f"{at} {line}" for line in run_differences(then, now))
        elif name == "pages":
            (code, page), (code_now, page_now) = then, now
            yield from differences([code, read(page)], [code_now, read(page_now)], at)
        else:
            yield from differences(then, now, at, within)


def main(arguments: Sequence[str]) -> int:
    """Freeze, or compare."""
    os.environ["OMP_NUM_THREADS"] = "1"  # sums in one order; before torch is imported
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("make", "compare"))
    parser.add_argument("folder", type=Path, nargs="?", default=TESTS.parent / ".oracle")
    parser.add_argument("--part", choices=tuple(PARTS), action="append", help="repeatable")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="ask every N-th alone")
    parser.add_argument(
        "--within", type=float, default=0.0, help="by this ratio numbers may differ"
    )
    given = parser.parse_args(arguments)
    folder, parts = given.folder.resolve(), given.part or list(PARTS)
    if given.what == "make":
        for part in parts:
            make(folder / part, part)
        return 0
    count = 0
    for part in parts:
        for line in compare(folder / part, part, given.every, given.within):
            count += 1
            print(line, flush=True)
    print(f"{count} differences")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
