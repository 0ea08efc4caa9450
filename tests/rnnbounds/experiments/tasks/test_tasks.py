"""Tasks: of what a package ships, and of miniatures of the published files; what is wrong in one
line."""

import json
import math
import os
import zlib
from importlib import import_module

import pytest
import torch

from rnnbounds.experiments.tasks import TASKS, matlab
from rnnbounds.experiments.tasks import files as data_files
from rnnbounds.experiments.tasks.files import DataError
from rnnbounds.experiments.tasks.music import load_bach, sample_notes
from rnnbounds.experiments.tasks.score import ClassScore
from rnnbounds.experiments.tasks.text import (
    MOST_CHARACTERS,
    TREEBANK,
    TREEBANK_CHARACTERS,
    WIKITEXT,
)

ATIS = "BOS flights from boston EOS\tO O O B-from.city atis_flight\n"


def write(folder, names, texts):
    """Files of these names."""
    folder.mkdir(exist_ok=True)
    for name, told in zip(names, texts, strict=True):
        (folder / name).write_text(told)
    return folder


@pytest.fixture
def tables(tmp_path):
    """Miniatures: `tables(name)` is a path of that published form."""

    def matlab():
        scipy_io = pytest.importorskip("scipy.io")
        import numpy as np

        cells = np.empty((1, 2), dtype=object)
        for i in range(2):
            cells[0, i] = np.zeros((3, 88), dtype=np.float64)
            cells[0, i][i, 40] = 1
        path = tmp_path / "JSB_Chorales.mat"
        names = ("traindata", "validdata", "testdata")
        scipy_io.savemat(path, dict.fromkeys(names, cells), do_compression=True)
        return path

    def chorales():
        path = tmp_path / "jsb-chorales-quarter.json"
        told = [[[60, 64], [], [62, -1]]]
        path.write_text(json.dumps({"train": told, "valid": told, "test": told, "more": 1}))
        return path

    lines = " = Title = \n\n the cat sat on the <unk> mat \n" * 40
    known = {
        "wikitext": lambda: write(tmp_path, WIKITEXT, [lines] * 3),
        "treebank": lambda: write(tmp_path, TREEBANK, [lines] * 3),
        "spelled": lambda: write(tmp_path, TREEBANK_CHARACTERS, [" ".join("the_cat_" * 99)] * 3),
        "json": chorales,
        "mat": matlab,
        "iob": lambda: write(
            tmp_path,
            ("atis-2.train.w-intent.iob", "atis-2.dev.w-intent.iob", "atis.test.w-intent.iob"),
            [ATIS] * 3,
        ),
        "two": lambda: write(
            tmp_path, ("atis.train.w-intent.iob", "atis.test.w-intent.iob"), [ATIS * 20, ATIS]
        ),
        "csv": lambda: write(
            tmp_path,
            ("atis.train.csv", "atis.test.csv"),
            ["id,tokens,slots,intent\n" + "0,BOS to boston EOS,O O B-to.city O,flight\n" * 20] * 2,
        ),
    }
    return lambda name: known[name]()


@pytest.mark.parametrize(
    ("name", "form", "symbols"),
    [
        ("words", "wikitext", 9),
        ("words", "treebank", 9),
        ("characters", "treebank", 20),
        ("characters", "spelled", 7),
        ("slots", "iob", 4),
        ("slots", "two", 4),
        ("slots", "csv", 3),
        ("music", "json", None),
        ("music", "mat", None),
    ],
)
def test_published_forms(name, form, symbols, tables):
    """Each published form is read: ids, targets that are the next input, a digest, a source."""
    path = tables(form)
    task = TASKS[name](path, True)
    assert task.symbols == symbols
    assert task.source in {one.name for one in (path.iterdir() if path.is_dir() else [path])}
    for part in task.all_parts:
        assert part.x.shape[:2] == part.y.shape[:2]
        if name in ("words", "characters"):
            assert torch.equal(part.x[:, 1:], part.y[:, :-1])
            assert int(part.x.max()) < task.symbols
    x, y = task.batch(3, 5)
    assert torch.equal(x, task.batch(3, 5)[0])
    assert len(x) == task.size
    assert bool(task.loss(torch.zeros(*y.shape[:2], task.outputs), y).isfinite())
    assert TASKS[name](path, True).digest == task.digest


