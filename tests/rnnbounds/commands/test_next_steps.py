"""What an error or the line of what to do next says is done, and the answer is right: by calls from
Python and on the command line; files and modules that are read are in tests/impl/reading."""

import re
import shlex
import shutil
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import rnnbounds
from rnnbounds.cli import main
from rnnbounds.impl.convert.unitary import unitary
from rnnbounds.impl.errors import InputError

X = np.random.default_rng(0).normal(size=(40, 12, 2))
SLID = np.lib.stride_tricks.sliding_window_view(X.reshape(-1, 2), 20, 0).swapaxes(1, 2)
HOLES = np.where(np.arange(12)[:, None] > 9, np.nan, X)
with torch.random.fork_rng(devices=[]):
    torch.manual_seed(0)
    GRU, LSTM = torch.nn.GRU(2, 3, batch_first=True), torch.nn.LSTM(2, 3)
    RELU, DEEP = torch.nn.RNN(2, 3, nonlinearity="relu"), torch.nn.GRU(2, 3, 2)
    NORMED = torch.nn.utils.parametrizations.weight_norm(torch.nn.GRU(2, 3), "weight_hh_l0")
    TURNED = torch.nn.GRU(2, 3, bidirectional=True, batch_first=True)
NINE, HALF = torch.ones(1, 9, 1), {"share": 0.5, "confidence": 0.5}
NOISY = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout())
BIG = {name: 9 * part for name, part in RELU.state_dict().items()}
SMALL = BIG | {"weight_hh_l0": rnnbounds.stable(BIG["weight_hh_l0"], 0.9)}


def seen(model=GRU, x=X, **options):
    """Measured at ε = 1, of windows of 12 inputs unless they are cut."""
    return rnnbounds.measure(model, x, eps=1.0, **options)


def certified(model, inputs=1.0, **options):
    """True if it is."""
    return rnnbounds.certify(model, inputs=inputs, **options).verdict == "certified"


def box(high, d):
    """All inputs of d channels in [−high, high]."""
    return rnnbounds.input_box(-high, high, d)


def three(x):
    """Sums of the last three inputs."""
    return torch.nn.functional.pad(x, (0, 0, 2, 0)).unfold(1, 3, 1).sum(-1)


def bare(module):
    """The module without its parametrisation."""
    return torch.nn.utils.parametrize.remove_parametrizations(module, "weight_hh_l0")


