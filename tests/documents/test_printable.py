"""What every room makes of text that others chose."""

import unicodedata

import pytest

import rnnbounds.impl.errors
import rnnbounds.reports.errors
import rnnbounds.theory.errors
from rnnbounds.errors import printable
from rnnbounds.properties.errors import InputError as PropertiesError

HOSTILE = "a\nb\r\x1b[2J\x9b31m\u202e\u2066\u200b\x7f\x00\udcff\u2028"


@pytest.mark.slow
def test_it_can_be_printed():
    """No control, format or surrogate character survives, every other one does."""
    told = printable("".join(map(chr, range(0x110000))))
    assert {unicodedata.category(c)[0] for c in told} <= set("LMNPSZ")
    assert printable("λ ‖x‖ é 漢 'a\\n'") == "λ ‖x‖ é 漢 'a\\n'"


@pytest.mark.parametrize(
    "error",
    [
        rnnbounds.impl.errors.InputError,
        rnnbounds.theory.errors.InputError,
        rnnbounds.reports.errors.InputError,
        PropertiesError,
    ],
)
def test_errors_of_every_room_are_one_printable_line(error):
    """Whatever names they are built from."""
    assert str(error(f"{HOSTILE}; rename it")).isprintable()
    assert str(error("one\n  thing")) == "one thing"
