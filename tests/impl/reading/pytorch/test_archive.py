"""Archives are read as torch reads them, with inert objects where it would need code."""

import argparse
import io
import zipfile

import pytest
import torch
from draws import state
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.files import ModelFileError, flat
from rnnbounds.impl.reading.pytorch.archive import ArchiveError, read_archive, read_old
from rnnbounds.impl.reading.pytorch.unpickler import CodeError
from rnnbounds.impl.reading.recognition.inert import Inert
from rnnbounds.impl.reading.recognition.misfit import AmbiguousCellError, WeightsError

DTYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32,
    torch.int16, torch.int8, torch.uint8, torch.bool, torch.complex64, torch.complex128,
]  # fmt: skip


def saved(held, new=True):
    """The bytes of an archive of torch.save, or of a file as before torch 1.6."""
    file = io.BytesIO()
    torch.save(held, file, _use_new_zipfile_serialization=new)
    return file.getvalue()


def read(data):
    """What an archive or an old file holds."""
    return read_archive(data) if data.startswith(b"PK") else read_old(data)


def packed(pickled, root="m/", **entries):
    """An archive of this pickle and of entries by their names, with __ for a slash."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{root}data.pkl", pickled)
        for name, held in entries.items():
            archive.writestr(f"{root}{name.replace('__', '/')}", held)
    return file.getvalue()


@st.composite
def tensors(draw):
    """A tensor of any dtype, and a view of it: a slice, a transpose, or repeated."""
    shape = draw(st.lists(st.integers(0, 3), max_size=3))
    whole = torch.arange(-3, 60).to(draw(st.sampled_from(DTYPES)))[: torch.Size(shape).numel()]
    whole = whole.reshape(shape)
    if not shape:
        return whole
    return draw(st.sampled_from([whole, whole[1:], whole.T if len(shape) == 2 else whole[::2]]))


@pytest.mark.slow
@given(
    st.dictionaries(st.text(max_size=4), tensors() | st.integers() | st.text(), max_size=4),
    st.booleans(),
)
def test_tensors_are_those_that_torch_reads(held, new):
    """Each dtype, view and shape, Parameter or not; tied ones share their storage."""
    tied = {f"{name}-again": one for name, one in held.items()}
    parameters = {
        f"{name}-p": torch.nn.Parameter(one, requires_grad=False)
        for name, one in held.items()
        if isinstance(one, torch.Tensor)
    }
    data = saved(held | tied | parameters, new)
    expected = torch.load(io.BytesIO(data), weights_only=True)
    found = read(data)
    assert list(found) == list(expected)
    for name, one in expected.items():
        if isinstance(one, torch.Tensor):
            assert found[name].dtype == one.dtype
            assert found[name].stride() == one.stride()
            assert torch.equal(found[name], one.detach())
        else:
            assert found[name] == one


@pytest.mark.filterwarnings("ignore")
def test_what_a_tensor_is_beside_its_entries():
    """A lazy conjugate, a sparse, a quantised one and a class of its own are inert, by a name."""
    own = type("Own", (torch.Tensor,), {})
    globals()["Own"], own.__module__, own.__qualname__ = own, __name__, "Own"
    try:
        data = saved(
            {
                "conjugate": torch.ones(2, dtype=torch.complex64).conj(),
                "sparse": torch.eye(2).to_sparse(),
                "quantised": torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8),
                "own": torch.ones(2).as_subclass(own),
                "meta": torch.ones(2, device="meta"),
                "float8": torch.ones(2).to(torch.float8_e5m2),
                "attributes": torch.nn.Parameter(torch.ones(2)),
            }
        )
    finally:
        del globals()["Own"]
    found = read_archive(data)
    assert torch.equal(found.pop("attributes"), torch.ones(2))
    assert {type(one) for one in found.values()} == {Inert}


@pytest.mark.slow
def test_a_checkpoint_with_classes_beside_its_weights(tmp_path):
    """Namespaces, optimisers and whole modules are there by their names; the weights are read."""
    net = torch.nn.Sequential(torch.nn.LSTM(2, 3), torch.nn.Linear(3, 1))
    optimiser = torch.optim.Adam(net.parameters())
    net[0](torch.zeros(1, 2))[0].sum().backward()
    optimiser.step()
    held = {
            "state_dict": net.state_dict(), "optimizer_states": [optimiser.state_dict()],
            "hyper_parameters": {"args": argparse.Namespace(a=1), "loss": torch.nn.MSELoss()},
            "callbacks": {("a", 1): {2}}, "optimiser": optimiser,
        }  # fmt: skip
    for new in (True, False):
        (tmp_path / "m.ckpt").write_bytes(saved(held, new))
        found = load_model(tmp_path / "m.ckpt")
        assert found.digest == load_model(net).digest
        assert found.tensors["weight_hh"] == "state_dict.0.weight_hh_l0"
        names = {"callbacks.<tuple 0>", "hyper_parameters.args", "hyper_parameters.loss"}
        names |= {"optimizer_states", "state_dict.1.weight", "optimiser"}
        assert set(found.unread) >= names


def test_an_inert_object_is_no_weight(tmp_path):
    """In the cell's own place it is refused by its name; a whole module is refused."""
    path = tmp_path / "m.pt"
    torch.save(state() | {"weight_hh_l0": argparse.Namespace()}, path)
    refused(path, WeightsError, "weight_hh_l0 is a pickled argparse.Namespace, not a tensor")
    torch.save(state() | {"x": argparse.Namespace()}, path)
    refused(path, WeightsError, "holds x, which", cell="rnn-tanh")
    for new in (True, False):
        path.write_bytes(saved(torch.nn.GRU(2, 3), new))
        refused(path, ModelFileError, "to run code: torch.nn.modules.rnn.GRU is pickled in it")


