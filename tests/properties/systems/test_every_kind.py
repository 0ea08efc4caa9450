"""Laws of every kind of system: its specs, its batches, and their pairs."""

import json
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from any_kind import any_system
from msgspec.structs import replace

from rnnbounds.properties.attacks.extremal import extremal_specs
from rnnbounds.properties.attacks.search import visit_random_specs
from rnnbounds.properties.attacks.shrink import SIZES, field_choices, with_fields
from rnnbounds.properties.attacks.typed_statement import kinds_with
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import Batch, build_batch, explicit_spec
from rnnbounds.properties.systems.cells.batch import cells_of, omega_of_cells, require_cells
from rnnbounds.properties.systems.exact.networks import exact_members, is_vanilla
from rnnbounds.properties.systems.spec import INPUTS, SystemSpec, check_spec
from rnnbounds.properties.systems.table import FAMILIES, KINDS, parse_spec
from rnnbounds.theory.language.vocabulary import VOCABULARY

GOLDEN = Path(__file__).with_name("drawn.json")
ODD: dict[str, dict[str, object]] = {
    **{kind: {"sequences": 1} for kind in ("training", "candidate", "sigmoid")},
    "quadratic": {"K": 1},
    "cascade": {"activation": "relu"},
}
GENERAL = {"gradient", "smooth", "training", "projection", "linear", "descent"}
GATED = {"lstm", "gru", "gru-cho"}
FOREIGN = [
    quantity for quantity in VOCABULARY.values()
    if quantity.role == "measured" and quantity.about and not GENERAL & set(quantity.about)
]  # fmt: skip
ASKED = ({}, {"wide": True, "stepwise": True}, {"trained": True})


@cache
def drawn(kind: str) -> list[SystemSpec]:
    """The first specs that are drawn of a kind, as each attack asks for them."""
    found: list[SystemSpec] = []
    families: list[str | None] = [None, *(f for f, own in FAMILIES.items() if kind in own.members)]
    for family in families:
        for asked in ASKED:
            visit_random_specs(
                kind, found.append, examples=6, batch=3, sequences=2, seed=1, family=family, **asked
            )
    return found


def every(kind: str) -> Iterator[SystemSpec]:
    """Drawn specs of a kind, its worst instances, and all corners."""
    own = KINDS[kind]
    yield from drawn(kind)
    yield from extremal_specs(kind)
    yield from own.corners()
    if own.starts is not None:
        yield from own.starts(6, 1)


def small(kind: str, **fields: object) -> SystemSpec:
    """One small batch of a kind."""
    usual = {"n": 2, "d": 2, "T": 4, "K": 2, "layers": 2, "states": 4, "bias": 0.5, "seed": 5,
             "inputs": "gaussian", "cell": "rnn-relu", "batch": 3, "sequences": 3}  # fmt: skip
    return any_system(kind, **(usual | ODD.get(kind, {}) | fields))


def numbers(batch: Batch, i: int | None = None, s: int | None = None) -> dict[str, torch.Tensor]:
    """The numbers of a batch, or of one of its pairs."""
    at = slice(None) if i is None else slice(i, i + 1)
    column = slice(None) if s is None else slice(s, s + 1)
    raw, raw_other = batch.systems.explicit_states
    found = {name: part[at] for name, part in batch.weights.items()} | {"C": batch.C[at]}
    found |= {"x": batch.x[at, ..., column], "h": raw[at, ..., column]}
    found |= {"h_other": raw_other[at, ..., column]}
    if batch.y is not None:
        found["y"] = batch.y[at]
    if batch.other is not None:
        found |= {f"{name}2": getattr(batch.other, name)[at] for name in "WUb"}
    return {name: part.contiguous() for name, part in found.items()}


def valid(spec: SystemSpec) -> bool:
    """True if there is such a system."""
    try:
        check_spec(spec)
    except SpecError:
        return False
    return True


def same(one: dict[str, torch.Tensor], two: dict[str, torch.Tensor]) -> bool:
    """True if all numbers are equal to the last bit."""
    assert one.keys() == two.keys()
    return all(one[name].numpy().tobytes() == two[name].numpy().tobytes() for name in one)


def digest(parts: Iterator[bytes]) -> str:
    """Of all parts, one after another."""
    return sha256(b"".join(parts)).hexdigest()[:32]


@pytest.mark.parametrize("kind", KINDS)
def test_specs_are_valid_and_survive_json(kind: str) -> None:
    """Every spec that an attack shows is of the kind, and round-trips as a line of JSON."""
    regimes = set()
    for spec in every(kind):
        check_spec(spec)
        regimes.add(spec.regime)
        assert spec.kind == kind
        assert parse_spec(spec.text) == spec
        assert parse_spec(spec.text).text == spec.text
    if KINDS[kind].spec_type.has("regime") and not FAMILIES["cell"].members.get(kind):
        assert len(regimes) > 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_draws_the_same_again(kind: str) -> None:
    """And another one other systems."""
    first, again, other = [], [], []
    for found, seed in ((first, 1), (again, 1), (other, 2)):
        sizes = {"examples": 2, "batch": 3, "sequences": 2}
        visit_random_specs(kind, found.append, seed=seed, wide=True, stepwise=True, **sizes)
    assert first == again != other


