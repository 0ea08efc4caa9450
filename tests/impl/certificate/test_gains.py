"""Gains and rounding: the least of all norms, or unit by unit; proved by files, met by no run."""

import json
import math
from copy import deepcopy

import pytest
import torch
from cell_systems import SYSTEMS, weights_of
from checked import fallen_of_document, source
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.checker.truncated import check_certificate
from rnnbounds.impl.convert.files import load_truncated, save_truncated
from rnnbounds.impl.convert.truncate import truncate
from rnnbounds.impl.errors import FileError
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.adapters import load_model

CELLS = {
    **{which: SYSTEMS[which][::2] for which in ("lstm", "deep", "grus")},
    "cho": ("gru-cho",), "tanh": ("rnn-tanh",), "rnns": ("stacked-rnn-tanh",),
}  # fmt: skip
# With weights of which a norm says more of the gain than the units do, and another norm of windows.
PROVED = {"tanh": (1.0, 4), "deep": (1.0, 4), "rnns": (1.0, 8)}


def model(which: str, scale: float = 0.25, n: int = 4) -> LoadedModel:
    """A model of that cell; stacks of two layers."""
    cell, *names = CELLS[which]
    layers = 2 if cell.startswith("stacked-") else 1
    return load_model(weights_of(cell, *names, layers=layers, n=n, scale=scale), cell)


@pytest.mark.parametrize(
    "which", [w if w != "grus" else pytest.param(w, marks=pytest.mark.slow) for w in CELLS]
)
def test_no_norm_has_less(which):
    """Each norm alone certifies no smaller gain and no smaller bound on rounding."""
    held = model(which)
    found = certify(held, inputs=1.0)
    alone = [certify(held, inputs=1.0, norm=norm) for norm, lam, _ in found.tried if lam < 1]
    assert found.constants["gain"] == min(one.constants["gain"] for one in alone)
    assert found.rounding.state == min(one.rounding.state for one in alone)
    others = found.to_dict().get("other_norms", {})
    assert ("gain" in others) == (found.constants["gain"] < certify_in(held, found.norm, "gain"))
    assert all(one["norm"] != found.norm for one in others.values())


def certify_in(held: LoadedModel, norm: str, constant: str) -> float:
    """A constant in that norm."""
    return certify(held, inputs=1.0, norm=norm).constants[constant]


def verdict(path, held: LoadedModel, document) -> bool:
    """True if each part of the document is proved; a document that is refused is not."""
    try:
        return not fallen_of_document(path, document, source(held))
    except FileError:
        return False


@pytest.mark.parametrize("which", PROVED)
def test_proved_in_their_own_norm(which, tmp_path):
    """The file of the model is read, and what it states of other norms is proved, by name."""
    held, path = model(which, *PROVED[which]), tmp_path / "c.json"
    document = certify(held, inputs=1.0).to_dict()
    path.write_text(json.dumps(document))
    names = {one.name for one in check_certificate(path, source(held))[1]}
    assert {"gain", "gain: contraction", "gain: equivalence", "gain: states"} <= names
    assert ("rounding: contraction" in names) == (which == "tanh")
    assert verdict(path, held, document)
    module, record = truncate(held, eps=1e-2, inputs=1.0)
    assert record["other_norms"].keys() == {"gain", *(["rounding"] if which == "tanh" else [])}
    save_truncated(module, record, tmp_path / "short.safetensors")
    assert load_truncated(tmp_path / "short.safetensors").k == module.k


def less(document, *path: str | int):
    """The document with that number a thousandth less."""
    changed = deepcopy(document)
    *way, last = path
    inner = changed
    for key in way:
        inner = inner[key]
    inner[last] *= 1 - 1e-3
    return changed


@pytest.mark.parametrize("which", PROVED)
def test_no_number_of_the_other_norm_can_be_less(which, tmp_path):
    """The gain, and each constant of its norm that bounds something from above."""
    held, path = model(which, *PROVED[which]), tmp_path / "c.json"
    document = certify(held, inputs=1.0).to_dict()
    assert not verdict(path, held, less(document, "constants", "gain"))
    for constant in document["other_norms"] if which == "tanh" else ["gain"]:
        other = document["other_norms"][constant]
        tight = ["drive", "equivalence", "reach"]
        tight += [name for name in ("lambda", "B_h") if other["layers"] is None]
        if which == "deep":  # of which a checker proves a smaller factor
            tight.remove("lambda")
        for name in tight:
            assert not verdict(path, held, less(document, "other_norms", constant, name)), name
        if other["layers"] is not None:
            changed = less(document, "other_norms", constant, "layers", 0, "norm", "lambda")
            assert not verdict(path, held, changed)
    if which == "tanh":
        assert not verdict(path, held, less(document, "rounding", "state"))


@pytest.mark.parametrize("which", ["tanh", "rnns"])
def test_other_norms_of_another_form_are_refused(which, tmp_path):
    """Without the norm of its own the gain is not proved; keys and constants are those of the
    format."""
    held, path = model(which, *PROVED[which]), tmp_path / "c.json"
    document = certify(held, inputs=1.0).to_dict()
    gain = document["other_norms"]["gain"]
    for others in (
        None,
        {},
        {"gain": None},
        {"gain": []},
        {"B_h": gain},
        {"gain": gain | {"more": 1}},
        {"gain": {key: value for key, value in gain.items() if key != "drive"}},
        {"gain": gain | {"norm": "perron"}},
        {"gain": gain | {"lambda": 1.0}},
        {"gain": gain | {"layers": [] if gain["layers"] else [gain]}},
        [],
    ):
        assert not verdict(path, held, document | {"other_norms": others}), others


