"""Archives of NumPy arrays, `.npz`, as state dicts: each array by its name, "/" as ".".

An entry is a .npy; one of Python objects is refused, and none is unpacked before the sizes of all
were added up. Source: numpy.lib.format (2.4).
"""

import io
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.errors import shown
from rnnbounds.impl.reading.files import LARGEST, ModelFileError

_HEADER = 10_000  # bytes of a header, as NumPy has it
_MOST = 2**16
_KINDS = "fiub"
_AGAIN = "save the arrays again with numpy.savez"


def parse_npz(data: bytes, path: Path) -> dict[str, Tensor]:
    """The arrays of an archive by their names; raises ModelFileError."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > _MOST or sum(one.file_size for one in entries) > LARGEST:
                what = f"unpacks to more than {LARGEST} bytes or {_MOST} arrays"
                raise ModelFileError(path, what, "save fewer arrays")
            found: dict[str, Tensor] = {}
            for one in entries:
                name = one.filename.removesuffix(".npy").replace("/", ".")
                if name in found:
                    raise ModelFileError(path, f"has two arrays {shown(name)}", _AGAIN)
                found[name] = _tensor(archive.read(one), name, path)
            return found
    except ModelFileError:
        raise
    except Exception as cause:  # zipfile and NumPy raise what they like for a damaged file
        reason = f"is no intact .npz archive ({type(cause).__name__})"
        raise ModelFileError(path, reason, _AGAIN) from None


def _tensor(data: bytes, name: str, path: Path) -> Tensor:
    """The array of a .npy, whose header must tell as many bytes as it has."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    header: Any = {(1, 0): np.lib.format.read_array_header_1_0}.get(
        version, np.lib.format.read_array_header_2_0
    )
    shape, fortran, dtype = header(stream, max_header_size=_HEADER)
    if dtype.kind not in _KINDS or dtype.itemsize > 8:
        raise ModelFileError(path, f"holds {shown(name)} of {shown(dtype)}, no numbers", _AGAIN)
    if math.prod(shape) * dtype.itemsize != len(data) - stream.tell():
        what = f"holds {shown(name)} of shape {shape} in {len(data) - stream.tell()} bytes"
        raise ModelFileError(path, what, _AGAIN)
    array = np.frombuffer(data, dtype, offset=stream.tell())
    array = array.reshape(shape, order="F" if fortran else "C")
    return torch.from_numpy(array.astype(dtype.newbyteorder("="), order="C"))
