"""Specs of the exact kinds: what is drawn, what is refused, and members that stand alone."""

import hypothesis
import msgspec
import pytest
import torch
from any_kind import changed
from hypothesis import HealthCheck, Phase
from msgspec.structs import replace

from rnnbounds.properties.attacks.extremal import SPECIAL, extremal_specs
from rnnbounds.properties.attacks.shrink import smaller
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.systems.batch import build
from rnnbounds.properties.systems.drawing.strategies import specs
from rnnbounds.properties.systems.spec import Candidate, SystemSpec, check_spec
from rnnbounds.properties.systems.table import KINDS as TABLE
from rnnbounds.properties.systems.table import kind_named, parse_spec, system

KINDS: tuple[str, ...] = ("unitary", "urnn", "block")
NETWORK = system(
    kind="unitary", regime="pythagorean", inputs="gaussian", n=2, d=2, T=3, K=3,
    bias=0.5, start=2.0, batch=6, sequences=2,
)  # fmt: skip
URNN = system(
    kind="urnn", activation="relu", regime="cayley", inputs="gaussian", n=3, d=2, T=4, K=4,
    bias=0.5, batch=4, sequences=2,
)  # fmt: skip
BLOCK = system(kind="block", regime="dilation", n=2, states=3, batch=4)


def drawn(kind: str, count: int = 30) -> list[SystemSpec]:
    """What the strategy of a kind draws first."""
    found: list[SystemSpec] = []

    @hypothesis.seed(3)
    @hypothesis.settings(
        max_examples=count, database=None, deadline=None, phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @hypothesis.given(specs(kind, batch=3, sequences=2))
    def collect(spec: SystemSpec) -> None:
        found.append(spec)

    collect()
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_specs_are_valid_and_survive_json(kind: str) -> None:
    """What is drawn, extremal or a neighbour of these passes the spec's check and is rebuilt."""
    for spec in (*drawn(kind), *extremal_specs(kind)):
        check_spec(spec)
        assert spec.kind == kind
        assert parse_spec(spec.text) == spec
        assert build(spec).finite.all()
        for neighbour in smaller(spec):
            check_spec(neighbour)
            assert all(a <= b for a, b in zip(neighbour.size, spec.size, strict=True))


@pytest.mark.parametrize("kind", [name for name, kind in TABLE.items() if kind.route.rational])
def test_a_pair_of_a_batch_is_read_where_it_is(kind: str) -> None:
    """The referee has the rationals of that sequence, not of the first."""
    for spec in drawn(kind, 4):
        whole, last = build(spec), spec.sequences - 1
        pair, alone = whole.pair(1, last), build(spec.alone(1, last))
        assert pair.exact[0].tables() == alone.exact[0].tables()
        names = ("x", "h", "h_other")
        for name in names:
            assert torch.equal(getattr(pair, name), getattr(whole, name)[1:2, ..., last:])


@pytest.mark.parametrize("spec", [NETWORK, URNN, BLOCK])
def test_a_pair_alone_is_the_pair_in_its_batch(spec: SystemSpec) -> None:
    """Member 2, sequence 1 has the same rationals and the same tensors by itself."""
    whole = build(spec)
    last = spec.sequences - 1
    pair = build(spec.alone(2, last))
    tables, alone = whole.exact[2].tables(), pair.exact[0].tables()
    for name, table in alone.items():
        once = name in ("x", "h", "h_other")
        assert list(table[0] if once else table) == list(
            tables[name][last] if once else tables[name]
        )
    assert (pair.x[0, :, :, 0] == whole.x[2, :, :, last]).all()
    assert (pair.cell.W[0] == whole.cell.W[2]).all()
    if pair.other is not None and whole.other is not None:
        assert (pair.other.W[0] == whole.other.W[2]).all()
    assert not (whole.cell.W[2] == whole.cell.W[1]).all()


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        (NETWORK, {"regime": "orthogonal"}),
        (NETWORK, {"activation": "tanh"}),
        (NETWORK, {"units": 3}),
        (NETWORK, {"units": -1}),
        (NETWORK, {"n": 33}),
        (NETWORK, {"T": 257, "K": 0}),
        (NETWORK, {"n": 32, "T": 65}),
        (NETWORK, {"start": -1.0}),
        (NETWORK, {"start": float("inf")}),
        (BLOCK, {"states": 1}),
        (BLOCK, {"states": 65}),
        (system(), {"found": {"skew": []}}),
        (system(), {"regime": "cayley"}),
    ],
)
def test_specs_that_no_system_has(spec: SystemSpec, fields: dict[str, object]) -> None:
    """Constructors, sizes and activations of other kinds are refused."""
    with pytest.raises(SpecError):
        parse_spec(changed(spec, **fields))


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
    spec = system(
        kind="candidate", regime=kind_named("candidate").regimes[0], states=2,
        found=good,
    )  # fmt: skip
    check_spec(spec)
    check_spec(replace(spec, found=replace(good, E=[[1.0, 0.0]], e0=[0.5])))
    for bad in (replace(spec, found=replace(good, **fields)), replace(spec, batch=2)):
        with pytest.raises(SpecError):
            check_spec(bad)


def test_nothing_exact_is_written_out() -> None:
    """Values are refused: floats do not write out what is rational."""
    values = msgspec.to_builtins(SPECIAL["nilpotent-relu"].values)
    with pytest.raises(SpecError, match="unknown field `values`"):
        parse_spec(changed(NETWORK, d=1, T=8, K=0, batch=1, sequences=1, values=values))
