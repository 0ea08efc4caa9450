"""The re-checker on every kind of cell: what is written is proved again, and what is false falls.

A judge of its own runs the tampered certificate against the model itself: sampled states and inputs
of the stated sets. What holds has to be true of them.
"""

import json
import math
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from flint import arb, ctx
from tampering import leaves, taken_apart, values, written

import impl
from impl.arithmetic.activation import ACTIVATIONS
from impl.arithmetic.inputs.sets import input_box
from impl.cells.table import kind_of
from impl.certificate.certify import certify
from impl.checker.cells.activations import BALL_ACTIVATIONS
from impl.checker.cells.claimed import cell_of
from impl.checker.definite import exact
from impl.checker.stored import decoded, digest, encoded
from impl.checker.truncated import check_certificate, check_truncated
from impl.checker.truncated_file import CertificateFileError, seal
from impl.checker.unitary import Source
from impl.convert.truncate import load_truncated, save_truncated, unrolled
from impl.errors import InputError
from impl.reading.adapters import load_model

EPSILONS = (1e-2, 1e-4)


def weights_of(cell, names=(), n=2, d=1, layers=1, seed=0, scale=0.25):
    """Random float32 weights of a cell, or of layers of it, biases included."""
    draw, kind = torch.Generator().manual_seed(seed), kind_of(cell.removeprefix("stacked-"))
    found = {}
    for l in range(layers):
        layout = kind.layout(names)
        shapes = layout.shaped({"n": n, "d": d, "p": 1, "m1": n + 1})
        own = {name: torch.randn(shape, generator=draw) for name, shape in shapes.items()}
        own = {name: w * (scale / w.shape[-1] if w.ndim == 2 else 0.3) for name, w in own.items()}
        if "leak" in own:
            own["leak"] = own["leak"].abs().clamp(0.1, 0.9)
        d = layout.sizes(own).n
        suffix = f"_l{l}" if cell.startswith("stacked-") else kind.suffix
        found |= {name + suffix: w for name, w in own.items()}
    return found


SYSTEMS = {
    "lstm": ("lstm", "comparison"),
    "lstm in 2-norms": ("lstm", "spectral"),
    "projected": ("lstm-projected", "spectral"),
    "gru": ("gru", "perron"),
    "cho": ("gru-cho", "infinity"),
    "echo state": ("leaky-tanh", "iterated"),
    "leaky": ("leaky-gelu", "diagonal"),
    "leaky relu": ("leaky-relu", "perron"),
    "deep": ("deep-tanh", "spectral", ("transition_2_weight",)),
    "lru": ("diagonal", "spectral", ("nu_log",)),
    "s4d": ("diagonal", "infinity", ("log_A_real",)),
    "complex": ("diagonal", "perron", ("lambda_im",)),
    "real": ("diagonal", "spectral"),
    "min-gru": ("min-gru", "spectral"),
    "min-lstm": ("min-lstm", "infinity"),
    "selective": ("selective", "perron"),
    "lstms": ("stacked-lstm", "cascade"),
    "grus": ("stacked-gru", "perron"),
    "rnns": ("stacked-rnn-tanh", "cascade"),
    "sines": ("stacked-rnn-sin", "iterated"),
    "lrus": ("stacked-diagonal", "cascade", ("nu_log",)),
    "scans": ("stacked-min-gru", "spectral"),
}


@cache
def system(which):
    """A model and its certificate, in another dtype or set of inputs now and then."""
    cell, norm, *names = SYSTEMS[which]
    number = list(SYSTEMS).index(which)
    layers = 2 if cell.startswith("stacked-") else 1
    weights = weights_of(cell, *names, layers=layers, seed=number)
    dtype = (torch.float32, torch.float64, torch.bfloat16)[number % 3]
    held = load_model({name: w.to(dtype) for name, w in weights.items()}, cell)
    bound = input_box(-0.5, 1.0, held.d) if number % 4 == 1 else 1.5
    told = certify(held, bound, EPSILONS, norm)
    assert told.verdict == "certified", which
    return held, told


def source(held):
    """The weights as the checker takes them."""
    weights = {role: part.double().numpy() for role, part in held.weights.items()}
    return Source(held.name, held.dtype, weights)


def good(path, which):
    """A good file that is taken apart."""
    held, told = system(which)
    save_truncated(unrolled(held, told.windows[0][1]), told.to_json(), path)
    return taken_apart(path.read_bytes())


def verdict(path, file, of=None):
    """True if the certificate holds, False if a part falls, None if the file is refused."""
    path.write_bytes(written(file, seal))
    try:
        return all(found.holds for found in check_truncated(path, of)[1])
    except InputError:
        return None


