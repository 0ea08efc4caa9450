"""The worst instance on the page: drawn from the record alone, its arrays in a link."""

import io
import re
from base64 import b64decode
from xml.etree import ElementTree

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from rnnbounds.reports import Run, decode, encode
from rnnbounds.reports.pages.page import render_run
from rnnbounds.reports.pages.run.worst import (
    arrays_file_name,
    arrays_url,
    gap_figure,
    states_figure,
)
from rnnbounds.reports.records.checks.curve import Point
from rnnbounds.reports.records.record import InstanceArrays

SVG = ElementTree.fromstring
STEPS, WINDOW = 6, 3


def states(steps: int, width: int = 1) -> tuple[tuple[float, ...], ...]:
    """h_0 … h_steps of h' = h/2 + 1, each entry alike."""
    return tuple((2 - 2 * 0.5**t,) * width for t in range(steps + 1))


def drawn_of(check, width: int = 1, **fields) -> InstanceArrays:
    """The runs of one check: six inputs, and the last three of them."""
    usual = {
        "weights": {"b": ((1.0,) * width,), "W": ((0.5,) * width,) * width},
        "inputs": ((1.0,),) * STEPS,
        "states": states(STEPS, width), "others": states(WINDOW, width),
        "sides": tuple(Point(at=k, lhs=2 * 0.5**k, rhs=2.5 * 0.5**k) for k in range(STEPS)),
    }  # fmt: skip
    return InstanceArrays(check=check, **usual | fields)


def with_drawn(run, **fields):
    """The run with an instance drawn of its second claim."""
    claim = run.claims[1]
    drawn = drawn_of(claim.worst, **fields)
    return replace(run, claims=(run.claims[0], replace(claim, drawn=drawn)))


def arrays(url: str):
    """The arrays behind a data: URL."""
    head, data = url.split(",")
    assert head == "data:application/zip;base64"
    return dict(np.load(io.BytesIO(b64decode(data))))


def points(figure, look: str) -> int:
    """How many separate outlines a figure has of one look."""
    groups = [g for g in SVG(str(figure)).iter("g") if g.get("class") == look]
    return sum(path.get("d", "").count("M") for group in groups for path in group)


def test_both_runs_and_the_gap_under_its_bound(check):
    """Two lines of states, the second from T − k on; both sides at each window."""
    drawn = drawn_of(check())
    assert drawn.window == WINDOW
    first = states_figure(drawn)
    assert (points(first, "s1 line"), points(first, "s2 dashed")) == (1, 1)
    assert "hₜ" in first
    second = gap_figure(drawn)
    assert (points(second, "s1 line"), points(second, "s2 points")) == (1, STEPS)
    assert "2 under 2.5 at k = 0" in second


def test_second_inputs(check):
    """Their distance at each t, and both sides at T alone."""
    sides = (Point(at=STEPS, lhs=0.5, rhs=0.6),)
    more = {"others": tuple((2 * h[0], h[1]) for h in states(STEPS, 2)), "sides": sides}
    drawn = drawn_of(check(), width=2, other_inputs=((2.0,),) * STEPS, **more)
    assert drawn.window is None
    figure = gap_figure(drawn)
    assert (points(figure, "s1 line"), points(figure, "s2 points")) == (1, 1)
    assert "‖hₜ‖₂" in states_figure(drawn)


def test_the_arrays_are_a_link(run):
    """The numbers of the record, to the last bit, by name; the same bytes each time."""
    made = with_drawn(run)
    page = render_run(decode(encode(made))).decode()
    assert page == render_run(made).decode()
    (url,) = re.findall(r'<a download="truncation.npz" href="([^"]*)"', page)
    drawn = made.claims[1].drawn
    assert url == arrays_url(drawn)
    found = arrays(url)
    assert found["states"].tolist() == [list(row) for row in drawn.states]
    assert found["other_states"].shape == (WINDOW + 1, 1)
    assert found["at_lhs_rhs"].tolist()[1] == [1.0, 1.0, 1.25]
    assert found["W"].tolist() == [[0.5]]
    assert "other_inputs" not in found


def test_a_hostile_name_is_a_plain_file(check):
    """Neither a claim's name nor that of a weight is a path."""
    assert arrays_file_name("../../<b>") == "-------b-.npz"
    drawn = drawn_of(check(), weights={"../W": ((1.0,),), "states": ((7.0,),)})
    found = arrays(arrays_url(drawn))
    assert found["___W"].tolist() == [[1.0]]
    assert found["states"].shape == (STEPS + 1, 1)


def test_the_record_agrees_with_itself(run):
    """Tables of other lengths are no record."""
    made = with_drawn(run)
    plain = msgspec.to_builtins(made)
    for field, value in (("states", [[1.0]]), ("others", [[0.0]] * 9), ("inputs", [[1.0], [1, 2]])):
        broken = msgspec.json.decode(msgspec.json.encode(plain))
        broken["claims"][1]["drawn"][field] = value
        with pytest.raises(msgspec.ValidationError, match="length"):
            msgspec.convert(broken, Run)
