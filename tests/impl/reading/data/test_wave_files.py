"""Sound: each sample as a fraction of the largest, exactly."""

import wave

import numpy as np
import pytest

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.data.sequences import read_data


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("channels", [1, 2])
def test_samples(tmp_path, width, channels):
    """The least and the largest sample too."""
    top = 2 ** (8 * width - 1)
    samples = [-top, top - 1, 0, -1, 1, top // 3]
    shift = 128 if width == 1 else 0
    data = b"".join((v + shift).to_bytes(width, "little", signed=width > 1) for v in samples)
    with wave.open(str(tmp_path / "x.wav"), "wb") as sound:
        sound.setnchannels(channels)
        sound.setsampwidth(width)
        sound.setframerate(8000)
        sound.writeframes(data)
    read = read_data(tmp_path / "x.wav")
    assert (read.N, read.T, read.d, read.one) == (1, 6 // channels, channels, True)
    assert read.rows.ravel().tolist() == [v / top for v in samples]
    (tmp_path / "y.wav").write_bytes((tmp_path / "x.wav").read_bytes()[:-1])
    with pytest.raises(InputError, match=r"names \d frames and holds \d|no intact"):
        read_data(tmp_path / "y.wav")


def test_samples_that_are_no_integers(tmp_path):
    """Format 3 is of floats."""
    data = np.zeros(4, dtype="f4").tobytes()
    head = b"fmt " + (16).to_bytes(4, "little") + b"\x03\0\x01\0" + bytes(8) + b"\x04\0\x20\0"
    body = head + b"data" + len(data).to_bytes(4, "little") + data
    size = (4 + len(body)).to_bytes(4, "little")
    (tmp_path / "x.wav").write_bytes(b"RIFF" + size + b"WAVE" + body)
    with pytest.raises(InputError, match=r"unknown format: 3\); save it as PCM"):
        read_data(tmp_path / "x.wav")
