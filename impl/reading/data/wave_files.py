"""Sound files: PCM samples through the standard library, as inputs within [−1, 1)."""

import io
import wave
from pathlib import Path

import numpy as np

from rnnbounds.impl.reading.data.contents import AGAIN, in_a_line, whole
from rnnbounds.impl.reading.data.recordings import LARGEST, Array
from rnnbounds.impl.reading.files import ModelFileError

_KINDS = {1: ("u1", "f4"), 2: ("<i2", "f4"), 3: ("<i4", "f4"), 4: ("<i4", "f8")}  # stored, exact


def wave_file(path: Path) -> Array:
    """The samples (T, channels) of a .wav file of PCM: v/2^(b − 1) for b = 16, 24 and 32 bits, and
    (v − 128)/128 for 8, all exact. Raises ModelFileError for another format."""
    try:
        with wave.open(io.BytesIO(whole(path))) as sound:
            width, channels, count = sound.getsampwidth(), sound.getnchannels(), sound.getnframes()
            stored, exact = _KINDS[width]
            if count * channels * np.dtype(exact).itemsize > LARGEST:
                raise ModelFileError(path, f"unpacks to more than {LARGEST} bytes", "cut it")
            data = sound.readframes(count)
    except ModelFileError:
        raise
    except Exception as cause:  # a damaged file makes the parser raise anything
        reason = f"is no intact .wav file ({in_a_line(cause)})"
        raise ModelFileError(path, reason, "save it as PCM of 8, 16, 24 or 32 bits") from None
    if not count or len(data) != count * channels * width:
        reason = f"names {count} frames and holds {len(data) // (channels * width)}"
        raise ModelFileError(path, reason, AGAIN)
    if width == 3:  # the three bytes above one of zeros
        wide = np.zeros((count * channels, 4), dtype=np.uint8)
        wide[:, 1:] = np.frombuffer(data, dtype=np.uint8).reshape(-1, 3)
        numbers = wide.view("<i4")[:, 0] >> 8
    else:
        numbers = np.frombuffer(data, dtype=stored)
    samples = numbers.astype(exact) - (128 if width == 1 else 0)
    found: Array = (samples * 2.0 ** (1 - 8 * width)).reshape(count, channels)
    return found
