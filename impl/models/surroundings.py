"""Isolation of certified computations from the caller's torch state.

Three settings of a thread change the results of equal code: a default device separates new tensors
from the others; autocast multiplies float32 in bfloat16; inference mode records no gradient. The
caller may have any of them on. In turn, the caller does not see changes that a module makes to
itself in use.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

import torch

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
        yield


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
