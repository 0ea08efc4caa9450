"""Specs of the exact kinds: what is refused."""

import msgspec
import pytest
from any_kind import changed

from rnnbounds.properties.attacks.extremal import NAMED_SPECS
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.systems.table import make_spec, parse_spec

NETWORK = make_spec(
    kind="unitary", regime="pythagorean", inputs="gaussian", n=2, d=2, T=3,
    bias=0.5, start=2.0, batch=6, sequences=2,
)  # fmt: skip


def test_nothing_exact_is_written_out() -> None:
    """Values are refused: floats do not write out what is rational."""
    values = msgspec.to_builtins(NAMED_SPECS["gelu-slope"].values)
    with pytest.raises(SpecError, match="unknown field `values`"):
        parse_spec(changed(NETWORK, d=1, T=8, batch=1, sequences=1, values=values))
