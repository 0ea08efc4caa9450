"""Isolation of certified computations from the caller's torch state.

Three settings of a thread change the results of equal code: a default device separates new tensors
from the others; autocast multiplies float32 in bfloat16; inference mode records no gradient. The
caller may have any of them on. In turn, the caller does not see changes that a module makes to
itself in use.

Threads that wait for small work spin: where others compute too, a certificate of 256 units took 35
times the time of CPU that one thread takes. So a call has one, unless it says that its work is
large; then it has the caller's.
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from threading import Lock, Thread, local

import torch
from torch import Tensor

from rnnbounds.impl.models.torch_machine import require_sound

LARGE = 2**21  # numbers, as an LSTM of 700 units has: with fewer, threads cost more than they do
_lock, _here = Lock(), local()
_CASTING = ("cpu", "cuda")


@contextmanager
def isolated() -> Iterator[None]:
    """None of these settings within: every public function that computes is called so. Gradients
    are known as they were without; in inference mode they were not, and are not."""
    with ExitStack() as settings:
        if torch.is_inference_mode_enabled():
            settings.enter_context(torch.inference_mode(mode=False))
            settings.enter_context(torch.no_grad())
        if torch.get_default_device().type != "cpu":
            settings.enter_context(torch.device("cpu"))
        for device in _CASTING:
            if torch.is_autocast_enabled(device):
                settings.enter_context(torch.autocast(device, enabled=False))
        if not vars(_here).get("threads"):
            settings.enter_context(_one_thread())
        yield


@contextmanager
def _one_thread() -> Iterator[None]:
    """Work on one thread, then have as many as before. torch has a number for each thread, and one
    that new threads take: that is set again by another thread, which leaves this one's at 1."""
    with _lock:
        before = torch.get_num_threads()
        try:
            torch.set_num_threads(1)
        finally:
            other = Thread(target=torch.set_num_threads, args=(before,))
            other.start()
            other.join()
    _here.threads = before
    try:
        yield
    finally:
        _here.threads = 0
        torch.set_num_threads(before)


def spread_work(weights: Iterable[Tensor]) -> None:
    """Take the threads of the caller for the rest of a call about weights, if they are large;
    raises MachineError unless floats keep to IEEE 754 on all of them."""
    is_large = sum(part.numel() for part in weights) >= LARGE
    threads = vars(_here).get("threads", 0)
    if is_large and threads > 1:
        torch.set_num_threads(threads)
        require_sound()


@contextmanager
def untouched(module: torch.nn.Module) -> Iterator[None]:
    """The module as it was, once left: what runs within has copies of its buffers, and what it sets
    on a module is undone. So is what it draws of torch's generators, of the CPU and of the module's
    devices. Gradients flow to the parameters, which are the module's own."""
    kept = [(one, dict(vars(one))) for one in module.modules()]
    copies = {id(buffer): buffer.clone() for buffer in module.buffers()}
    for one, before in kept:
        buffers = before.get("_buffers", {})
        vars(one)["_buffers"] = {name: copies.get(id(b), b) for name, b in buffers.items()}
    try:
        with torch.random.fork_rng({part.device for part in module.parameters() if part.is_cuda}):
            yield
    finally:
        for one, before in kept:
            vars(one).clear()
            vars(one).update(before)


def writing(module: torch.nn.Module) -> AbstractContextManager[object]:
    """Open a context for writing weights in place: inference mode if they were made in it."""
    made_there = any(part.is_inference() for part in module.parameters())
    return torch.inference_mode() if made_there else torch.no_grad()
