"""Tags: what the words of a header are, and the chunks that tags are of."""

import pytest

from rnnbounds.experiments.tasks.files import DataError
from rnnbounds.experiments.tasks.headers import tag_words
from rnnbounds.experiments.tasks.score import count_chunks, find_chunks
from rnnbounds.experiments.tasks.slots import slot_task


def test_headers():
    """What the grammar says of the words of a header."""
    words, tags = tag_words("async def f(a: int=3, *b, c: D[str]=None, **d) -> x.y:")
    told = [(word, tag) for word, tag in zip(words, tags, strict=True) if tag != "O"]
    assert told == [
        ("f", "B-function"), ("a", "B-parameter"), ("int", "B-annotation"),
        ("<number>", "B-default"), ("b", "B-parameter"), ("c", "B-parameter"),
        ("D", "B-annotation"), ("[", "I-annotation"), ("str", "I-annotation"),
        ("]", "I-annotation"), ("None", "B-default"), ("d", "B-parameter"), ("x", "B-return"),
        (".", "I-return"), ("y", "I-return"),
    ]  # fmt: skip
    assert tag_words("from ..a import c as d")[1] == (
        ["O", "B-module", "I-module", "I-module", "O", "B-name", "O", "B-alias"]
    )
    assert tag_words("class A(B, metaclass=C):")[1].count("B-base") == 2


def test_chunks():
    """Chunks as conlleval counts them: an I- of another type begins one."""
    tags = ["I-a", "I-a", "B-a", "O", "B-b", "I-a", "I-a"]
    assert list(find_chunks(tags)) == [("a", 0, 2), ("a", 2, 3), ("b", 4, 5), ("a", 5, 7)]
    assert count_chunks(["B-a", "I-a", "O"], ["B-a", "O", "B-b"]) == (0, 1, 2)
    assert count_chunks(["B-a", "I-a", "O"], ["B-a", "I-a", "B-b"]) == (1, 1, 2)


def test_a_row_of_a_table_takes_what_it_holds(tmp_path):
    """Not a cell for each name of the header, of which a million rows would make a million each."""
    names = ("atis.train.csv", "atis.test.csv")
    header = ",".join(["slots", *(f"x{i}" for i in range(2000)), "tokens"])
    for name in names:
        (tmp_path / name).write_text(header + "\nO\n")
    with pytest.raises(DataError, match="has no cells tokens and slots in line 2"):
        slot_task(tmp_path)
