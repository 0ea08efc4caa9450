"""Specs: read, written, and refused."""

import json
import math

import pytest
from any_kind import any_system
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.systems.spec import LIMITS, Values, check_spec
from rnnbounds.properties.systems.table import KINDS, make_spec, parse_spec

ONE = Values(
    W=[[0.1]], U=[[1 / 3]], b=[5e-324], C=[[-0.0]], x=[[1.7e308]], h=[2.0**-1074], h_other=[0.3]
)


@given(st.floats(0, allow_infinity=False), st.floats(0, allow_infinity=False))
def test_round_trip_of_floats(lam: float, scale: float) -> None:
    """Every finite float comes back bit for bit."""
    back = parse_spec(make_spec(lam=lam, scale=scale).text)
    assert (back.lam.hex(), back.scale.hex()) == (lam.hex(), scale.hex())


def test_round_trip_of_written_out_values() -> None:
    """Subnormal, huge and negative zero entries come back bit for bit."""
    spec = make_spec(values=ONE)
    back = parse_spec(spec.text).values
    assert back is not None
    for name in ONE.__struct_fields__:
        assert str(getattr(back, name)) == str(getattr(ONE, name))


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "not JSON", "[" * 100_000, '{"values":' + "[" * 100_000, b"\xff\xfe",
     b'{"kind": "\xff"}', '{"n": 1}', '{"kind": "rnn"}', '{"kind": "cyclic"}'],
)  # fmt: skip
def test_hostile_text(text: str | bytes) -> None:
    """An invalid or too large spec raises one line with the remedy."""
    with pytest.raises(SpecError) as caught:
        parse_spec(text)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith("from the page")


@pytest.mark.parametrize("field", ["lam", "scale", "bias", "epsilon", "alpha"])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -1.0])
def test_numbers_are_finite_and_not_negative(field: str, bad: float) -> None:
    """NaN and infinity are refused in every real field."""
    with pytest.raises(SpecError, match="finite"):
        check_spec(replace(make_spec("training"), **{field: bad}))


def test_limits_are_reached() -> None:
    """The largest allowed value of each size is allowed, and the message names the true range."""
    odd = ("quadratic", "training")  # one has no runs, the other one sequence
    named = {"cell": "linear"}  # of what has a certificate; it has no layers
    for name, limit in ((name, limit) for name, limit in LIMITS.items() if name != "layer"):
        fields = {name: limit} | ({"T": limit} if name == "K" else {})
        for kind in KINDS.values():
            if kind.spec_type.has(name) and not kind.spec_type.limits and kind.name not in odd:
                check_spec(any_system(kind.name, **named, **fields))
    with pytest.raises(SpecError, match="K = -1 must lie between 0 and"):
        check_spec(make_spec(K=-1))
    with pytest.raises(SpecError, match="n = 0 must lie between 1 and"):
        check_spec(make_spec(n=0))


def test_alone_keeps_a_choice_that_was_made() -> None:
    """A pair of a pair is that pair."""
    pair = make_spec(batch=4, sequences=3).select_pair(2, 1)
    assert (pair.member, pair.sequence) == (2, 1)
    assert pair.select_pair(0, 0) == pair
    assert list(pair.members) == [2]
    assert list(make_spec(batch=4).members) == [0, 1, 2, 3]


def test_text_leaves_defaults_out() -> None:
    """A spec prints what it must name and what differs from the defaults, as one line."""
    text = make_spec(n=3, lam=0.25).text
    assert json.loads(text) == {"kind": "rnn", "n": 3, "d": 1, "T": 1, "seed": 0, "lam": 0.25}
    assert parse_spec(text) == make_spec(n=3, lam=0.25)
