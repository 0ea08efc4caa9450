"""What is refused is refused in one line."""

import re

import pytest

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import load_model


def refused(source, kind, pattern: str, cell: str | None = None, **options) -> str:
    """The line of the error of that kind that `load_model` raises, in which the pattern is."""
    with pytest.raises(kind) as caught:
        load_model(source, cell, **options)
    message = str(caught.value)
    assert isinstance(caught.value, InputError)
    assert "\n" not in message
    assert re.search(pattern, message), message
    return message
