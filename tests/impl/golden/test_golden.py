"""Refusals as transcripts: each call and the one line with which it is refused.

A block `>>> call` is followed by what it answers: an error as its class and its line. `each` makes
several calls. `pytest --renew-golden` writes the answers anew: read the difference before it is
committed.
"""

import doctest
import re
from pathlib import Path

import pytest
from shown import kept

from rnnbounds.impl.errors import InputError

HERE = Path(__file__).parent
_NEEDS = {"onnx": "onnxruntime"}
# What a library says in its own words, of which versions have several.
_LIBRARY = re.compile(
    r"(no intact \S+ file |no intact file of [a-z ]+|no table of numbers |that onnx allows )"
    r"\((?!it has).*\);"
    r"|(no certificate )"
    r"\((?:Unterminated|Expecting|Out of range float|Exceeds the limit|'utf-8').*\);"
)


def answer(call) -> str:
    """What a call answers: the line of its error, or nothing."""
    try:
        call()
    except InputError as error:
        told = _LIBRARY.sub(r"\1\2(…);", str(error))
        return f"{type(error).__name__}: {told}\n"
    return ""


def played(text: str) -> str:
    """The transcript with today's answers."""
    known, written = {}, []

    def each(call, *items):
        written.extend(answer(lambda item=item: call(item)) or "no error\n" for item in items)

    known["each"] = each
    for part in doctest.DocTestParser().parse(text):
        if isinstance(part, str):
            written.append(part)
            continue
        for n, line in enumerate(part.source.splitlines()):
            written.append(f"{'...' if n else '>>>'} {line}".rstrip() + "\n")
        written.append(answer(lambda source=part.source: exec(source, known)))
    return "".join(written)


@pytest.mark.parametrize("path", sorted(HERE.glob("*.txt")), ids=lambda path: path.stem)
def test_transcripts(path, request, tmp_path, monkeypatch):
    """Each is what it was; files are those of an empty folder."""
    if path.stem in _NEEDS:
        pytest.importorskip(_NEEDS[path.stem])
    monkeypatch.chdir(tmp_path)
    now = played(path.read_text(encoding="utf-8"))
    assert kept(path, now, request) == now
