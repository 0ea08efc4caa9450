"""Pickles are read as Python reads them, as long as they are plain; nothing that they name runs."""

import pickle
import re
import struct
from collections import OrderedDict, defaultdict
from contextlib import suppress
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnbounds.impl.reading.pytorch import unpickler
from rnnbounds.impl.reading.pytorch.unpickler import CodeError, Scripted, run_pickle
from rnnbounds.impl.reading.recognition.inert import Inert

PLAIN = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
)
KEYS = st.text() | st.integers(-(2**60), 2**60) | st.booleans() | st.none()
DATA = st.recursive(
    PLAIN,
    lambda of: st.lists(of) | st.dictionaries(KEYS, of) | st.tuples(of, of) | st.tuples(of),
    max_leaves=12,
)


def read(data, rebuild=None):
    """The object of a pickle that loads nothing from elsewhere."""
    return run_pickle(data, rebuild or {}, lambda _: None)


@given(DATA, st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_plain_data_are_as_python_reads_them(data, protocol):
    """Of any protocol; the first ones write bytes by a call, which is inert."""
    held = pickle.dumps(data, protocol)
    found = read(held)
    if protocol > 2 or not {b"_codecs", b"bytes"} & {*re.findall(rb"_codecs|bytes", held)}:
        assert repr(found) == repr(data)


@given(st.binary(max_size=60) | st.lists(st.sampled_from(list(b"(]}).0123NRcibos\x81\x93\x94ate"))))
def test_damaged_pickles_raise(held):
    """Any bytes give an object or an exception that can be caught."""
    for start in (b"", b"\x80\x02", pickle.dumps({"a": [1, (2,)]})[:-1]):
        with suppress(Exception):
            read(start + bytes(held) + b".")


class Own:
    """A class with all ways to be pickled."""

    def __init__(self):
        self.held = [1]

    def __setstate__(self, state):
        raise AssertionError("ran")


class OwnDict(dict):
    def __setitem__(self, key, value):
        raise AssertionError("ran")


class OwnList(list):
    def extend(self, items):
        raise AssertionError("ran")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_objects_of_code_are_inert(protocol):
    """Instances, subclasses of containers, classes, sets and what standard types reduce to."""
    inert = (
        Own(),
        OwnList([1, 2]),
        Own,
        {1, 2},
        frozenset({3}),
        PurePosixPath("a"),
        defaultdict(int),
    )
    values = {"first": 1, "objects": [*inert, dict.__new__(OwnDict)], "last": 2}
    found = read(pickle.dumps(values, protocol))
    assert (found["first"], found["last"]) == (1, 2)
    assert {type(one) for one in found["objects"]} == {Inert}
    assert "Own" in found["objects"][0].name or protocol < 2
    rebuilt = read(
        pickle.dumps(OrderedDict(a=1), protocol), {"collections.OrderedDict": lambda *_: {}}
    )
    assert rebuilt == {} or rebuilt == {"a": 1}


HARMFUL = {
    "a call": b"cos\nsystem\n(S'touch ran'\ntR.",
    "a function": b"cposix\nsystem\n.",
    "by the stack": b"\x80\x04\x8c\x02nt\x8c\x06system\x93.",
    "an instance": b"(S'touch ran'\niposix\nsystem\n.",
    "eval": b"c__builtin__\neval\n(S'1'\ntR.",
    "an import": b"cbuiltins\n__import__\n(S'os'\ntR.",
    "a process": b"csubprocess\nPopen\n((lS'touch'\naS'ran'\natR.",
    "a part of a module": b"cos.path\nos.system\n.",
}


@pytest.mark.parametrize("data", HARMFUL.values(), ids=HARMFUL)
def test_code_that_no_weights_need(data):
    """It is named, and not run."""
    with pytest.raises(CodeError):
        read(data)


INERT = {
    "an attribute": b"cbuiltins\ngetattr\n(cmy\nthing\nS'system'\ntR(S'touch ran'\ntR.",
    "an operator": b"coperator\nmethodcaller\n(S'system'\ntR.",
    "a call of a call": b"cmy\nf\n)R)R)R)R.",
    "a state of a class": b"\x80\x02cmy\nthing\n}U\x08__dict__K\x01sb.",
    "an extension": b"cmy\nthing\n)\x81}b.",
    "a new object with keywords": b"\x80\x04cmy\nthing\n)}\x92.",
    "an object by a mark": b"(cmy\nthing\nK\x01o.",
}


@pytest.mark.parametrize("data", INERT.values(), ids=INERT)
def test_other_code_is_inert(data):
    """It gives an object that nobody can call."""
    found = read(data)
    assert type(found) is Inert
    assert not callable(found)


DAMAGED = {
    "no stop": b"N",
    "nothing": b".",
    "a call of a number": b"K\x01)R.",
    "an object of text": b"U\x01a)\x81.",
    "arguments that are none": b"cmy\nf\nK\x01R.",
    "no mark": b"t.",
    "an unknown memo": b"h\x09.",
    "a key without a value": b"}(K\x01u.",
    "a key of a list": b"]K\x01K\x02s.",
    "an item of a number": b"K\x01K\x02a.",
    "an item of nothing": b"K\x01a.",
    "a registered extension": b"\x82\x01.",
    "a text of another file": b"PABC\n.",
    "a length beyond the file": b"\x8d" + struct.pack("<Q", 2**62) + b"a.",
    "a number of many digits": b"I" + b"9" * 10**5 + b"\n.",
    "a module without attributes": b"c__torch__\nNet\n)\x81K\x01b.",
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_pickles_that_are_none(data):
    """Any exception but one of code."""
    with pytest.raises((ValueError, IndexError, KeyError)):
        read(data)


def test_deep_and_wide_objects():
    """Nested tuples are not hashed as keys; an object may hold itself; a memo has any index."""
    deep = b"}" + b"N" + b"\x85" * 10**5 + b"K\x01s."
    assert list(read(deep)) == ["<tuple 0>"]
    shared = b"}N" + b"2\x86" * 200 + b"K\x01s."  # 2²⁰⁰ paths
    assert list(read(shared)) == ["<tuple 0>"]
    assert len(read(b"]" * 10**5 + b"a" * (10**5 - 1) + b".")) == 1
    itself = read(b"}q\x00U\x01ah\x00s.")
    assert itself["a"] is itself
    assert read(b"Nr" + struct.pack("<I", 2**32 - 1) + b".") is None
    assert list(read(b"}\x8a\x64" + b"\x01" * 100 + b"K\x01s.")) == ["<int 0>"]


def test_the_number_of_opcodes_is_bounded(monkeypatch):
    """A file may be small, and its opcodes many."""
    monkeypatch.setattr(unpickler, "MOST_OPCODES", 1000)
    assert read(b"N0" * 499 + b"N.") is None
    with pytest.raises(ValueError, match="more than 1000 opcodes"):
        read(b"N0" * 500 + b"N.")


@pytest.mark.slow
def test_a_million_opcodes():
    """They take some seconds, and no stack."""
    assert read(b"N0" * (10**6 // 2) + b"N.") is None


def test_modules_of_torchscript_have_their_attributes():
    """Flags, whole numbers and texts are no weights; anything else stays, by its name."""
    held = b"U\x01aG" + struct.pack(">d", 0.5) + b"U\x08trainingNU\x01nK\x03U\x01bcmy\nthing\n)\x81"
    lists = b"U\x0d_flat_weights](K\x01e"
    found = read(b"c__torch__.my\nNet\n)\x81}(" + held + lists + b"ub.")
    assert type(found) is Scripted
    assert found.keys() == {"a", "b", "_flat_weights"}
