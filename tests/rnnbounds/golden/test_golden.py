"""Transcripts: what commands print and write, as text files beside this one.

A file holds calls and their answers:

    # Words that say what is shown.
    $ rnnbounds certify stable.pt --cell rnn-tanh --inputs 1
    certified: …
    + page/index.html      a file that the call wrote
    ! rnnbounds: …         standard error
    [1]                    the exit code, unless it is 0

Calls run one after another in a folder with the files of conftest.py, which DIR stands for.
`$ text page.html` prints what a page shows; `$ cat`, `$ cp` and `$ sed` are those of a shell.
`pytest --renew-golden` writes the answers anew: read the difference before it is committed.
"""

import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from shown import Shown, kept

HERE = Path(__file__).parent
INDENT = "    "
LONG = ("converted", "guard", "measure", "runs", "statements")


def settled(text: str, folder: Path) -> str:
    """The text without what another machine, day or release may say."""
    for pattern, instead in (
        (re.escape(str(folder)), "DIR"),
        (r"\b([0-9a-f]{12}|[0-9a-f]{32,64})\b", "SHA"),
        (r"\d{4}-\d\d-\d\d(T[\d:.+Z]+)?", "DATE"),
        (r"\b\d\.\d+(e-|·10⁻)[\d⁰¹²³⁴-⁹]+", "TINY"),
        (r"\.py:\d+", ".py"),
        (r"(\d\.0*\d{3})\d+", r"\1…"),
        (r"(?<=\S) {3,}", "  "),  # columns are as wide as the longest number
    ):
        text = re.sub(pattern, instead, text)
    return text


@pytest.fixture
def answer(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call, tiny: None
) -> Callable[[str], str]:
    """What a line of a transcript answers, in a copy of the files."""
    folder = Path(shutil.copytree(files, tmp_path / "files"))
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # of factories, beside the files
    # The solver of semidefinite programs is an extra: without it output is the same everywhere.
    monkeypatch.setattr("rnnbounds.impl.norms.metric.find_spec", lambda name: None)
    monkeypatch.setattr("rnnbounds.properties.systems.vanilla.plain.LONGEST", 3 * 2**7)

    def written() -> dict[str, int]:
        return {
            str(path.relative_to(folder)): path.stat().st_mtime_ns
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }

    def run(line: str) -> str:
        command, *words = shlex.split(line.replace("DIR", str(folder)))
        if command == "text":
            return str(Shown(Path(words[0]).read_text()))
        if command == "cat":
            return Path(words[0]).read_text()
        if command == "cp":
            shutil.copy(*words)
            return ""
        if command == "sed":  # s|OLD|NEW| of plain text
            _, old, new, _ = words[0].split(words[0][1])
            text = Path(words[1]).read_text()
            assert old in text
            Path(words[1]).write_text(text.replace(old, new.replace("\\n", "\n")))
            return ""
        assert command == "rnnbounds"
        before = written()
        outcome = call(*words)
        told = outcome.out
        told += "".join(f"! {line}\n" for line in outcome.err.splitlines())
        told += "".join(
            f"+ {name}\n" for name, time in written().items() if before.get(name) != time
        )
        if outcome.err:  # one line alone
            assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
            assert outcome.err.startswith("rnnbounds: ")
        return told + (f"[{outcome.code}]\n" if outcome.code else "")

    return lambda line: settled(run(line), folder)


def transcript(text: str, answer: Callable[[str], str]) -> Iterator[str]:
    """The transcript again, with the answers that are given now."""
    for line in text.splitlines():
        if not line.startswith(INDENT):
            yield f"{line}\n"
        if line.startswith("$ "):
            yield from (f"{INDENT}{told}\n" for told in answer(line[2:]).splitlines() if told)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=pytest.mark.slow if path.stem in LONG else ())
        for path in sorted(HERE.glob("*.txt"))
    ],
)
def test_transcript(path, answer, request):
    """Every answer is the one that is kept."""
    now = "".join(transcript(path.read_text(encoding="utf-8"), answer))
    assert now == kept(path, now, request)
