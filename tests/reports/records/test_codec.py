import json
import math

import jsonschema
import pytest
from msgspec.structs import replace

from rnnbounds.reports.errors import RecordError
from rnnbounds.reports.records import codec
from rnnbounds.reports.records.codec import decode, encode, json_schema, load
from rnnbounds.reports.records.outcome import without_environment


def with_spec(run, spec):
    """The run with another spec in its first worst check."""
    claim = run.claims[0]
    return replace(run, claims=(replace(claim, worst=replace(claim.worst, spec=spec)),))


def test_round_trip(run):
    """A record reads back equal, and equal records have equal bytes."""
    data = encode(run)
    assert decode(data) == run
    assert encode(decode(data)) == data
    assert data.endswith(b"}\n")


def test_bytes_do_not_depend_on_insertion_order(run):
    """Mappings are written with sorted keys."""
    claim = run.claims[0]
    turned = replace(claim, attacks=dict(reversed(claim.attacks.items())))
    assert list(turned.attacks) != list(claim.attacks)
    assert encode(replace(run, claims=(turned,))) == encode(replace(run, claims=(claim,)))


@pytest.mark.parametrize(
    "spec", [{"x": math.nan}, {"x": (1, 2)}, {1: 2}, {"x": object()}, {"x": "\ud800"}]
)
def test_encode_refuses_what_would_not_read_back(run, spec):
    """A spec that JSON would change, or cannot hold, is refused in one line."""
    with pytest.raises(RecordError) as caught:
        encode(with_spec(run, spec))
    assert "\n" not in str(caught.value)


def test_encode_refuses_a_wrong_type(run):
    """A verdict that does not exist never reaches a file."""
    claim = run.claims[0]
    odd = replace(claim, worst=replace(claim.worst, verdict="PROBABLY"))
    with pytest.raises(RecordError, match="PROBABLY"):
        encode(replace(run, claims=(odd,)))


HOSTILE = {
    "empty": lambda data: b"",
    "truncated": lambda data: data[: len(data) // 2],
    "trailing": lambda data: data + b"{}",
    "not utf-8": lambda data: data.replace(b"quick", b"\xff\xfe"),
    "surrogate": lambda data: data.replace(b"quick", rb"\ud800"),
    "nan": lambda data: data.replace(b'"seed": 0', b'"seed": NaN'),
    "huge exponent": lambda data: data.replace(b'"n": 4', b'"n": 1e999'),
    "huge integer": lambda data: data.replace(b'"n": 4', b'"n": 1' + b"0" * 5000),
    "deep": lambda data: data.replace(b'"n": 4', b'"n": ' + b"[" * 10**5 + b"]" * 10**5),
    "no machine's count": lambda data: data.replace(b'"pairs": 96000', b'"pairs": 1' + b"0" * 400),
    "negative count": lambda data: data.replace(b'"pairs": 96000', b'"pairs": -1'),
    "unknown field": lambda data: data.replace(b'"seed": 0', b'"seed": 0, "extra": 1'),
    "unknown verdict": lambda data: data.replace(b'"HOLDS"', b'"MAYBE"'),
    "missing field": lambda data: data.replace(b'"seed": 0,', b""),
    "a list": lambda data: b"[]",
    "an assumption without a name": lambda data: data.replace(b'"bounded",', b"", 1),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_decode_refuses(run, name):
    """Whatever is not a whole valid record is refused in one short line."""
    data = HOSTILE[name](encode(run))
    assert data != encode(run)
    with pytest.raises(RecordError) as caught:
        decode(data)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("at", "text"), [((), "length >= 2"), ((1,), "length >= 2"), ((1, 10**400), "int")]
)
def test_a_curve_that_cannot_be_drawn(run, at, text):
    """It has no line, or a place that no axis has."""
    document = json.loads(encode(run))
    points = [{"at": place, "lhs": 0.5, "rhs": 1.0} for place in at]
    document["claims"][0]["forms"][0]["curve"] = {"against": "k", "points": points}
    with pytest.raises(RecordError, match=text):
        decode(json.dumps(document).encode())


def test_size_limit(run, tmp_path, monkeypatch):
    """A record above the limit is refused before it is parsed, from a file before it is read."""
    monkeypatch.setattr(codec, "MOST_BYTES", 10)
    with pytest.raises(RecordError, match="too many"):
        decode(b" " * 11)
    path = tmp_path / "run.json"
    path.write_bytes(b" " * 11)
    with pytest.raises(RecordError, match=r"run\.json: it is larger than 10 bytes"):
        load(path)


def test_load(run, tmp_path):
    """A file loads; a missing, a wrong one and a folder are refused by name."""
    path = tmp_path / "run.json"
    path.write_bytes(encode(run))
    assert load(path) == run
    path.write_bytes(b"{")
    for bad in (path, tmp_path / "absent.json", tmp_path):
        with pytest.raises(RecordError, match=f"^{bad}: "):
            load(bad)


def test_a_record_of_another_schema_is_refused(run):
    """By its name; nothing of it is read."""
    data = encode(run).replace(b"rnnbounds/run/4", b"rnnbounds/run/2")
    with pytest.raises(RecordError, match="schema 'rnnbounds/run/2', not 'rnnbounds/run/4'; write"):
        decode(data)


def test_schema_validates_records(run):
    """The published schema accepts a record and refuses a broken one."""
    validator = jsonschema.Draft202012Validator(json_schema())
    validator.check_schema(json_schema())
    document = json.loads(encode(run))
    assert not list(validator.iter_errors(document))
    document["claims"][0]["tally"]["holds"] = -1
    document["claims"][0]["worst"]["verdict"] = "MAYBE"
    document["extra"] = 1
    assert len(list(validator.iter_errors(document))) == 3


def test_comparable_ignores_the_environment_only(run):
    """Two runs that differ in time are comparable; two that differ in seed are not equal."""
    later = replace(run, environment=replace(run.environment, seconds=7.0, finished="later"))
    assert later != run
    assert without_environment(later) == without_environment(run)
    assert without_environment(replace(run, seed=1)) != without_environment(run)
