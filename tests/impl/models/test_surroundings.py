"""What is certified does not depend on what the program around it has set for torch."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest
import torch

from rnnbounds.assertions import assert_receptive_field, assert_truncation
from rnnbounds.impl.arithmetic.inputs.sets import input_box, input_rows
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.contraction import contraction
from rnnbounds.impl.certificate.inputs import input_data
from rnnbounds.impl.certificate.stable_module import stable_
from rnnbounds.impl.convert.files import load_truncated, save_truncated
from rnnbounds.impl.convert.truncate import truncate
from rnnbounds.impl.convert.unitary import save_unitary, unitary
from rnnbounds.impl.memory.adversary.attack import attack
from rnnbounds.impl.memory.calls import measure
from rnnbounds.impl.models.surroundings import LARGE, isolated, spread_work
from rnnbounds.impl.training.projection import stable

NETWORKS: dict[str, Callable[[], torch.nn.Module]] = {
    "rnn": lambda: torch.nn.RNN(2, 4, batch_first=True),
    "relu": lambda: torch.nn.RNN(2, 4, nonlinearity="relu", batch_first=True),
    "lstm": lambda: torch.nn.LSTM(2, 4, batch_first=True),
    "gru": lambda: torch.nn.GRU(2, 4, batch_first=True),
    "stack": lambda: torch.nn.RNN(2, 4, 2, batch_first=True),
}
INPUTS = torch.linspace(-1, 1, 200).sin().reshape(2, 50, 2)


def network(name: str) -> torch.nn.Module:
    """One of small weights."""
    torch.manual_seed(0)
    made = NETWORKS[name]()
    for part in made.parameters():
        part.data.mul_(0.3)
    return made


@contextmanager
def another_device() -> Iterator[None]:
    """As `torch.set_default_device` has it, for a while."""
    torch.set_default_device("meta")
    try:
        yield
    finally:
        torch.set_default_device(None)


AUTOCAST = partial(torch.autocast, "cpu", dtype=torch.bfloat16)
# All at once shows in half of the time that one of them shows through.
SURROUNDINGS: dict[str, tuple[Callable[[], AbstractContextManager[object]], ...]] = {
    "no gradients, in less precision": (torch.no_grad, AUTOCAST),
    "inference, with another default device": (torch.inference_mode, another_device),
}


@contextmanager
def surrounded(name: str) -> Iterator[None]:
    """Within all of those."""
    with ExitStack() as stack:
        for around in SURROUNDINGS[name]:
            stack.enter_context(around())
        yield


def numbers(module: torch.nn.Module) -> list[list[float]]:
    """All weights, flat."""
    return [part.detach().flatten().tolist() for part in module.parameters()]


def told(record: object) -> str:
    """The record as JSON."""
    return json.dumps(record, sort_keys=True)


def shortened(name: str) -> object:
    """What a truncated model says, and what is in its file."""
    short, certificate = truncate(network(name), eps=0.1, inputs=1.0)
    return certificate, [part.tolist() for part in short.weights.values()]


def saved(path: Path) -> object:
    """What is in the file of a truncated model, once read."""
    save_truncated(*truncate(network("rnn"), eps=0.1, inputs=1.0), path / "short.safetensors")
    read = load_truncated(path / "short.safetensors")
    return [part.tolist() for part in read.weights.values()], read.k


def exported(path: Path) -> object:
    """What a traced model computes elsewhere."""
    save_truncated(*truncate(network("rnn"), eps=0.1, inputs=1.0), path / "short.pt2")
    return (path / "short.pt2").exists()


def doubled(path: Path) -> object:
    """The file of the unitary equivalent."""
    save_unitary(unitary(network("relu"), inputs=1.0), path / "double.safetensors")
    return (path / "double.safetensors").read_bytes()


def causal() -> None:
    """A program of the caller's, which runs as it stands."""
    short, _ = truncate(network("rnn"), eps=0.1, inputs=1.0)
    assert_receptive_field(short, INPUTS, short.k)


