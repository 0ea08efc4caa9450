"""Four-part chorales as rolls of 88 keys, a frame a quarter note: the next frame is to be told.

music21 ships 371 chorales by Bach. Published: JSB Chorales (Boulanger-Lewandowski et al., 2012),
whose pickle can run code and is refused; as JSON with a list of MIDI pitches a frame, and as the
.mat file with 0/1 matrices (T, 88) that is used with the TCN of Bai et al. (2018).
"""

from collections.abc import Iterable, Sequence, Sized
from pathlib import Path

import msgspec
import torch
from torch import Tensor

from rnnbounds.experiments.engine.common import MissingPackageError
from rnnbounds.experiments.tasks.files import DataError, read_file
from rnnbounds.experiments.tasks.matlab import MatlabError, read_rolls
from rnnbounds.experiments.tasks.score import NoteScore
from rnnbounds.experiments.tasks.task import PARTS, Part, Task
from rnnbounds.properties.runs.versions import installed_version

KEYS, LOWEST = 88, 21  # MIDI pitches 21 to 108
REMEDY = "the chorales as .json with train, valid and test, or JSB_Chorales.mat"
FILES = ("jsb-chorales-quarter.json", "JSB_Chorales.mat")
MOST_FRAMES = 2**18  # frames: twice what there are in sixteenths, each chorale filled up
COUNT, LENGTH = 120, 48  # chorales where not all are asked for, frames of a sequence
_PARTS = dict(zip(PARTS, ("train", "valid", "test"), strict=True))

Rolls = Sequence[Tensor]


class Chorales(msgspec.Struct, frozen=True):
    """The published JSON: pitches of frames of chorales; other fields are left out."""

    train: list[list[list[int]]]
    valid: list[list[list[int]]]
    test: list[list[list[int]]]


def music(data: Path | None = None, full: bool = False) -> Task:
    """The notes of the next quarter; raises DataError, and MissingPackageError without music21."""
    if data is None:
        source = f"music21 {installed_version('music21')}, corpus.chorales"
        chorales = load_bach(None if full else COUNT)
    else:
        source, chorales = data.name, read_published(data)
    parts = {name: make_part(one) for name, one in chorales.items()}
    return Task("music", source, NoteScore(), None, KEYS, KEYS, parts)


def make_part(chorales: Rolls) -> Part:
    """Chorales cut to sequences of frames; what is beyond an end is asked of nobody."""
    xs, ys = [], []
    for roll in chorales:
        for start in range(0, len(roll) - 1, LENGTH):
            piece = roll[start : start + LENGTH + 1]
            x, y = torch.zeros(LENGTH, KEYS), torch.full((LENGTH, KEYS), torch.nan)
            x[: len(piece) - 1], y[: len(piece) - 1] = piece[:-1], piece[1:]
            xs.append(x)
            ys.append(y)
    return Part(torch.stack(xs), torch.stack(ys))


def load_bach(count: int | None) -> dict[str, Rolls]:
    """Chorales of music21's in its order: of any ten, one validates and one tests."""
    try:
        from music21.corpus import parse
        from music21.corpus.chorales import Iterator
    except ImportError:
        raise MissingPackageError("music21", "the chorales") from None
    parts: dict[str, list[Tensor]] = {name: [] for name in _PARTS}
    for i, name in enumerate(Iterator(returnType="filename")):
        if i == count:
            break
        score = parse(name, forceSource=True).flatten()
        notes = [
            (float(note.offset), float(note.offset + note.quarterLength), pitch.midi)
            for note in score.notes
            for pitch in note.pitches
        ]
        part = PARTS[max(0, i % 10 - 7)]
        parts[part].append(sample_notes(notes, float(score.highestTime)))
    return dict(parts)


def sample_notes(notes: Sequence[tuple[float, float, int]], end: float) -> Tensor:
    """The roll of what sounds at each quarter, from (start, end, pitch)."""
    roll = torch.zeros(int(end), KEYS)
    for start, stop, pitch in notes:
        first, last = -int(-start // 1), -int(-stop // 1)  # the quarters from start, before stop
        if 0 <= pitch - LOWEST < KEYS:
            roll[first:last, pitch - LOWEST] = 1
    return roll


def read_published(path: Path) -> dict[str, Rolls]:
    """The parts of a published file; raises DataError."""
    if path.is_dir():
        path = next((path / name for name in FILES if (path / name).exists()), path / FILES[0])
    if path.suffix in (".pickle", ".pkl", ".npz"):
        raise DataError(path, "is a pickle, or holds one, which can run code", REMEDY)
    data = read_file(path, REMEDY)
    try:
        if path.suffix == ".mat":
            names = ("traindata", "validdata", "testdata")
            by_part: dict[str, Rolls] = dict(
                zip(_PARTS, read_rolls(data, names, KEYS), strict=True)
            )
            require_few(x for part in by_part.values() for x in part)
        else:
            document = msgspec.json.decode(data, type=Chorales)
            require_few(x for key in _PARTS.values() for x in getattr(document, key))
            by_part = {
                name: [frames_to_roll(x) for x in getattr(document, key)]
                for name, key in _PARTS.items()
            }
    except (msgspec.DecodeError, MatlabError, RecursionError) as error:
        raise DataError(path, f"holds no chorales ({error})", REMEDY) from None
    for name, chorales in by_part.items():
        if not any(len(chorale) > 1 for chorale in chorales):
            raise DataError(path, f"has no chorale of two frames for {name}", REMEDY)
    return by_part


def require_few(chorales: Iterable[Sized]) -> None:
    """Raise ValidationError for more frames than `MOST`, once `part` has filled up sequences."""
    if (frames := sum(len(chorale) + LENGTH for chorale in chorales)) > MOST_FRAMES:
        raise msgspec.ValidationError(f"they fill {frames} frames, more than {MOST_FRAMES}")


def frames_to_roll(frames: Sequence[Sequence[int]]) -> Tensor:
    """(T, 88) from pitches; raises ValidationError for one that no key has, −1 being a rest."""
    pitches_on = torch.zeros(len(frames), KEYS)
    for t, pitches in enumerate(frames):
        for pitch in pitches:
            if pitch != -1 and not 0 <= pitch - LOWEST < KEYS:
                raise msgspec.ValidationError(f"{pitch} is the pitch of no key")
            if pitch != -1:
                pitches_on[t, pitch - LOWEST] = 1
    return pitches_on