def test_words_of_wikitext(tables):
    """Lines end with <eos>; any file of the three names them all; a limit makes <unk>."""
    folder = tables("wikitext")
    task = TASKS["words"](folder / WIKITEXT[1], False)
    line = ["=", "Title", "=", "<eos>", "<eos>", "the", "cat", "sat", "on", "the", "<unk>", "mat"]
    ids = {word: int(i) for word, i in zip(line, task.parts["training"].x[0], strict=False)}
    assert (ids["<unk>"], ids["the"]) == (0, 3)
    assert [ids[word] for word in line] == task.parts["training"].x[0, : len(line)].tolist()


def test_music_of_json(tables):
    """Pitches are keys from 21 on, −1 is a rest; beyond the end nothing is asked."""
    part = TASKS["music"](tables("json"), True).parts["training"]
    assert part.x[0].nonzero().tolist() == [[0, 39], [0, 43]]
    assert part.y[0, :2].nonzero().tolist() == [[1, 41]]
    assert bool(part.y[0, 2:].isnan().all())
    roll = sample_notes([(0.0, 1.5, 60), (1.5, 2.0, 61), (2.0, 4.0, 108), (0, 9, 109)], 4.0)
    assert roll.nonzero().tolist() == [[0, 39], [1, 39], [2, 87], [3, 87]]


def bad(tmp_path):
    """What is wrong: the task, how its files are made wrong, words of the line."""
    huge = "x " * 10_001
    mat = b"\0" * 124 + b"\0\1IM"
    bomb = zlib.compress(bytes(20_001))
    cell = (15).to_bytes(4, "little") + len(bomb).to_bytes(4, "little") + bomb
    iob = ("atis.train.w-intent.iob", "atis.test.w-intent.iob")
    return {
        "nothing": ("words", lambda p: p, "is no folder with such files"),
        "half": ("words", lambda p: write(p, WIKITEXT[:1], ["a b"]), "no folder with such files"),
        "short": (
            "words",
            lambda p: write(p, WIKITEXT, ["a b"] * 3),
            "too few symbols for training, 3",
        ),
        "empty": ("words", lambda p: write(p, WIKITEXT, [" "] * 3), "is no text"),
        "huge": ("words", lambda p: write(p, TREEBANK, [huge, "a", "b"]), "is larger than"),
        "bytes": ("characters", lambda p: raw(p, TREEBANK, b"\xff\xfe"), "is no UTF-8 at byte 0"),
        "fifo": ("characters", lambda p: fifo(p), "regular"),
        "pickle": ("music", lambda p: raw(p, ["jsb.pickle"], b"x"), "which can run code"),
        "npz": ("music", lambda p: raw(p, ["Jsb16thSeparated.npz"], b"PK"), "which can run code"),
        "text": ("music", lambda p: raw(p, ["a.json"], b"[[["), "holds no chorales"),
        "deep": ("music", lambda p: raw(p, ["a.json"], b"[" * 10**4), "holds no chorales"),
        "pitch": (
            "music",
            lambda p: raw(p, ["a.json"], b'{"train":[[[7]]],"valid":[],"test":[]}'),
            "7 is the pitch of no key",
        ),
        "frames": (
            "music",
            lambda p: raw(p, ["a.json"], b'{"train":[[[],[]],[[],[]]],"valid":[],"test":[]}'),
            "fill 100 frames, more than 99",
        ),
        "deeper": (
            "music",
            lambda p: raw(p, ["a.json"], b'{"x":' + b"[" * 5000 + b"]" * 5000 + b"}"),
            "holds no chorales",
        ),
        "none": (
            "music",
            lambda p: raw(p, ["a.json"], b'{"train":[],"valid":[],"test":[]}'),
            "no chorale of two frames",
        ),
        "mat": ("music", lambda p: raw(p, ["a.mat"], b"MATLAB"), "little-endian"),
        "cells": ("music", lambda p: raw(p, ["a.mat"], mat), "no cells traindata, validdata"),
        "bomb": ("music", lambda p: raw(p, ["a.mat"], mat + cell), "unpacks to more than"),
        "cut": ("music", lambda p: raw(p, ["a.mat"], mat + cell[:-9]), "cut off"),
        "tags": ("slots", lambda p: write(p, iob, [ATIS, "a b\tO"]), "in line 1"),
        "tag": ("slots", lambda p: write(p, iob, [ATIS, "a b\tX O"]), "in line 1"),
        "long": (
            "slots",
            lambda p: write(p, iob, [ATIS * 20, "w " * 300 + "EOS\t" + "O " * 301]),
            "is too small or too large",
        ),
        "columns": (
            "slots",
            lambda p: write(p, ("atis.train.csv", "atis.test.csv"), ["a,b\n1,2\n"] * 2),
            "no columns tokens and slots",
        ),
    }


def raw(folder, names, data):
    """A file of those bytes, or a folder of such files."""
    for name in names:
        (folder / name).write_bytes(data)
    return folder / names[0] if len(names) == 1 else folder