DOORS: dict[str, Callable[[Path], object]] = {
    **{f"certify {name}": lambda _, name=name: told(certify(network(name), inputs=1.0).to_dict())
       for name in NETWORKS},
    **{f"attack {name}": lambda _, name=name: attack(network(name), inputs=1.0, eps=[0.1]).windows
       for name in ("rnn", "lstm")},
    **{f"truncate {name}": lambda _, name=name: shortened(name) for name in ("gru", "stack")},
    **{f"stable_ {name}": lambda _, name=name: numbers(stable_(network(name), 0.2))
       for name in ("lstm", "stack")},
    "save": saved,
    "export": exported,
    "unitary": doubled,
    "contraction": lambda _: round(contraction(network("rnn"), inputs=1.0).item(), 12),
    "measure": lambda _: told(measure(network("rnn"), INPUTS.numpy()).to_dict()),
    "stable": lambda _: stable(INPUTS[0, :4], 0.3).tolist(),
    "assert_truncation": lambda _: assert_truncation(network("rnn"), INPUTS, eps=0.1),
    "assert_receptive_field": lambda _: causal(),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_what_is_around_a_call_does_not_change_what_it_says(door: str, tmp_path: Path) -> None:
    """The same to the last digit, for models that were made outside."""
    alone = DOORS[door](tmp_path)
    for name in SURROUNDINGS:
        made = {name: network(name) for name in NETWORKS}
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(globals(), "network", made.__getitem__)
            with surrounded(name):
                assert DOORS[door](tmp_path) == alone, name


@pytest.mark.slow
@pytest.mark.parametrize("around", SURROUNDINGS)
def test_a_set_of_inputs_is_the_same_wherever_it_was_made(around: str) -> None:
    """A box from numbers, the rows of a table, recorded inputs."""

    makers = (
        lambda: input_box(-1, 1, 2), lambda: input_rows(INPUTS[0]), lambda: input_data(INPUTS, 0.1)
    )  # fmt: skip
    for make in makers:
        with surrounded(around):
            made = make()
        model = network("rnn")
        assert told(certify(model, inputs=made).to_dict()) == told(
            certify(model, inputs=make()).to_dict()
        )


def test_a_model_that_knows_no_gradient_can_be_attacked_and_projected() -> None:
    """One made in inference mode, whose tensors autograd refuses."""
    with torch.inference_mode():
        made = network("rnn").double()
    found = network("rnn").double()
    assert (
        attack(made, inputs=1.0, eps=[0.1]).windows == attack(found, inputs=1.0, eps=[0.1]).windows
    )
    assert numbers(stable_(made, 0.2)) == numbers(stable_(found, 0.2))


def test_gradients_pass_where_they_did() -> None:
    """`contraction` is differentiable, under autocast too."""
    made = network("rnn")
    with AUTOCAST():
        contraction(made, inputs=1.0).backward()
    assert made.weight_hh_l0.grad is not None


@pytest.fixture
def two_threads() -> Iterator[None]:
    """The caller has two of torch's threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
def test_small_work_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a call holds another, raises, or runs beside one; large work has the caller's,
    who finds them again."""
    seen: list[int] = []

    @isolated()
    def call(numbers: int, inner: Callable[[], object] = lambda: None) -> None:
        spread_work([torch.empty(1).expand(numbers)])
        seen.append(torch.get_num_threads())
        inner()
        seen.append(torch.get_num_threads())

    def beside() -> None:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(call, 1).result()
            seen.append(pool.submit(torch.get_num_threads).result())

    call(LARGE - 1, partial(call, 1))
    call(LARGE, partial(call, 1))
    call(1, beside)
    call(1, lambda: seen.append(ThreadPoolExecutor(1).submit(torch.get_num_threads).result()))
    with pytest.raises(ZeroDivisionError):
        call(1, lambda: 1 // 0)
    assert seen == [1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 2, 1, 1, 2, 1, 1]
    assert torch.get_num_threads() == 2
    monkeypatch.setattr(
        "rnnbounds.impl.certificate.certify.require_sound",
        lambda device: seen.append(torch.get_num_threads()),
    )
    assert certify(network("rnn"), inputs=1.0).verdict == "certified"
    assert seen[-1] == 1
