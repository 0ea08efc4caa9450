"""Text by words and by characters: the next one is to be told.

What is always there is the text of Python's own help. Published: WikiText-2 (Merity et al., 2016)
and Penn Treebank as Mikolov prepared it (2010), whose lines end with <eos>.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from platform import python_version
from pydoc_data import topics

import torch

from rnnbounds.experiments.tasks.files import DataError, find_family, read_text, vocabulary
from rnnbounds.experiments.tasks.score import SymbolScore
from rnnbounds.experiments.tasks.task import PARTS, Part, Task

WIKITEXT = ("wiki.train.tokens", "wiki.valid.tokens", "wiki.test.tokens")
TREEBANK = ("ptb.train.txt", "ptb.valid.txt", "ptb.test.txt")
TREEBANK_CHARACTERS = ("ptb.char.train.txt", "ptb.char.valid.txt", "ptb.char.test.txt")
FAMILIES = (WIKITEXT, TREEBANK, TREEBANK_CHARACTERS)
REMEDY = (
    f"a folder with {WIKITEXT[0]}, {TREEBANK[0]} or {TREEBANK_CHARACTERS[0]} and its two others"
)
UNKNOWN, END = "<unk>", "<eos>"
MOST_CHARACTERS = 64  # those of the default size
TEST_FACTOR = 4  # windows to judge by, against those to train on
Texts = Sequence[Sequence[str]]


def word_task(data: Path | None = None, full: bool = False) -> Task:
    """The next word, in perplexity; all but the most frequent ones are <unk>."""
    if data is None:
        name, texts = (
            help_source(),
            [re.findall(r"\w+|[^\w\s]", part.lower()) for part in help_texts()],
        )
    else:
        paths = find_family(data, FAMILIES[:2], REMEDY)
        name, texts = paths[0].name, [split_tokens(read_text(path, REMEDY)) for path in paths]
    limit = len(set(texts[0])) + 1 if full else 1000
    return symbol_task(
        "words", name, texts, SymbolScore("perplexity"), limit, 32, None if full else 60_000
    )


def character_task(data: Path | None = None, full: bool = False) -> Task:
    """The next character, in bits."""
    if data is None:
        name, texts = help_source(), [list(part.lower()) for part in help_texts()]
    else:
        paths = find_family(data, FAMILIES, REMEDY)
        name, spelled = paths[0].name, paths[0].name == TREEBANK_CHARACTERS[0]
        texts = [
            read_text(path, REMEDY).split() if spelled else list(read_text(path, REMEDY))
            for path in paths
        ]
    limit = len(set(texts[0])) + 1 if full else MOST_CHARACTERS
    unit = SymbolScore("bits a character")
    return symbol_task("characters", name, texts, unit, limit, 64, None if full else 200_000)


def help_source() -> str:
    """Whose text it is."""
    return f"CPython {python_version()}, pydoc_data.topics"


def help_texts() -> list[str]:
    """Python's help without what it says twice: the first 80 %, and a tenth each."""
    pieces = "".join(topics.topics.values()).split("\n\n")
    pieces = [re.sub(r"\s+", " ", piece) for piece in dict.fromkeys(pieces)]
    ends = [len(pieces) * tenths // 10 for tenths in (0, 8, 9, 10)]
    return [" ".join(pieces[a:b]) for a, b in pairwise(ends)]


def split_tokens(raw: str) -> list[str]:
    """Words between blanks, <eos> at the end of each line."""
    return [word for line in raw.splitlines() for word in (*line.split(), END)]


def symbol_task(
    name: str,
    source: str,
    texts: Texts,
    score: SymbolScore,
    limit: int,
    length: int,
    count: int | None,
) -> Task:
    """Ids of the `most` usual symbols, `count` of them to train on and an eighth to judge by."""
    ids_by_symbol = vocabulary(texts[0], limit, UNKNOWN)
    parts = {}
    for part, symbols in zip(PARTS, texts, strict=True):
        kept_symbols = count if part == "training" or count is None else count // 8
        T = length if part == "training" else TEST_FACTOR * length
        if len(symbols) <= T:
            raise DataError(Path(source), f"has too few symbols for {part}, {len(symbols)}", REMEDY)
        ids = torch.tensor([ids_by_symbol.get(symbol, 0) for symbol in symbols[:kept_symbols]])
        N = (len(ids) - 1) // T
        parts[part] = Part(ids[: N * T].reshape(N, T), ids[1 : N * T + 1].reshape(N, T))
    return Task(
        name, source, score, len(ids_by_symbol), len(ids_by_symbol), len(ids_by_symbol), parts
    )