@pytest.mark.parametrize("which", SYSTEMS)
def test_good_files(tmp_path, which):
    """Every certificate that is written is proved again, of the source and of no other."""
    held, _ = system(which)
    file = good(tmp_path / "t", which)
    assert verdict(tmp_path / "t", file, source(held))
    other = source(held)
    role = next(iter(other.weights))
    changed = replace(other, weights=other.weights | {role: other.weights[role] * 2})
    assert verdict(tmp_path / "t", file, changed) is False


def outputs(held, x, start=None):
    """All outputs of the model in float64: (N, T, d) -> (N, T, n)."""
    kind, weights = kind_of(held.name), {k: w.double() for k, w in held.weights.items()}
    drive, sizes = kind.drive(weights, x), kind.layout(weights).sizes(weights)
    s, found = torch.zeros(len(x), 1, sizes.state, dtype=torch.float64), []
    for t in range(x.shape[1]):
        s = kind.step(weights, drive[:, t : t + 1], s)
        found.append(s[:, 0, -sizes.n :])
    return torch.stack(found, 1)


def drawn(told, d, count=64, T=30, seed=0):
    """Inputs of the stated set, large ones among them, constant and alternating."""
    draw = np.random.default_rng(seed)
    x = draw.standard_normal((count, T, d))
    x *= told["input_bound"] / np.linalg.norm(x, axis=2, keepdims=True)
    x *= draw.choice([0.0, 0.5, 1.0], (count, 1, 1))
    x[: count // 4] = x[: count // 4, :1]
    if (box := told["inputs"]) is not None:
        x = np.clip(x, box["low"], box["high"])
    return torch.tensor(x)


def true_on_samples(told, held):
    """Whether what a certificate states is true of runs that were sampled, up to rounding."""
    named = {key: math.inf if v is None else v for key, v in told["constants"].items()}
    x = drawn(told, held.d)
    h = outputs(held, x)
    more = drawn(told, held.d, seed=1) - x
    near = x + 1e-3 * more
    moved = (outputs(held, near) - h).norm(dim=2).max()
    kept = [h.norm(dim=2).max() <= named["B_h"] * (1 + 1e-9) + 1e-12]
    kept.append(h[:, 0].norm(dim=1).max() <= named["S_0"] * (1 + 1e-9) + 1e-12)
    kept.append(moved <= named["gain"] * 1e-3 * more.norm(dim=2).max() * (1 + 1e-6) + 1e-12)
    for entry in told["truncation"]:
        k = min(entry["k"], x.shape[1])
        last = outputs(held, x[:, x.shape[1] - k :])[:, -1] if k else torch.zeros_like(h[:, -1])
        kept.append((h[:, -1] - last).norm(dim=1).max() <= entry["eps"] * (1 + 1e-9))
    return all(map(bool, kept)) and told["lambda"] < 1


CHANGES = ("half", "zero", "negative", "huge", "NaN", "null", "text", "extra")
LONG = [pytest.param(which, marks=pytest.mark.slow) for which in ("echo state", "rnns", "lstms")]
NEVER = ("negative", "NaN", "text", "extra")
FREE = {
    "eps",
    "input_bound",
    "inputs",
    "steps",
    "weights",
}  # what is spoken of, and what nobody believes


@pytest.mark.parametrize("which", ["lstm", "lru", "selective", *LONG])
def test_tampered_statements(tmp_path, which):
    """Each number of the record, its box and its layers in other forms: half as much falls, and
    what holds is true of the model."""
    path = tmp_path / "t"
    file, (held, _) = good(path, which), system(which)
    told = file.certificate
    assert true_on_samples(told, held)
    count = 0
    for place, value in leaves(told):
        if not place or place[0] in ("information", "schema", "cell", "dtype", "sha256", "verdict"):
            continue
        for name, other in values(place, value):
            if name not in CHANGES:
                continue
            about, tampered = (place, name), changed(told, place, other)
            result = verdict(path, file.stating(tampered))
            count += 1
            if result:
                assert true_on_samples(tampered, held), about
            if name in NEVER and not (name == "negative" and (value == 0 or "inputs" in place)):
                assert result is None, about
            number = isinstance(value, int | float) and value
            if number and name in ("half", "zero") and not FREE & set(place):
                assert not result, about
    assert count > 80


def changed(told, place, value):
    """A copy with another value at the place."""
    made = json.loads(json.dumps(told))
    part = made
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    return made


@pytest.mark.parametrize("which", ["lstm", "gru", "min-lstm", "rnns", "s4d"])
def test_tampered_weights(tmp_path, which):
    """Other weights with all digests in order are never the source's, and what holds is true of
    them; gates in another order, a cell of the same names, and grown weights fall."""
    path = tmp_path / "t"
    file, (held, _) = good(path, which), system(which)
    for entry in file.tensors:
        name, code, shape, data = entry
        part = decoded({"dtype": code, "shape": shape, "data": data})
        for other in (part * 16, part[::-1].copy(), np.roll(part, 1, 0), part * 0, part + np.nan):
            made = encoded(other, held.dtype)
            if made is None or np.array_equal(other, part):
                assert made is not None or np.isnan(other).any()
                continue
            told = file.certificate
            bytes_ = bytes(made["data"])
            parts = file.parts | {name: {"dtype": code, "shape": shape, "data": bytes_}}
            told["sha256"] = digest(held.name, roles(parts, held.name))
            tensors = tuple((n, p["dtype"], p["shape"], p["data"]) for n, p in parts.items())
            tampered = replace(file, tensors=tensors).stating(told)
            assert not verdict(path, tampered, source(held)), name
            if verdict(path, tampered):
                assert true_on_samples(told, load_truncated_model(path)), name
            assert verdict(path, replace(tampered, text=file.text)) is None
    for cell in ("lstm", "gru", "gru-cho", "leaky-tanh", "stacked-gru", "rnn-tanh"):
        if cell != held.name:
            told = file.certificate | {"cell": cell}
            told["sha256"] = digest(cell, roles(file.parts, cell))
            assert not verdict(path, file.stating(told).with_told(cell=cell), source(held)), cell


def roles(parts, cell):
    """The tensors by role."""
    suffix = kind_of(cell).suffix
    return {name.removesuffix(suffix): part for name, part in parts.items()}


def load_truncated_model(path):
    """The model in a file that the torch side takes, too."""
    module = load_truncated(path)
    return load_model({name: w.detach() for name, w in module.named_parameters()}, module.cell)


def test_boxes_that_are_left(tmp_path):
    """A box that one step leaves, one that is too long, none, and a NaN in it."""
    path = tmp_path / "t"
    file = good(path, "gru")
    box = file.certificate["box"]
    for other in ([side / 4 for side in box], [0.0] * len(box)):
        assert verdict(path, file.stating(file.certificate | {"box": other})) is False
    for other in ([*box, 1.0], box[1:], None, [], [math.nan, 1.0], "box", [[1.0], [1.0]]):
        assert verdict(path, file.stating(file.certificate | {"box": other})) is None
    wide = file.certificate | {"box": [8 * side for side in box]}
    assert not verdict(path, file.stating(wide))


def test_layers_that_are_others(tmp_path):
    """Layers that are missing, that come twice, in another order or of another kind of norm."""
    path = tmp_path / "t"
    file = good(path, "lstms")
    first, second = file.certificate["layers"]
    for other in ([first], [first, second, second], [], None, {}, [first, {}], [second, first]):
        assert verdict(path, file.stating(file.certificate | {"layers": other})) is None
    told = [first, second | {"norm": second["norm"] | {"norm": "one"}}]
    assert verdict(path, file.stating(file.certificate | {"layers": told})) is None
    assert verdict(path, file.stating(file.certificate | {"box": [1.0] * 8})) is None
    alone = good(path, "lstm")
    assert verdict(path, alone.stating(alone.certificate | {"layers": [first, second]})) is None


@pytest.mark.parametrize("name", sorted(BALL_ACTIVATIONS.keys() - {"linear"}))
def test_activations_over_intervals(name):
    """Values and slopes at many points lie within what is said of the interval, which is hardly
    more where the function is monotone."""
    told = BALL_ACTIVATIONS[name]
    rho = ACTIVATIONS[name.removeprefix("rnn-")]
    draw = np.random.default_rng(0)
    with ctx.workprec(128):
        for low, width in zip(draw.uniform(-6, 5, 60), draw.exponential(1.5, 60), strict=True):
            z = torch.linspace(low, low + width, 401, dtype=torch.float64)
            values_, slopes = rho(z), rho.derivative(z).abs()
            a, b = (float(end) for end in told.image(arb(low), arb(low + width)))
            steep = float(told.steepest(arb(low), arb(low + width)))
            assert a <= float(values_.min()) + 1e-12
            assert b >= float(values_.max()) - 1e-12
            assert float(slopes.max()) <= steep + 1e-12
            assert steep <= float(slopes.max()) + 3e-4 + 2 * width / 400


STEEP = ("lstm", "projected", "gru", "cho", "leaky", "deep", "s4d", "min-lstm", "selective")


@pytest.mark.parametrize("which", STEEP)
def test_steps_move_no_further(which):
    """Steps of one unit and of two, from thousands of states: they stay within what is said of
    them, by values, by slopes and by norms of blocks; some come near to it."""
    cell, _, *names = SYSTEMS[which]
    nearest = 0.0
    for n, seed in ((1, 0), (1, 1), (2, 2)):
        raw = weights_of(cell, *names, n=n, d=1, seed=seed, scale=2.0)
        kind = kind_of(cell)
        weights = {key.removesuffix(kind.suffix): w.double() for key, w in raw.items()}
        sizes = kind.layout(weights).sizes(weights)
        side = 0.8 + 0.4 * torch.arange(sizes.state, dtype=torch.float64)
        stored = {key: w.numpy() for key, w in weights.items()}
        draw = torch.Generator().manual_seed(seed)
        s, ds = (torch.rand(20000, sizes.state, generator=draw).double() * 2 - 1 for _ in "ab")
        x, dx = (torch.rand(20000, 1, generator=draw).double() * 2 - 1 for _ in "ab")
        s, tiny = s * side, 1e-7

        def step(s, x, kind=kind, weights=weights):
            return kind.step(weights, kind.drive(weights, x[:, None]), s[:, None])[:, 0]

        with ctx.workprec(128):
            held = cell_of(cell, stored, arb(1), None, side.tolist())
            at, v = step(s, x), [exact(float(a)) for a in side]
            moved = (step(s + tiny * ds.sign() * side, x) - at).abs().amax(0) / tiny
            rates = torch.tensor([float(rate) for rate in held.rates(v)])
            assert (moved <= rates * (1 + 1e-5) + 1e-6).all()
            nearest = max(nearest, float((moved / rates.clamp(min=1e-9)).max()))
            fed = (step(s, x + tiny * dx.sign()) - at).abs().amax(0) / tiny
            assert (fed <= torch.tensor([float(row[0]) for row in held.slopes]) * (1 + 1e-5)).all()
            rest = step(0 * s, x).abs().amax(0)
            assert (rest <= torch.tensor([float(size) for size in held.rest]) + 1e-12).all()
            if which != "s4d":
                E = torch.tensor([[float(e) for e in row] for row in held.between_blocks(False)])
                turned = ds / ds.norm(dim=1, keepdim=True)
                gap = (step(s + tiny * turned, x) - at) / tiny
                size, width = held.blocks, sizes.state // held.blocks
                there, before = (
                    part.reshape(-1, size, width).norm(dim=2) for part in (gap, turned)
                )
                assert (there <= before @ E.T.double() * (1 + 1e-5) + 1e-6).all()
    assert nearest > 0.6


def test_layers_move_one_another(tmp_path):
    """A stack contracts by no less than its cascade: λ of the worst layer alone falls."""
    file = good(tmp_path / "t", "rnns")
    told = file.certificate
    worst = max(layer["norm"]["lambda"] for layer in told["layers"])
    assert worst < told["lambda"]
    between = (worst + told["lambda"]) / 2
    for lam in (worst, between):
        assert verdict(tmp_path / "t", file.stating(told | {"lambda": lam})) is False


def test_discs_are_counted(tmp_path):
    """Sides of a box below those of the discs fall, of pairs that turn."""
    file = good(tmp_path / "t", "complex")
    for share in (0.999, 0.5):
        box = [side * share for side in file.certificate["box"]]
        assert verdict(tmp_path / "t", file.stating(file.certificate | {"box": box})) is False


def test_needs_no_torch(tmp_path):
    """A stack of LSTMs is checked where torch cannot be imported."""
    good(tmp_path / "t", "lstms")
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from pathlib import Path; from impl.checker.truncated import check_truncated\n"
        f"print(all(found.holds for found in check_truncated(Path({str(tmp_path / 't')!r}))[1]))"
    )
    house = Path(impl.__file__).parent.parent
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=house, capture_output=True, text=True, check=False
    )
    assert (ran.stdout.strip(), ran.stderr) == ("True", "")


@pytest.mark.parametrize("which", ["gru", "rnns", "lru"])
def test_whole_certificates(tmp_path, which):
    """What 'certify' writes is proved for its model, and for no other; other sizes fall."""
    held, told = system(which)
    path = tmp_path / "certificate.json"

    def fallen(document):
        path.write_text(json.dumps(document))
        return {found.name for found in check_certificate(path, source(held))[1] if not found.holds}

    whole = told.to_json()
    assert fallen(whole) == set()
    further = check_certificate(path, source(held))[0]["information"]["further"]
    assert {"norms_tried", "training", "stable"} <= set(further)
    assert not {"lambda", "truncation", "constants.drive", "model"} & set(further)
    assert fallen(whole | {"lambda": whole["lambda"] * 0.9}) >= {"contraction"}
    for other, reason in (
        (whole | {"sha256": "0" * 64}, "of another model"),
        (whole | {"verdict": "undecided"}, "certifies nothing"),
        (whole | {"cell": "lstm"}, "of another model"),
        (whole | {"readout": {}}, "about a readout"),
        ([], "certifies nothing"),
    ):
        with pytest.raises(CertificateFileError, match=reason):
            fallen(other)