STORAGE = b"(U\x07storagectorch\nFloatStorage\nU\x010U\x03cpuK\x04tQ"
VIEW = b"ctorch._utils\n_rebuild_tensor_v2\n(" + STORAGE + b"%s\x89}tR."
FITTING = b"K\x00(K\x02K\x02t(K\x02K\x01t"
BEYOND = {
    "an offset": b"K\x01(K\x02K\x02t(K\x02K\x01t",
    "a stride": b"K\x00(K\x02K\x02t(K\x03K\x01t",
    "a size": b"K\x00(K\x03K\x02t(K\x02K\x01t",
    "a negative stride": b"K\x03(K\x02K\x01t(J\xff\xff\xff\xffK\x01t",
    "a negative offset": b"J\xff\xff\xff\xff(K\x02K\x01t(K\x01K\x01t",
    "strides of another length": b"K\x00(K\x02K\x02t(K\x02t",
    "flags for numbers": b"\x88(K\x02t(K\x01t",
    "a large size": b"K\x00(\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01K\x01t(K\x00K\x01t",
    "many axes": b"K\x00(" + b"K\x01" * 65 + b"t(" + b"K\x01" * 65 + b"t",
}


def test_views_do_not_reach_beyond_their_storage():
    """Sizes, strides and offsets that lie, and a storage of another size than it says."""
    four = torch.arange(4.0).numpy().tobytes()
    assert read_archive(packed(VIEW % FITTING, data__0=four)).tolist() == [[0, 1], [2, 3]]
    for lie in BEYOND.values():
        with pytest.raises((ValueError, RuntimeError, OverflowError, TypeError)):
            read_archive(packed(VIEW % lie, data__0=four))
    for held in (four[:-1], four[:-4], four + four, b""):
        with pytest.raises(ValueError, match=r"size|multiple"):
            read_archive(packed(VIEW % FITTING, data__0=held))
    with pytest.raises(KeyError):
        read_archive(packed(VIEW % FITTING))


def test_archives_that_are_none(tmp_path):
    """Two pickles, two entries of one name, another byte order, an archive in an archive."""
    plain = b"}U\x01aK\x01s."
    assert read_archive(packed(plain, byteorder=b"little")) == {"a": 1}
    for data, line in (
        (packed(plain, byteorder=b"big"), "big-endian"),
        (packed(plain, other__x=b"", root="a/b/"), "not one of torch.save"),
    ):
        with pytest.raises(ArchiveError, match=line):
            read_archive(data)
    four = torch.arange(4.0).numpy().tobytes()
    data = packed(VIEW % FITTING, data__0=four)
    with pytest.raises(ArchiveError, match="checksums"):
        read_archive(data.replace(four, four[::-1]))
    twice = io.BytesIO()
    with zipfile.ZipFile(twice, "w") as archive:
        archive.writestr("m/data.pkl", plain)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("m/data.pkl", plain)
    (tmp_path / "m.pt").write_bytes(twice.getvalue())
    refused(tmp_path / "m.pt", ModelFileError, "two entries of one name; save it with torch.save")


