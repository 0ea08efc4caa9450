"""Read the archives that torch.save and torch.jit.save write, without running what they hold.

An archive is a zip: `NAME/data.pkl` is a pickle, `NAME/data/KEY` the storage of that key. Before
torch 1.6 a file was a row of pickles and then the storages. Source: torch.serialization.
"""

import io
import zipfile
from typing import Any, cast

from rnnbounds.impl.errors import shown
from rnnbounds.impl.reading.foreign import Refusal, unsupported_archive
from rnnbounds.impl.reading.pytorch.storages import REBUILD, Storages, saved_class, storage_id
from rnnbounds.impl.reading.pytorch.unpickler import CodeError, run_pickle
from rnnbounds.impl.reading.recognition.inert import Inert

_PICKLE = "data.pkl"
_POLICY = "policy.pth"  # in the .zip of stable-baselines
_AGAIN = "save it with torch.save"
_BIG_ENDIAN: Refusal = ("has its numbers in big-endian order", "save it as safetensors")
_CHECKSUM: Refusal = (
    "does not match its checksums",
    "save it again, with torch.serialization.set_crc32_options(True)",
)
_MAGIC, _VERSION = 0x1950A86A20F9469CFC6C, 1001
_BOMB: Refusal = ("unpacks to more than it holds", _AGAIN)


class ArchiveError(Exception):
    """An archive that is not read: args are the reason and the remedy."""


def read_archive(data: bytes, *, within: bool = False) -> object:
    """The object that was saved, with `Inert` objects for all that is neither plain nor a tensor.

    within: the archive is an entry of another. Raises ArchiveError, unpickler.CodeError, and any
    exception for a damaged archive.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = _checked(archive, len(data))
        if _POLICY in names and not within:
            return read_archive(_entry(archive, _POLICY), within=True)
        if refusal := unsupported_archive(names):
            raise ArchiveError(*refusal)
        roots = [name.removesuffix(_PICKLE) for name in names if name.split("/")[1:] == [_PICKLE]]
        if len(roots) != 1:
            raise ArchiveError("is a zip archive, not one of torch.save", _AGAIN)
        return _object(archive, roots[0])


def _object(archive: zipfile.ZipFile, root: str) -> object:
    order = f"{root}byteorder"
    if order in archive.namelist() and _entry(archive, order) != b"little":
        raise ArchiveError(*_BIG_ENDIAN)
    storages = Storages(lambda key: _entry(archive, f"{root}data/{key}"))
    return run_pickle(_entry(archive, f"{root}{_PICKLE}"), REBUILD, storages.load)


def _checked(archive: zipfile.ZipFile, size: int) -> list[str]:
    """The names of all entries, none of them there twice; compressed ones are not read."""
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    if len(set(names)) < len(names):
        raise ArchiveError("has two entries of one name", _AGAIN)
    if sum(entry.file_size for entry in entries if _stored(entry)) > size:
        raise ArchiveError(*_BOMB)
    return names


def _stored(entry: zipfile.ZipInfo) -> bool:
    return entry.compress_type == zipfile.ZIP_STORED


def _entry(archive: zipfile.ZipFile, name: str) -> bytes:
    """The bytes of an entry that is stored as it is, and matches its checksum."""
    if not _stored(archive.getinfo(name)):
        raise ArchiveError(*_BOMB)
    try:
        return archive.read(name)
    except zipfile.BadZipFile:
        raise ArchiveError(*_CHECKSUM) from None


def read_old(data: bytes) -> object:
    """The object of a file as torch.save wrote it before torch 1.6; raises as `read_archive`.

    The file is a row of pickles, that is a magic number, a version, the machine, the object and the
    keys of storages, and then each storage after its number of entries.
    """
    file = io.BytesIO(data)
    magic = run_pickle(file, {}, _no_storage)
    if isinstance(magic, Inert):
        raise CodeError(magic.name)
    version, machine = (run_pickle(file, {}, _no_storage) for _ in range(2))
    if (magic, version) != (_MAGIC, _VERSION) or not isinstance(machine, dict):
        raise ValueError("no file of torch.save")
    if machine.get("little_endian") is not True:
        raise ArchiveError(*_BIG_ENDIAN)
    start, sizes = file.tell(), dict[str, int]()

    def ask(asked: Any) -> Inert:
        if kept := saved_class(asked):
            return kept
        key, dtype, _ = storage_id(asked)
        if dtype is None:  # where its entries end is not known
            raise ArchiveError(f"has a {shown(asked[1].name)}", "save the state dict of floats")
        sizes[key] = dtype.itemsize
        return Inert("torch.UntypedStorage")

    run_pickle(file, {}, ask)
    held = {}
    for key in cast(list[str], run_pickle(file, {}, _no_storage)):
        entries = int.from_bytes(file.read(8), "little")
        held[key] = file.read(min(entries * sizes[key], len(data)))
    if file.read(1):
        raise ValueError("more than its storages")
    file.seek(start)
    return run_pickle(file, REBUILD, Storages(held.__getitem__).load)


def _no_storage(_: object) -> object:
    raise ValueError("a storage among plain values")