@pytest.mark.parametrize("kind", KINDS)
def test_simpler_systems_are_of_the_kind(kind: str) -> None:
    """The simplest choices of all fields are a spec, and so is what it was."""
    for spec in islice(every(kind), 0, 40, 4):
        choices = field_choices(spec)
        for at in (0, -1):
            simpler = with_fields(spec, {name: each[at] for name, each in choices.items()})
            assert simpler.kind == kind
            assert all(getattr(simpler, name) <= getattr(spec, name) for name in SIZES)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pair_is_the_one_that_its_spec_builds(kind: str) -> None:
    """From its batch, and rebuilt alone from JSON: the same numbers, rationals and models."""
    drives = INPUTS if KINDS[kind].spec_type.has("inputs") else INPUTS[:1]
    regimes = KINDS[kind].regimes if KINDS[kind].spec_type.has("regime") else ()
    said = [{"inputs": inputs} for inputs in drives] + [{"regime": regime} for regime in regimes]
    for spec in (*(small(kind, **fields) for fields in said), *drawn(kind)[:2]):
        if not valid(spec):
            continue
        whole, i, s = build_batch(spec), spec.batch - 1, spec.sequences - 1
        alone, pair = build_batch(parse_spec(spec.select_pair(i, s).text)), whole.pair(i, s)
        for other in (alone, pair):
            assert same(numbers(other), numbers(whole, i, s))
        for one, two in zip(exact_members(pair), exact_members(alone), strict=True):
            assert one.tables() == two.tables()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_certified_of_a_pair_is_that_of_its_batch(kind: str) -> None:
    """Bounds on inputs, boxes, sets of weights and rationals are the rows of its system."""
    spec = small(kind, regime=KINDS[kind].regimes[-1], lam=0.0625, steps=1)
    whole, i, s = build_batch(spec), 2, spec.sequences - 1
    pair = whole.pair(i, s)
    seen = [(whole.B_x, pair.B_x)]
    if cells_of(whole) is not None:
        sets = (
            (require_cells(whole), require_cells(pair)),
            (omega_of_cells(whole), omega_of_cells(pair)),
        )
        seen += [(getattr(a, name), getattr(b, name)) for a, b in sets for name in ("box", "v")]
    if kind == "training":
        seen += [(whole.omega.W, pair.omega.W), (whole.step_size, pair.step_size)]
    for of_all, own in seen:
        assert own.tolist() == of_all[i : i + 1].tolist()
    for name in ("lam", "S_0", "lam_box", "S_0_box", "B_c", "states"):
        if name in VOCABULARY and VOCABULARY[name].role == "certified":
            assert pair.constant(name).hi.tolist() == whole.constant(name).hi[i : i + 1].tolist()
    if exact_members(pair):
        assert pair.systems.constants == whole.systems.constants[i : i + 1]


@pytest.mark.parametrize("kind", [name for name, k in KINDS.items() if k.spec_type.has("values")])
def test_what_is_written_out_has_the_same_bits(kind: str) -> None:
    """A pair in numbers is that pair."""
    pair = build_batch(small(kind, K=1).select_pair(2, 0))
    written = explicit_spec(pair)
    check_spec(written)
    again = numbers(build_batch(parse_spec(written.text)))
    assert same(again, numbers(pair))


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_systems_are_drawn(kind: str, request: pytest.FixtureRequest) -> None:
    """Worst instances and numbers of a kind are those that they always were: a change here changes
    every campaign, and makes replay commands that were printed mean other systems."""
    batch = build_batch(small(kind))
    found = {
        "instances": digest(spec.text.encode() for spec in every(kind) if spec not in drawn(kind)),
        "numbers": digest(part.numpy().tobytes() for part in numbers(batch).values()),
        "tables": digest(str(member.tables()).encode() for member in exact_members(batch)),
    }
    golden = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    if request.config.getoption("--renew-golden"):
        GOLDEN.write_text(json.dumps(golden | {kind: found}, indent=1, sort_keys=True) + "\n")
        return
    assert found == golden[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_read_that_a_kind_does_not_have(kind: str) -> None:
    """A quantity that is said of other kinds is NaN there in all arithmetics; ranks are read on all
    exact ones, and what is of gates on all cells."""
    batch = build_batch(small(kind).select_pair(0, 0))
    of_cells = {quantity.name for quantity in FOREIGN if GATED & set(quantity.about)}
    beside = set() if is_vanilla(batch) else of_cells
    if exact_members(batch):
        beside = {"defect_rank", "W_rank"}
    for quantity in FOREIGN:
        measure = MEASURES[quantity.name]
        if kind not in kinds_with(quantity) and measure.name not in beside:
            assert np.isnan(measure.enclose(batch).hi).all(), measure.name
            assert not measure.ball(batch, min(batch.K, 1), 64).is_finite(), measure.name
            assert measure.exact_square(batch, min(batch.K, 1), 64) is None, measure.name


def test_a_value_that_is_not_finite_spoils_its_system_alone() -> None:
    """One in a sequence spoils that sequence, whatever the kind."""
    for kind in ("rnn", "gru", "leaky"):
        spec = replace(small(kind), batch=2, sequences=2)
        for name in build_batch(spec).weights:
            spoiled = build_batch(spec)
            spoiled.weights[name][1].fill_(float("nan"))
            assert spoiled.finite[:, :, 0].tolist() == [[True, True], [False, False]], name
        spoiled = build_batch(spec)
        spoiled.x[1, ..., 0] = float("inf")
        assert spoiled.finite[:, :, 0].tolist() == [[True, True], [False, True]]