MADE = {
    "LSTM": (torch.nn.LSTM, {}),
    "LSTM with a projection": (torch.nn.LSTM, {"proj_size": 1}),
    "GRU": (torch.nn.GRU, {}),
    "RNN": (torch.nn.RNN, {}),
}


def stack(what: str, d: int, n: int, layers: int, seed: int, scale: float = 0.25):
    """torch's module in float64, its recurrent weights times the scale."""
    make, more = MADE[what]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = make(d, n, layers, batch_first=True, **more).double()
    with torch.no_grad():
        for role, part in module.named_parameters():
            part.mul_(scale if "weight_hh" in role else 1.0)
    return module


def seen(module, B: float) -> float:
    """The most that is seen of ‖h_T − h′_T‖₂ for ‖x_t − x′_t‖₂ ≤ 1, going up the gradient."""
    draw, most = torch.Generator().manual_seed(0), 0.0
    x, y = torch.randn(2, 16, 12, module.input_size, generator=draw).double().unbind()
    y[8:] = x[8:] + y[8:] / 8
    for _ in range(8):
        x, y = (B * z.detach() / z.norm(dim=2, keepdim=True).clamp(min=1e-9) for z in (x, y))
        x, y = x.requires_grad_(), y.requires_grad_()
        gap = (module(x)[0] - module(y)[0])[:, -1].norm(dim=1)
        ratio = gap / (x - y).norm(dim=2).amax(1).clamp(min=1e-9)
        most = max(most, float(ratio.detach().max()))
        slopes = torch.autograd.grad(ratio.sum(), (x, y))
        x, y = (z + s / s.norm(dim=2, keepdim=True).clamp(min=1e-9)
                for z, s in zip((x.detach(), y.detach()), slopes, strict=True))  # fmt: skip
    return most


def test_a_stack_of_two_lstms() -> None:
    """Norms lose most of it between the layers: the least of theirs is 3.2e3."""
    module = stack("LSTM", 3, 5, 2, 1)
    assert seen(module, 1.0) <= certify(module, inputs=1.0).constants["gain"] < 25


@settings(max_examples=6)
@given(st.sampled_from(sorted(MADE)), st.tuples(*[st.integers(1, 2)] * 3), st.integers(0, 99),
       st.sampled_from((0.05, 0.25, 0.5)), st.sampled_from((0.25, 1.0)))  # fmt: skip
def test_no_run_is_driven_further_apart(what, sizes, seed, scale, B) -> None:
    """Of one layer or of two, whether the gain is that of a norm or of the units."""
    d, n, layers = sizes
    module = stack(what, d, n + 1, layers, seed, scale)
    assert seen(module, B) <= certify(module, inputs=B).constants["gain"]


@pytest.fixture(
    params=[pytest.param(n, marks=pytest.mark.slow if n in ("GRU", "LSTM") else ()) for n in MADE]
)
def told(request, tmp_path):
    """A certificate by units of a stack of that kind, with a check of what it is changed to."""
    held = load_model(stack(request.param, 1, 2, 2, 0))
    document = certify(held, inputs=1.0).to_dict()

    def check(**changes: object) -> set[str] | None:
        """The names of what falls; None for what is refused in a line."""
        changed = {k: v for k, v in (document | changes).items() if (k, v) != ("unit_gains", None)}
        try:
            return fallen_of_document(tmp_path / "c.json", changed, source(held))
        except FileError:
            return None

    return held, document, check


def test_files_prove_them(told) -> None:
    """Each unit's, and their norm: less of any falls, and what are no gains is refused."""
    held, document, check = told
    g, named = document["unit_gains"], document["constants"]
    assert check() == set()
    assert named["gain"] == pytest.approx(math.hypot(*g[-held.n :]))
    for i in (0, len(g) - 1):  # in either layer
        less = [*g[:i], g[i] * (1 - 1e-4), *g[i + 1 :]]
        assert check(unit_gains=less, constants=named | {"gain": 2 * named["gain"]}) == {"gain"}
    assert check(constants=named | {"gain": named["gain"] * (1 - 1e-9)}) == {"gain"}
    others = [-g[0], *g[1:]], [math.nan, *g[1:]], [math.inf, *g[1:]], [None, *g[1:]], {}, 1
    for other in ([], g[:-1], [*g, 0.0], *others):
        assert check(unit_gains=other) is None, other
    assert check(unit_gains=[], constants=named | {"gain": None}) is None


def test_files_without_them_hold_by_their_norm(told) -> None:
    """As those of earlier versions; the lesser gain then falls."""
    held, document, check = told
    norm = kind_of(held.name).analyse(held, 1.0).norm(document["norm"])
    named, others = document["constants"], document.get("other_norms", {})
    assert "gain" not in others
    assert check(unit_gains=None) == {"gain"}
    assert check(unit_gains=None, constants=named | {"gain": norm.gain * (1 + 1e-9)}) == set()