def test_old_files_that_are_none():
    """Another magic number, version or order of bytes, a storage of another type or size."""
    whole = saved({"a": torch.arange(3.0), "b": torch.arange(2)}, new=False)
    assert read_old(whole)["b"].tolist() == [0, 1]
    for old, new, line in (
        (b"l\xfc\x9cF", b"l\xfc\x9cG", "no file of torch.save"),
        (b"M\xe9\x03.", b"M\xe8\x03.", "no file of torch.save"),
        (b"little_endianq\x02\x88", b"little_endianq\x02\x89", "big-endian"),
        (b"FloatStorage", b"QInt8Storage", "has a torch.QInt8Storage"),
        (b"ctorch\nLong", b"ctorch\nByte", r"storage|multiple"),
    ):
        assert old in whole
        with pytest.raises((ValueError, ArchiveError), match=line):
            read_old(whole.replace(old, new))
    for cut in range(0, len(whole), 7):
        with pytest.raises((ValueError, IndexError, KeyError)):
            read_old(whole[:cut])
    for held in (b"}.", b"K\x01.", b"cmy\nNet\n)\x81."):
        with pytest.raises((ValueError, CodeError)):
            read_old(b"\x80\x02" + held)


def test_policies_of_stable_baselines(tmp_path):
    """The .zip holds policy.pth, optimisers and JSON; its policy is read, one archive deep."""
    net = torch.nn.ModuleDict(
        {"lstm_actor": torch.nn.LSTM(2, 3), "action_net": torch.nn.Linear(3, 1)}
    )

    def zipped(policy):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("data", '{"policy_class": {":serialized:": "gASV"}}')
            archive.writestr("policy.pth", policy)
            archive.writestr("policy.optimizer.pth", b"")
            archive.writestr("_stable_baselines3_version", "2.7.0")
        return file.getvalue()

    (tmp_path / "m.zip").write_bytes(zipped(saved(net.state_dict())))
    read = load_model(tmp_path / "m.zip", readout="action_net")
    assert read.tensors["weight_hh"] == "lstm_actor.weight_hh_l0"
    assert read.digest == load_model(net).digest
    (tmp_path / "m.zip").write_bytes(zipped(zipped(saved({}))))
    refused(tmp_path / "m.zip", ModelFileError, "is a zip archive, not one of torch.save")


class Net(torch.nn.Module):
    """A model with a number beside its layers."""

    def __init__(self):
        super().__init__()
        self.leak, self.steps = 0.5, 3
        self.rnn, self.cell = torch.nn.LSTM(2, 3, 2), torch.nn.GRUCell(2, 3)

    def forward(self, x):
        return self.rnn(x)[0] * self.leak


@pytest.mark.filterwarnings("ignore")
def test_torchscript_is_read_by_its_names(tmp_path):
    """Scripted or traced, at hand or in a file: the tensors of the state dict, no code."""
    net = Net()
    for made in (torch.jit.script(net), torch.jit.trace(net, torch.zeros(1, 1, 2))):
        torch.jit.save(made, tmp_path / "m.pt")
        held = {**net.state_dict(), "leak": 0.5} if "Recursive" in type(made).__name__ else {}
        found = flat(read_archive((tmp_path / "m.pt").read_bytes()))
        assert found.keys() - {"leak"} == net.state_dict().keys()
        assert found.get("leak", 0.5) == held.get("leak", 0.5)
        for layer in ("rnn", "cell"):
            digest = load_model(net, layer=layer).digest
            assert load_model(tmp_path / "m.pt", layer=layer).digest == digest
            found = load_model(made, layer=layer)
            assert found.digest == digest
            assert found.source == "Net (TorchScript: its weights by their names)"
    within = torch.nn.Sequential(torch.jit.script(torch.nn.GRU(2, 3)))
    refused(within, WeightsError, r"holds TorchScript \(0\); pass its state dict")
    assert load_model(within.state_dict()).name == "gru"
    rnn = torch.jit.script(torch.nn.RNN(2, 3, nonlinearity="relu"))
    refused(rnn, AmbiguousCellError, "does not say which cell it holds")
    torch.jit.save(torch.jit.freeze(torch.jit.script(net.eval())), tmp_path / "m.pt")
    refused(tmp_path / "m.pt", WeightsError, "but no weight_hh_l0")