def fifo(folder):
    """A pipe, which would be waited for."""
    write(folder, TREEBANK, ["a"] * 3)
    (folder / TREEBANK[0]).unlink()
    os.mkfifo(folder / TREEBANK[0])
    return folder


@pytest.mark.parametrize("case", bad(None))
def test_what_is_wrong(case, tmp_path, monkeypatch):
    """A wrong or hostile file is refused in a line that ends with what to give."""
    monkeypatch.setattr(data_files, "LARGEST_FILE", 20_000)
    monkeypatch.setattr(matlab, "LARGEST", 20_000)
    monkeypatch.setattr(import_module("rnnbounds.experiments.tasks.music"), "MOST_FRAMES", 99)
    name, make, words = bad(tmp_path)[case]
    with pytest.raises(DataError) as told:
        TASKS[name](make(tmp_path), False)
    message = str(told.value)
    assert words in message
    assert "; give " in message
    assert "\n" not in message


def test_a_short_chorale_fills_a_sequence(tables, monkeypatch):
    """Memory is taken by sequences of 48 frames, of which a chorale of two fills one."""
    monkeypatch.setattr(import_module("rnnbounds.experiments.tasks.music"), "MOST_FRAMES", 305)
    with pytest.raises(DataError, match=r"fill 306 frames, more than 305"):  # of six with three
        TASKS["music"](tables("mat"), True)


def test_a_vocabulary_is_bounded(monkeypatch):
    """The most frequent words, ties by spelling; never more than so many."""
    words = ["b", "a", "c", "c"]
    assert data_files.vocabulary(words, 3, "<unk>") == {"<unk>": 0, "c": 1, "a": 2}
    monkeypatch.setattr(data_files, "MOST_SYMBOLS", 2)
    assert data_files.vocabulary(words, 9, "<unk>") == {"<unk>": 0, "c": 1}


def test_nothing_is_read_beyond_the_limit(tmp_path, monkeypatch):
    """A file of the limit is read, one byte more is not."""
    monkeypatch.setattr(data_files, "LARGEST_FILE", 3)
    (tmp_path / "a").write_bytes(b"abc")
    assert data_files.read_file(tmp_path / "a", "x") == b"abc"
    (tmp_path / "a").write_bytes(b"abcd")
    with pytest.raises(DataError, match="larger than 3 bytes"):
        data_files.read_file(tmp_path / "a", "x")


def test_what_packages_ship():
    """Words and characters of Python's help and its headers are there whatever is installed; no
    paragraph is in two parts."""
    words, characters = TASKS["words"](None, False), TASKS["characters"](None, False)
    assert words.symbols == 1000
    assert characters.symbols <= MOST_CHARACTERS
    assert words.bound == 1
    nats = torch.zeros(2, 3, 1000)
    assert words.judge.from_tally(
        words.judge.tally(nats, torch.zeros(2, 3).long())
    ) == pytest.approx(1000)
    assert characters.score(math.log(2)) == pytest.approx(1)


def test_scores(tables):
    """A tally of all is the sum of the tallies of batches; a model that is right scores best."""
    slots = TASKS["slots"](tables("iob"), True)
    _, y = next(iter(slots.batches("held out")))
    told = torch.nn.functional.one_hot(y.clamp(min=0), slots.outputs).float()
    right = slots.judge.tally(told, y)
    assert slots.judge.from_tally(right + right) == 100
    assert slots.judge.from_tally(slots.judge.tally(told.roll(1, 2), y)) == 0
    music = TASKS["music"](tables("json"), True)
    _, y = next(iter(music.batches("validation")))
    tally = music.judge.tally(torch.zeros_like(y), y)
    assert music.judge.from_tally(tally) == pytest.approx(88 * math.log(2))
    assert float(music.loss(torch.zeros_like(y), y)) == pytest.approx(88 * math.log(2))


@pytest.mark.slow
def test_chorales_of_music21():
    """A chorale in four parts sounds at most four notes a quarter, mostly four."""
    pytest.importorskip("music21")
    (roll,) = load_bach(1)["training"]
    assert roll.shape[1] == 88
    assert roll.sum(1).max() <= 8
    assert roll.sum(1).median() == 4


def test_classes():
    """How many of those asked are right, in per cent."""
    y = torch.tensor([[0, -1], [1, 2]])
    told = torch.nn.functional.one_hot(torch.tensor([[0, 0], [1, 0]]), 3).float()
    assert ClassScore().from_tally(ClassScore().tally(told, y)) == pytest.approx(200 / 3)
