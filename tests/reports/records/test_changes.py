import msgspec
import pytest

from rnnbounds.reports.records.changes import Change, Changes, list_names, make_change

ROWS = (
    make_change("new", "growth", "claims", after="growth"),
    make_change("regressed", "truncation", "proof", "proved", "not proved"),
    make_change("gone", "truncation", "forms", "uniform"),
    make_change("improved", "truncation", "tightest lhs/rhs", "0.5", "1"),
)


def changes(rows=ROWS, **more):
    """What changed between two runs."""
    return Changes(old="quick, seed 0", new="quick, seed 1", rows=rows, **more)


def test_text():
    """The worst first, and a line that counts."""
    assert changes().text == (
        "REGRESSED: truncation: proof: proved → not proved",
        "GONE: truncation: forms: uniform",
        "IMPROVED: truncation: tightest lhs/rhs: 0.5 → 1",
        "NEW: growth: claims: growth",
        "1 regressed, 1 gone, 1 improved, 1 new",
    )
    assert changes(()).text == ("nothing changed by more than the thresholds allow",)


def test_what_fails():
    """What regressed and what is gone, unless what is gone passes."""
    assert [row.kind for row in changes().failing] == ["regressed", "gone"]
    assert [row.kind for row in changes(fails=("regressed",)).failing] == ["regressed"]
    assert changes(ROWS[:1]).failing == ()


def test_json():
    """A document with its schema, which reads back."""
    data = msgspec.json.encode(changes())
    assert data.startswith(b'{"schema":"rnnbounds/changes/1"')
    assert msgspec.json.decode(data, type=Changes) == changes()
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(data.replace(b'"kind":"new"', b'"kind":"odd"'), type=Changes)


@pytest.mark.parametrize(
    "words", ["<script>alert(1)</script>", "a|b\n# c", "\x1b[31mred", "[x](y)", "x" * 10**6, "`*_"]
)
def test_hostile_texts_are_text(words):
    """No tag, no markup, no cell and no line more, and no more than a reader takes in."""
    told = changes((make_change("gone", words, words, words, words),))
    line, count = told.text
    assert line.isprintable()
    assert count == "1 gone"
    row = told.markdown.splitlines()[-1]
    assert row.count("|") == 5
    assert not set("<[`*\x1b") & set(row)
    assert max(len(line), len(row)) < 20_000


def test_a_row_s_line_leaves_out_what_is_empty():
    """No arrow from nothing."""
    assert Change(kind="new", subject="a", what="b").line == "a: b"


def test_many_names_are_counted():
    """Five, and how many more."""
    assert list_names(("a", "b")) == "a, b"
    assert list_names(tuple("abcdefg")) == "a, b, c, d, e and 2 more"
