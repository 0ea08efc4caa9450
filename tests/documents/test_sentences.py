"""Every sentence of README, of limits and of trust is held by a test that is named, or explains, or
says what was measured."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from rnnbounds.impl.cells.refutation.refute import SIZE
from rnnbounds.impl.norms.metric import FAST, LARGEST
from rnnbounds.reports.gate.settings import Thresholds

HERE = Path(__file__)
ROOT = HERE.parents[2]
TABLE = tomllib.loads(HERE.with_name("sentences.toml").read_text(encoding="utf-8"))
PAGES = ("README.md", "docs/explanation/limits.md", "docs/explanation/trust.md")


def sentences(page: str) -> Iterator[str]:
    """The sentences of a page, and the rows of its tables; no code, headings and heads of rows."""
    text = re.sub(r"(?ms)^```.*?^```$|^#[^\n]*|^\|[^\n]*\n\|[-| ]*$", "", page)
    for block in re.split(r"\n\s*\n|\n(?=- |\d+\. |\| )", text):
        words = re.sub(r"^(- |\d+\. |\| )", "", " ".join(block.split()))
        yield from [words] if words.endswith("|") else re.split(r"(?<=[.?!])\s+(?!\[)", words)


SENTENCES = [one for page in PAGES for one in sentences((ROOT / page).read_text("utf-8")) if one]


def test_every_sentence_is_held_or_explains() -> None:
    """Once in the table, by its beginning; and nothing in the table is said no more."""
    known = [start for starts in TABLE.values() for start in starts]
    for sentence in SENTENCES:
        assert sum(map(sentence.startswith, known)) == 1, sentence
    assert [start for start in known if not any(s.startswith(start) for s in SENTENCES)] == []


@pytest.mark.parametrize("node", sorted(TABLE.keys() - {"explains", "measured"}))
def test_the_test_is_there(node: str) -> None:
    """In the file that is named; a contract of imports by its name."""
    file, _, name = node.partition("::")
    text = (ROOT / file).read_text(encoding="utf-8")
    assert f"def {name}(" in text or f'name = "{name}"' in text


def test_numbers_are_those_of_the_code() -> None:
    """Sizes beyond which a search is not tried, and what passes for noise."""
    text = "\n".join(SENTENCES)
    assert (
        f"of at most {FAST} units have a norm from a semidefinite program (by name {LARGEST})"
        in text
    )
    assert text.count(f"at most {SIZE} numbers in a state") == 2
    assert f"a form may lose {Thresholds().tightness} of it" in text