CALLS = [
    (lambda: seen(gap="tv"), "leave it out", lambda: seen().window(1.0)),
    (lambda: seen(gap="tv"), "as_is", lambda: seen(gap="tv", as_is=True).gap.name == "tv"),
    (lambda: seen(GRU.state_dict(), as_is=True), "pass a module",
     lambda: seen(as_is=True).window(1.0) == seen().window(1.0)),
    (lambda: seen(NOISY), r"\.eval\(\) first", lambda: seen(NOISY.eval()).window(1.0) == 1),
    (lambda: seen(TURNED, as_is=True), "pass one direction",
     lambda: seen(TURNED, direction="forward").recorded == 12),
    (lambda: seen(lambda x: x.flip(1).cumsum(1)), "mask what is to come",
     lambda: seen(lambda x: x.cumsum(1)).run["causality"] == "tried"),
    (lambda: seen(lambda x: x.sum((1, 2))), r"let it return outputs \(N, T, p\) or \(N, p\)",
     lambda: seen(lambda x: x.sum((1, 2))[:, None]).run["outputs"] == 1),
    (lambda: seen(share=0.9), r"so (\d+) windows in all",
     lambda n: seen(x=np.random.default_rng(1).normal(size=(int(n), 3, 2)), share=0.9)
     .statement.reached),
    (lambda: seen(share=0.9), "lower the confidence",
     lambda: seen(share=0.9, confidence=0.5).statement.reached),
    (lambda: seen(x=X[:1], share=0.5), "cut shorter windows",
     lambda: seen(x=X[:1], share=0.5, window=1, confidence=0.5).statement.reached),
    (lambda: seen(x=SLID, share=0.5), "cut them without overlap, each once",
     lambda: seen(x=SLID[::20], share=0.5, confidence=0.5).statement.reached),
    (lambda: seen(x=X.astype(object)), r"save it as (\w+) or",
     lambda dtype: seen(x=X.astype(object).astype(dtype)).windows == 40),
    (lambda: seen(x=HOLES), r"first at t = (\d+), .* leave that part out",
     lambda t: seen(x=HOLES[:, : int(t)]).length == 10),
    (lambda: seen(x=X[..., :1]), "pass the inputs of the model", lambda: seen().windows == 40),
    (lambda: seen(window=50), r"sequences of (\d+) inputs, .* ask for a shorter window",
     lambda T: seen(window=int(T)).length == 12),
    (lambda: seen(inputs=box(1, 2)), r"by up to (\S+); state a larger set",
     lambda most: seen(inputs=box(1 + float(most), 2)).windows == 40),
    (lambda: seen(x="x.txt"), r"save it as one of (\.npy)",
     lambda end: np.save(f"y{end}", X) or seen(x=f"y{end}").windows == 40),
    (lambda: seen(x="x.csv"), "its columns the channels, below at most a line of names",
     lambda: Path("x.csv").write_text("a,b\n" + "0.5,1\n" * 20) and seen(x="x.csv").recorded == 20),
    (lambda: seen(x="x.npz"), "keep the inputs alone",
     lambda: np.savez("x.npz", X) or seen(x="x.npz").windows == 40),
    (lambda: rnnbounds.assert_measured(GRU, X, eps=0.1, at_most=1, **HALF),
     r"needs the last (\d) inputs, more than 1",
     lambda k: rnnbounds.assert_measured(GRU, X, eps=0.1, at_most=int(k), **HALF).windows == 40),
    (lambda: rnnbounds.assert_receptive_field(three, NINE, 2), r"at least (\d), .* that field",
     lambda field: rnnbounds.assert_receptive_field(three, NINE, int(field)) or True),
    (lambda: rnnbounds.assert_receptive_field(three, NINE, 4), "or set exact=False",
     lambda: rnnbounds.assert_receptive_field(three, NINE, 4, exact=False) or True),
    (lambda: certified(GRU, device="tpu"), r"choose (\w+) or", lambda name: rnnbounds.certify(
        GRU, inputs=1.0, device=name).cell == "gru"),
    (lambda: seen(states="recorded"), "give near, too",
     lambda: seen(states="recorded", near=1e-3, window=3).near.delta == 1e-3),
    (lambda: certified(GRU, box(1, 3)), r"state one with (\d)$",
     lambda d: not certified(GRU, box(1, int(d)))),
    (lambda: certified(lambda x: x), "measure alone runs a function as it is",
     lambda: seen(lambda x: x).window(1.0) == 1),
    (lambda: rnnbounds.certify(RELU, inputs=1.0, eps=0.1).window(0.5),
     "must be one of (.*); choose",
     lambda eps: rnnbounds.certify(RELU, inputs=1.0, eps=0.1).window(float(eps))),
    (lambda: rnnbounds.truncate(BIG, eps=0.1, inputs=1.0, cell="rnn-relu"), r"rnnbounds\.stable$",
     lambda: rnnbounds.truncate(SMALL, eps=0.1, inputs=1.0, cell="rnn-relu").k
     == rnnbounds.certify(SMALL, inputs=1.0, eps=0.1, cell="rnn-relu").window(0.1)),
    (lambda: unitary(BIG, inputs=1.0, cell="rnn-relu"), r"rnnbounds\.stable$",
     lambda: unitary(SMALL, inputs=1.0, cell="rnn-relu").states == 6),
    (lambda: unitary(RELU.state_dict(), inputs=1.0, cell="linear"), r"say --cell (\S+)\)",
     lambda cell: unitary(RELU.state_dict(), inputs=1.0, cell=cell).states == 6),
    (lambda: rnnbounds.assert_contractive(BIG, inputs=1.0, cell="rnn-relu"),
     r"with rnnbounds\.stable",
     lambda: rnnbounds.assert_contractive(SMALL, inputs=1.0, cell="rnn-relu").lam < 1),
    (lambda: rnnbounds.assert_remembers(RELU, inputs=1.0, eps=0.1, at_most=1), "allow a larger ε",
     lambda: rnnbounds.assert_remembers(RELU, inputs=1.0, eps=9.0, at_most=1).stable),
    (lambda: rnnbounds.stable_(TURNED), "take one without bidirectional=True",
     lambda: certified(rnnbounds.stable_(torch.nn.GRU(2, 3)))),
    (lambda: rnnbounds.stable_(NORMED), "remove its parametrisation",
     lambda: certified(rnnbounds.stable_(bare(NORMED)))),
    (lambda: rnnbounds.stable(RELU, 0.9), "pass a weight as a tensor",
     lambda: rnnbounds.stable(RELU.weight_hh_l0.detach(), 0.9).norm(2) < 2),
    (lambda: rnnbounds.stable(torch.eye(2).half(), 0.9), r"convert it with (\.double)\(\)",
     lambda _: rnnbounds.stable(torch.eye(2).half().double(), 0.9).trace() < 2),
]  # fmt: skip


