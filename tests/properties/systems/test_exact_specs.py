"""Specs of the exact kinds: what is drawn, what is refused, and members that stand alone."""

import msgspec
import pytest
from any_kind import changed
from msgspec.structs import replace

from rnnbounds.properties.attacks.extremal import NAMED_SPECS
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.systems.spec import Candidate, check_spec
from rnnbounds.properties.systems.table import find_kind, make_spec, parse_spec

NETWORK = make_spec(
    kind="unitary", regime="pythagorean", inputs="gaussian", n=2, d=2, T=3, K=3,
    bias=0.5, start=2.0, batch=6, sequences=2,
)  # fmt: skip


@pytest.mark.parametrize(
    "fields",
    [
        {"signs": [0.5, 1.0]},
        {"skew": []},
        {"G": [[1.0]]},
        {"G": [[1.0, 2.0], [0.0]]},
        {"d": [0.0]},
        {"s": [0.0, float("nan")]},
        {"E": [[1.0]]},
        {"e0": [1.0, 1.0]},
    ],
)
def test_a_candidate_has_the_shapes_of_its_spec(fields: dict[str, object]) -> None:
    """Two rows, one input and one output, all finite, signs of ±1, and nothing else."""
    good = Candidate([0.5], [1.0, -1.0], [[1.0], [0.0]], [0.0, 0.0], [0.0, 0.0])
    spec = make_spec(
        kind="candidate", regime=find_kind("candidate").regimes[0], states=2,
        found=good,
    )  # fmt: skip
    check_spec(spec)
    check_spec(replace(spec, found=replace(good, E=[[1.0, 0.0]], e0=[0.5])))
    for bad in (replace(spec, found=replace(good, **fields)), replace(spec, batch=2)):
        with pytest.raises(SpecError):
            check_spec(bad)


def test_nothing_exact_is_written_out() -> None:
    """Values are refused: floats do not write out what is rational."""
    values = msgspec.to_builtins(NAMED_SPECS["nilpotent-relu"].values)
    with pytest.raises(SpecError, match="unknown field `values`"):
        parse_spec(changed(NETWORK, d=1, T=8, K=0, batch=1, sequences=1, values=values))
