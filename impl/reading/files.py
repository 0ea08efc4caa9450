"""Files of weights: read whole and without running what they hold, written whole or not at all."""

import errno
import io
import json
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from rnnbounds import disk
from rnnbounds.impl.errors import FileError, InputError, shown
from rnnbounds.impl.format.tensors import header
from rnnbounds.impl.reading.foreign import folder, pointer, text, unread, unsupported_archive

LARGEST = 2**31  # bytes of a file of weights that anybody waits for
_MODELS = (".safetensors", ".pt", ".pth", ".ckpt", ".onnx", ".bin")
_SMALLER = "save the state dict of the recurrent layer alone, as safetensors"
_DEEPEST = 16  # dictionaries in one another: a pickle may hold itself
_MOST = 2**16  # tensors: a pickle may hold one dictionary many times


def read_file(
    path: Path, largest: int = LARGEST, *, what: str = "weights", smaller: str = _SMALLER
) -> bytes:
    """A whole file of that kind, read at once: another process may replace it meanwhile.

    Raises FileError for what is no readable regular file, is empty, or larger than that, with
    what to do about its size.
    """
    try:
        data = disk.read(path, largest)
    except OSError as cause:
        if told := folder(path):
            raise FileError(path, *told) from None
        remedy = smaller if cause.errno == errno.EFBIG else _instead(path, what)
        raise FileError(path, str(cause.strerror), remedy) from None
    if not data:
        raise FileError(path, "is empty", f"save the {what} again")
    if told := pointer(data):
        raise FileError(path, *told)
    return data


def parse_safetensors(data: bytes, path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors and the metadata of a safetensors file; raises FileError."""
    try:
        tensors = safetensors.torch.load(data)  # checks lengths, offsets and shapes
        told = header(data)
    except Exception as cause:  # a damaged file makes the parser raise anything
        reason = f"is no intact safetensors file ({_line(cause)})"
        raise FileError(path, reason, "save the weights again") from None
    return tensors, told["__metadata__"]


def as_safetensors(tensors: Mapping[str, Tensor], told: Mapping[str, str]) -> bytes:
    """A safetensors file of these tensors and metadata: the same bytes each time.

    The library writes metadata in an order of chance; here it is that of its names.
    """
    data = safetensors.torch.save(dict(tensors), dict(told))
    start = 8 + int.from_bytes(data[:8], "little")
    known = json.loads(data[8:start])
    known["__metadata__"] = dict(sorted(told.items()))
    text = json.dumps(known, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # tensors begin at a multiple of 8, as the library has it
    return len(text).to_bytes(8, "little") + text + data[start:]


def unpickle(data: bytes, path: Path) -> Mapping[str, Tensor]:
    """The state dict in a file of torch.save, alone or among the plain values of a checkpoint.

    No code can run: torch reads it with `weights_only`. Raises FileError for anything else,
    and for archives that unpack to more than they hold.
    """
    if data.startswith(b"PK") and (told := unsupported_archive(data)):
        raise FileError(path, *told)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            state = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except Exception as cause:  # a damaged file makes torch raise anything
        raise FileError(path, *(text(data) or unread(cause, data))) from None
    if not isinstance(state, Mapping):
        raise FileError(path, "holds no state dict", "save model.state_dict()")
    return flat(state)


def flat(state: Mapping[Any, Any], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    """A state dict that stands in a checkout among other things, by one name a tensor:
    {"state_dict": {"rnn.weight_hh_l0": …}} -> {"state_dict.rnn.weight_hh_l0": …}."""
    found: dict[str, Any] = {}
    for key, value in state.items():
        if isinstance(value, Mapping) and depth < _DEEPEST:
            below = flat(value, f"{prefix}{key}.", depth + 1)
        else:
            below = {f"{prefix}{key}": value}
        if twice := found.keys() & below.keys():
            what = f"the file has two keys that read alike ({shown(min(twice))})"
            raise InputError(f"{what}; keep one of them")
        found |= below
        if len(found) > _MOST:
            raise InputError(f"the file holds more than {_MOST} tensors; {_SMALLER}")
    return found


def write_file(path: Path, data: bytes) -> None:
    """Write a whole file: a reader sees the old one or the new one. Raises FileError."""
    write_files({path: data})


def write_files(files: Mapping[Path, bytes]) -> None:
    """Write all of them, each whole; none is renamed before all are on the disk, so that only a
    renaming that fails leaves some of them. Raises FileError."""
    try:
        disk.write(files)
    except OSError as cause:
        raise _unwritable(Path(cause.filename), cause) from None


def check_target(path: Path, *inputs: Path, suffix: str = ".safetensors") -> None:
    """Raise FileError unless a file can be written there that is none of the inputs.

    Asked before the work, not after it. A name that says that the file is of another kind is
    refused; one without a suffix says nothing.
    """
    if path.suffix not in ("", suffix):
        reason = f"is no name of a {suffix} file"
        raise FileError(path, reason, f"let the name end in {suffix}")
    for source in inputs:
        if disk.is_same_file(path, source):
            reason = f"is the file that is read ({shown(source)})"
            raise FileError(path, reason, "write to another file")
    try:
        disk.require_writable(path)
    except OSError as cause:
        raise _unwritable(path, cause) from None


def _instead(path: Path, what: str) -> str:
    """Suggest a remedy for a path that is no file: a model file in it, if it is a folder."""
    with suppress(OSError, ValueError):
        if held := sorted(one for one in path.iterdir() if one.suffix in _MODELS):
            return f"it is a folder: name a file in it, say {shown(held[0])}"
    return f"name a file of {what}"


def _unwritable(path: Path, cause: OSError) -> FileError:
    reason = f"cannot be written ({cause.strerror})"
    return FileError(path, reason, "name a file in a folder that can be written")


def _line(cause: BaseException) -> str:
    return " ".join(str(cause).split())[:120] or type(cause).__name__