@pytest.mark.parametrize(("ask", "words", "then"), CALLS, ids=[row[1] for row in CALLS])
def test_calls(folder, ask, words, then):
    """The names and numbers that the line says are those of the next call."""
    with pytest.raises((InputError, AssertionError), match=words) as told:
        ask()
    assert then(*re.search(words, str(told.value)).groups())


@pytest.mark.parametrize("module", [GRU, LSTM, RELU, DEEP], ids=["gru", "lstm", "relu", "stack"])
def test_norms_to_choose_among(module):
    """Each is one of that cell."""
    with pytest.raises(InputError, match=r"for .* choose among") as told:
        certified(module, norm="quadratic")
    module = {name: part / 8 for name, part in module.state_dict().items()}
    cell = "rnn-relu" if len(module["weight_hh_l0"]) == 3 else None
    for norm in str(told.value).split("among ")[1].split(", "):
        if norm != "quadratic-sdp":  # of which the solver is an extra
            assert rnnbounds.certify(module, inputs=1e-3, norm=norm, cell=cell).norm == norm


@pytest.mark.parametrize("inputs", [1.0, box(1, 2)], ids=["ball", "box"])
@pytest.mark.parametrize("make", [torch.nn.GRU, torch.nn.LSTM, torch.nn.RNN])
def test_calls_in_training(make, inputs):
    """Of an undecided model: the penalty has a gradient, along which λ falls, and the projection
    certifies."""
    torch.manual_seed(0)
    module = make(2, 4)
    with torch.no_grad():
        module.weight_hh_l0.mul_(1.5 if make is torch.nn.RNN else 2.0)
    found = rnnbounds.certify(module, inputs=inputs, norm="infinity")
    known = {"module": module, "rnnbounds": rnnbounds, "torch": torch, "loss": 0.0, "c": 1.0}
    steps = "\n".join(found.next_steps)
    penalty = eval(re.search(r"train with a penalty: (.*)", steps)[1], known)
    assert penalty > 0
    penalty.backward()
    with torch.no_grad():
        module.weight_hh_l0 -= 1e-3 * module.weight_hh_l0.grad
    assert eval(re.search(r"train with a penalty: (.*)", steps)[1], known) < penalty
    eval(re.search(r"project after each step: (.*)", steps)[1], known)
    assert certified(module, inputs)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two certified models, data, and what commands wrote of them; one file was changed since."""
    cell = {name: part.detach() / 4 for name, part in GRU.state_dict().items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("made"))
        save_file(cell, "m.safetensors")
        save_file(cell | {"embed": torch.eye(2)}, "rows.safetensors")
        np.save("x.npy", X)
        asked = (
            '[tool.rnnbounds.models.{}]\nmodel = "m.safetensors"\ninputs = "-1:1"\neps = 0.1\n{}\n'
        )
        settings = asked.format("m", 'baseline = "main.json"') + asked.format("n", "at-most = 1")
        Path("pyproject.toml").write_text(settings)
        for words in (
            "certify rows.safetensors --ignore embed --inputs embed --out rows",
            "truncate m.safetensors --inputs=-1:1 --eps 0.1 --out t.safetensors",
            "certify m.safetensors --inputs=-1:1 --out o",
        ):
            assert main(words.split()) == 0
        held = Path("t.safetensors").read_bytes()
        Path("c.safetensors").write_bytes(held[:-1] + bytes([held[-1] ^ 1]))
        Path("t.onnx").touch()
        Path("x.txt").write_text("1")
        Path("x.csv").write_text("day,x\n1700-01-01,1\n")
        np.savez("x.npz", x=X, lengths=X)
        yield Path.cwd()


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """A copy of it."""
    monkeypatch.chdir(shutil.copytree(made, tmp_path / "copy"))


M = "certify m.safetensors"


def fixed(inputs):
    """The words of that certificate, made in Python."""

    def words():
        found = rnnbounds.certify("m.safetensors", inputs=inputs(), eps=0.01).window(0.01)
        return f"^certified: m.safetensors .* its last {found} inputs fix the output h to within"

    return words


UNIT, TAKEN = fixed(lambda: box(1, 2)), fixed(lambda: rnnbounds.input_data("x.npy"))
HOLDS = "^o/certificate.json: the certificate holds"
S = """'{"kind":"rnn","n":2,"d":1,"T":3,"seed":4}'"""
B = S.replace("4}", '4,"batch":2,"sequences":2}')
E = "experiment similarity --set states=2 --set conditions=[1,10] --seeds 1 --out e"
# A command, the words of its error, the command that they say, and what is in its answer.
COMMANDS = [
    (f"{M} --inputs=1:", r"write LOW:HIGH, as (\S+) or", rf"{M} --inputs=\1", UNIT),
    (f"{M} --inputs=1:0", r"must be at most (\S+);", rf"{M} --inputs=\1:0",
     fixed(lambda: box(0, 2))),
    (f"{M} --inputs=weight_ih", r"did you mean (\S+)\?", rf"{M} --inputs=\1",
     "^certified: .*\ninputs: every x_t in the rows of weight_ih_l0,"),
    (f"{M} --input-bound 1", r"use (--inputs) B", rf"{M} \1 1", fixed(lambda: 1.0)),
    (f"{M} --input-bound 1", r"or (--inputs) FILE", rf"{M} \1 x.npy", TAKEN),
    (f"{M} --inputs=-1:1 --eps 200%", "up to (100%)", rf"{M} --inputs=-1:1 --eps \1",
     "^certified: .* its last input fixes"),
    ("check rows/certificate.json --source rows.safetensors --ignore embed",
     "certify their box with --inputs=LOW:HIGH", "check o/certificate.json --source m.safetensors",
     HOLDS),
    ("check rows/certificate.json --source rows.safetensors --ignore embed",
     "or check what '(rnnbounds truncate)' wrote", "check t.safetensors",
     "^t.safetensors: the certificate holds"),
    ("check o/certificate.json", r"name it as source \((--source)\)",
     r"check o/certificate.json \1 m.safetensors", HOLDS),
    ("check t.onnx", r"check the (\.safetensors) that it was written beside", r"check t\1",
     "^t.safetensors: the certificate holds"),
    ("check t.safetensors --layer x", "or leave them out", "check t.safetensors"),
    ("check c.safetensors", "write it again with 'rnnbounds (truncate)'",
     r"\1 m.safetensors --inputs=-1:1 --eps 0.1 --out c.safetensors"),
    ("attack m.safetensors", r"to attack a model say 'rnnbounds (.*?)'", r"\1 --inputs=-1:1", UNIT),
    ("prove --step x", "--form and --step are about one claim; name it", "prove contraction-linear",
     "^contraction-linear .*: derived"),
    ("truncate m.safetensors --inputs=-1:1 --eps 1 --out no/y.safetensors",
     "name a file in a folder that can be written",
     "truncate m.safetensors --inputs=-1:1 --eps 1 --out y.safetensors"),
    ("guard m", "commit it: rnnbounds (guard m --update)", r"\1", "^passes: m: "),
    (f"replay {S}", "name a (--claim)", rf"replay {S} \1 truncation", "HOLDS"),
    (f"replay {S}", "or a (--statement)", rf"replay {S} \1 'h_gap <= 2*S_0'", "HOLDS"),
    (f"replay {S} --claim truncation --statement 'h_gap <= 2*S_0'", "name a --claim .* or a ",
     f"replay {S} --claim truncation", "HOLDS"),
    (f"replay {S} --claim truncation --dump s", r"does not end in (\.npz)",
     rf"replay {S} --claim truncation --dump s\1", "HOLDS"),
    (f"replay {B} --claim truncation", "give its (member) and (sequence)",
     "replay " + B.replace(":2}", r':2,"\1":0,"\2":1}') + " --claim truncation", "HOLDS"),
    (f"replay {S} --statement 'S_0 h_gap <= S_0'", "write (.*) between them",
     rf"replay {S} --statement 'S_0 \1 h_gap <= S_0'", "HOLDS"),
    (f"replay {S} --statement 'h_gap <='", "write it as lhs (.*) rhs",
     rf"replay {S} --statement 'h_gap \1 2*S_0'", "HOLDS"),
    (f"{E} --set seed", "give it as NAME=VALUE", f"{E} --set seed=1", "Holds"),
    (E.replace("=2", "=two"), "give a setting as similarity has it by default", E, "Holds"),
    (f"{E} --device tpu", r"choose (\w+) or", rf"{E} --device \1", "Holds"),
]  # fmt: skip


@pytest.mark.parametrize("row", COMMANDS, ids=[row[1] for row in COMMANDS])
def test_commands(call, folder, row):
    """The next command ends with 0, and shows the answer."""
    asked, words, then, *answer = row
    first = call(*shlex.split(asked))
    assert first.code != 0
    found = re.search(words, first.err + first.out)
    assert found, first
    second = call(*shlex.split(found.expand(then)))
    assert second.code == 0
    for right in answer:
        assert re.search(right() if callable(right) else right, second.out), second


CUT = "truncate m.safetensors --inputs=-1:1 --eps 0.1 --out o.safetensors"
MISSING = [
    ("onnx", "onnx", "certify e.onnx --inputs=-1:1"),
    ("onnx", "onnx", f"{CUT} --export e.onnx"),
    ("onnxscript", "onnxscript", f"{CUT} --export e.onnx"),
    ("clarabel", "clarabel",
     "certify r.safetensors --cell rnn-relu --inputs=-1:1 --norm quadratic-sdp"),
    ("distributed", "distributed", "verify state-bound --cluster tcp://127.0.0.1:1"),
    ("sklearn", "scikit-learn", "experiment permuted-digits --out e"),
]  # fmt: skip


@pytest.mark.parametrize(("module", "package", "asked"), MISSING)
def test_what_is_installed_then(call, folder, monkeypatch, module, package, asked):
    """The extra that is named brings the package that is missing."""
    monkeypatch.setitem(sys.modules, module, None)
    save_file(SMALL, "r.safetensors")
    Path("e.onnx").write_bytes(b"\x08\x0a")
    told = call(*asked.split())
    assert told.code == 2, told
    (extra,) = re.findall(r"pip install 'rnnbounds\[(\w+)\]'", told.err)
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    brought = project["optional-dependencies"][extra]
    assert package in [re.match(r"[\w-]+", one)[0] for one in brought]


def test_the_k_that_the_guard_says(call, folder):
    """It is the least that passes."""
    found = re.search(r"set at-most = (\d+)", call("guard", "n").out)
    settings = Path("pyproject.toml")
    for k, code in ((int(found[1]) - 1, 1), (int(found[1]), 0)):
        settings.write_text(re.sub(r"at-most = \d+", f"at-most = {k}", settings.read_text()))
        assert call("guard", "n").code == code
