"""Every kind of cell and stacks of them: what is read is what the names say, and nothing else."""

import random
import re

import pytest
import refusals
import torch

from rnnbounds.impl.cells.table import CELLS, kind_of
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import load_model

LAYERS = {"": 1, "stacked-": 2}
NAMES = [layers + name for layers in LAYERS for name in CELLS]
# One kind of each layout: kinds that differ in their activation alone are read by one code.
LAYOUTS = {
    (kind.suffix, kind.gates, *kind.layout(("transition_2_weight",)).shapes): name
    for name, kind in reversed(CELLS.items())
}
CASES = [layers + name for layers in LAYERS for name in (*LAYOUTS.values(), "gru-cho")]
EACH = pytest.mark.parametrize("name", CASES)
PREFIX = "net.cell."


def model(name: str, prefix: str = PREFIX):
    """A state dict with all tensors that a kind may have, and its roles by full names."""
    stack = name.startswith("stacked-")
    kind = kind_of(name.removeprefix("stacked-"))
    by, weights, roles = torch.Generator().manual_seed(0), {}, {}
    layout, d = kind.layout(("transition_2_weight",)), 2
    for layer in range(LAYERS["stacked-" if stack else ""]):
        shapes = layout.shapes_for({"n": 3, "p": 2, "m1": 3, "d": d})
        drawn = {
            role: torch.rand(shape, generator=by, dtype=torch.float64) / 8 + 0.01
            for role, shape in shapes.items()
        }
        for role, part in drawn.items():
            own = f"{role}_l{layer}" if stack else role
            roles[own] = prefix + (own if stack else role + kind.suffix)
            weights[roles[own]] = part
        d = layout.sizes(drawn).n
    return weights, roles


def optional(name: str, roles: dict[str, str]) -> dict[str, str]:
    """The roles that a model may lack."""
    layout = kind_of(name).layout(roles)
    return {role: full for role, full in roles.items() if role in layout.optional}


def refused(weights, name: str, pattern: str, **options) -> None:
    """One line, that names what is wrong."""
    refusals.refused(weights, InputError, pattern, name, **options)


@EACH
@pytest.mark.parametrize("prefix", ["", PREFIX])
def test_its_own_tensors_are_read(name, prefix):
    """Each role is the tensor of its full name; what stands elsewhere is listed as not read."""
    weights, roles = model(name, prefix)
    loaded = load_model(weights | {"head.weight": torch.ones(1, 3)}, name)
    assert loaded.name == name
    assert dict(loaded.tensors) == roles
    assert loaded.ignored == ()
    assert loaded.unread == ("head.weight",)
    for role, full in roles.items():
        assert torch.equal(loaded.weights[role], weights[full])


@pytest.mark.slow
@EACH
def test_one_place_has_one_tensor(name):
    """A role with a number and one without are two for one place, whichever comes first."""
    weights, roles = model(name)
    for full in roles.values():
        twin = full.removesuffix("_l0") if full.endswith("_l0") else f"{full}_l0"
        if twin in weights:
            continue
        both = [{twin: weights[full] * 50, **weights}, {**weights, twin: weights[full] * 50}]
        if not re.search(r"_l[1-9]$", full):
            for held in both:
                refused(held, name, "for one place, with and without _l0; keep one")
        for held in both:
            refused(held, name, re.escape(twin.rpartition(".")[2]))
            loaded = load_model(held, name, ignore=(twin,))
            assert torch.equal(next(iter(loaded.weights.values())), next(iter(weights.values())))


@EACH
def test_misspelt_tensors_are_refused(name):
    """Nothing that a model may lack is lost by a misspelling; nor is what it needs."""
    weights, roles = model(name)
    free = optional(name, roles)
    for role, full in roles.items():
        prefix, dot, own = full.rpartition(".")
        spellings = [own.upper() if own != own.upper() else own.lower(), own[:-1], own + "_"]
        spellings += [own.replace("_", "-"), own.replace("i", "\u0456"), f"{own}.weight"]
        for other in spellings:
            wrong = prefix + dot + other
            if wrong in weights:
                continue
            held = {wrong if key == full else key: part for key, part in weights.items()}
            if role in free:
                refused(held, name, "does not read|but no |another direction|apart from")
            else:
                with pytest.raises(InputError):
                    load_model(held, name)


@EACH
def test_what_is_needed_cannot_be_ignored(name):
    """`ignore` drops what may be lacking, and says so; a name that is not there is refused."""
    weights, roles = model(name)
    free = optional(name, roles)
    for role, full in roles.items():
        if role in free:
            loaded = load_model(weights, name, ignore=[full])
            assert loaded.ignored == (full,)
            assert role not in loaded.weights
            assert role not in loaded.tensors
        else:
            refused(weights, name, rf"needs {re.escape(full)} .*cannot be ignored", ignore=[full])
    for other in ("nothing", "extra", next(iter(roles)) + "_"):
        refused(weights, name, "so that it cannot be ignored", ignore=[other])


@pytest.mark.parametrize("name", NAMES)
def test_what_the_names_do_not_say_is_asked_for(name):
    """Without a word a source is what it says it is, or a line lists what it could be."""
    weights, _ = model(name)
    layers, inner = "stacked-", kind_of(name.removeprefix("stacked-"))
    if not inner.suffix and name.startswith(layers):
        with pytest.raises(InputError):
            load_model(weights)
    elif inner.name == "gru-cho":
        assert load_model(weights).name == name.replace("-cho", "")
    elif re.match("linear|rnn|leaky|deep", inner.name):
        with pytest.raises(InputError, match=rf"--cell .*\b{name}\b") as caught:
            load_model(weights)
        assert "\n" not in str(caught.value)
        assert re.search(r"--cell \S+-tanh or \S+-relu \(or ", str(caught.value))
    else:
        assert load_model(weights).name == name


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_every_tensor_is_read_ignored_or_refused(seed):
    """Of hundreds of cells with tensors added, lost and shuffled, none loses one in silence."""
    by, seen = random.Random(seed), 0
    pool = {name: model(name, prefix="")[0] for name in CASES}
    others = sorted({name for weights in pool.values() for name in weights})
    for _ in range(400):
        name, weights = by.choice(list(pool.items()))
        held = {key: part for key, part in weights.items() if by.random() < 0.97}
        for other in by.sample(others, by.choice((0, 0, 1, 2))):
            held[other] = by.choice([each[other] for each in pool.values() if other in each])
        prefix = by.choice(("", PREFIX))
        source = {prefix + key: held[key] for key in by.sample(list(held), len(held))}
        ignored = [key for key in source if by.random() < 0.05]
        try:
            found = load_model(source, by.choice((None, name, "stack")), ignore=ignored)
        except InputError:
            continue
        seen += 1
        assert {*found.tensors.values(), *ignored} == set(source)
        assert not set(found.tensors.values()) & set(ignored)
        assert len(set(found.tensors.values())) == len(found.tensors)
        for role, full in found.tensors.items():
            own = full.removeprefix(prefix)
            assert own in (role, f"{role}_l0") or f"{own}_l0" == role
            assert torch.equal(found.weights[role], source[full])
    assert seen > 40
