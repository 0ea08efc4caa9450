"""Tags of words, told one by one from the left: B-TYPE begins a slot, I-TYPE goes on, O is none.

What is always there stands in for sentences about flights: headers of CPython's standard library
(def, class, import), whose own grammar says what is a parameter, an annotation, a default, …
Published: ATIS (Price, 1990) as .iob, words and tags with a tab between, and as .csv.
"""

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from platform import python_version

import torch
from torch import Tensor

from rnnbounds.experiments.tasks.files import DataError, find_family, read_text, vocabulary
from rnnbounds.experiments.tasks.headers import Sentence, read_headers
from rnnbounds.experiments.tasks.score import SlotScore
from rnnbounds.experiments.tasks.task import PARTS, Part, Task

IOB = ("atis-2.train.w-intent.iob", "atis-2.dev.w-intent.iob", "atis.test.w-intent.iob")
IOB_TWO = ("atis.train.w-intent.iob", "atis.test.w-intent.iob")
CSV = ("atis.train.csv", "atis.test.csv")
REMEDY = f"a folder with {IOB[0]}, {IOB_TWO[0]} or {CSV[0]} and its others"
MODULES = (
    "argparse", "ast", "calendar", "codecs", "configparser", "contextlib", "copy", "csv",
    "dataclasses", "datetime", "decimal", "difflib", "dis", "doctest", "enum", "fractions",
    "ftplib", "functools", "gettext", "gzip", "imaplib", "inspect", "ipaddress", "locale",
    "mailbox", "optparse", "os", "pathlib", "pdb", "pickle", "pickletools", "platform", "plistlib",
    "pydoc", "random", "shutil", "smtplib", "socket", "ssl", "statistics", "subprocess", "tarfile",
    "tempfile", "threading", "traceback", "turtle", "typing", "uuid", "warnings", "weakref",
    "zipfile",
)  # fmt: skip
MOST_WORDS, LONGEST_SENTENCE = 32, 256  # words of a sentence: of headers, and of any
MOST_TAGS, MOST_CELLS = 1000, 2**23  # tags, and words with what fills up their lines
UNKNOWN = "<unk>"
_TAG = re.compile(r"O|[BI]-\S+")


def slot_task(data: Path | None = None, full: bool = False) -> Task:
    """The tag of each word, by the F1 of slots; raises DataError."""
    if data is None:
        source = f"headers of CPython {python_version()}, {len(MODULES)} modules, by ast"
        by_words = {
            tuple(words): tags for module in MODULES for words, tags in read_headers(module)
        }
        parsed = [
            (list(words), tags) for words, tags in by_words.items() if len(words) <= MOST_WORDS
        ]
        splits = split_tenths(parsed)
    else:
        paths = find_family(data, (IOB, IOB_TWO, CSV), REMEDY)
        source, read_split = paths[0].name, read_iob if paths[0].suffix == ".iob" else read_csv
        splits = [read_split(path) for path in paths]
        if len(splits) < len(PARTS):  # a tenth of what is there to train on validates
            splits = [
                [s for i, s in enumerate(splits[0]) if i % 10 != 8],
                splits[0][8::10],
                splits[1],
            ]
    tags = sorted({tag for part in splits for _, line in part for tag in line})
    longest = max((len(words) for part in splits for words, _ in part), default=0)
    cells = longest * sum(map(len, splits))
    if not all(splits) or longest > LONGEST_SENTENCE or len(tags) > MOST_TAGS or cells > MOST_CELLS:
        raise DataError(data or Path(source), "is too small or too large", REMEDY)
    words = [word for line, _ in splits[0] for word in line]
    ids = vocabulary(words, len(set(words)) + 1 if full or data else 1000, UNKNOWN)
    places = {tag: i for i, tag in enumerate(tags)}
    parts = {}
    for name, part in zip(PARTS, splits, strict=True):
        x = pad_lines([[ids.get(word, 0) for word in line] for line, _ in part], longest, 0)
        y = pad_lines([[places[tag] for tag in line] for _, line in part], longest, -1)
        parts[name] = Part(x, y)
    score = SlotScore(tuple(tags))
    return Task("slots", source, score, len(ids), len(ids), len(tags), parts)


def split_tenths(parsed: Sequence[Sentence]) -> list[list[Sentence]]:
    """To train on, to choose by, to judge by: of any ten, one of the latter each."""
    return [
        [sentence for i, sentence in enumerate(parsed) if i % 10 < 8],
        list(parsed[8::10]),
        list(parsed[9::10]),
    ]


def pad_lines(lines: Sequence[Sequence[int]], length: int, filler: int) -> Tensor:
    """(N, length), filled up from the right."""
    return torch.tensor([[*line, *[filler] * (length - len(line))] for line in lines])


def read_iob(path: Path) -> list[Sentence]:
    """BOS words EOS, a tab, a tag for each, the intent in place of the last; raises DataError."""
    parsed = []
    for number, line in enumerate(read_text(path, REMEDY).splitlines(), start=1):
        if line.strip():
            words, tab, tags = line.partition("\t")
            parsed.append(parse_sentence(path, number, words, tags if tab else "", 1))
    return parsed


def read_csv(path: Path) -> list[Sentence]:
    """The columns tokens and slots of a table; raises DataError."""
    rows, parsed = csv.reader(io.StringIO(read_text(path, REMEDY)), strict=True), []
    try:
        names = next(rows)
        if not {"tokens", "slots"} <= set(names):
            raise DataError(path, "has no columns tokens and slots", REMEDY)
        words, tags = names.index("tokens"), names.index("slots")
        for number, row in enumerate(filter(None, rows), start=2):
            if len(row) <= max(words, tags):
                raise DataError(path, f"has no cells tokens and slots in line {number}", REMEDY)
            parsed.append(parse_sentence(path, number, row[words], row[tags], 0))
    except csv.Error as error:
        raise DataError(path, f"is no table ({error})", REMEDY) from None
    return parsed


def parse_sentence(path: Path, number: int, words_text: str, tagged: str, intents: int) -> Sentence:
    """Words and tags without BOS, EOS and the intent; raises DataError."""
    words, tags = words_text.split(), tagged.split()
    if len(words) != len(tags) or not all(map(_TAG.fullmatch, tags[: len(tags) - intents])):
        raise DataError(path, f"has no tag for each word in line {number}", REMEDY)
    inside = [i for i, word in enumerate(words) if word not in ("BOS", "EOS")]
    return [words[i] for i in inside], [tags[i] for i in inside]
