"""Write a dataset of Hugging Face's `datasets` with sequences of different lengths, and its numbers
as `datasets` gives them back, to tests/wild/files/.

    python tests/wild/make_datasets.py
"""

import json
import shutil
import tempfile
from pathlib import Path

import datasets

FILES = Path(__file__).parent / "files"


def made() -> datasets.Dataset:
    """Three recordings: (T_i,) of one channel, (T_i, 2), a vector and a number for each, an id."""
    features = datasets.Features({
        "signal": datasets.Sequence(datasets.Value("float32")),
        "pairs": datasets.Sequence(datasets.Sequence(datasets.Value("float64"), length=2)),
        "grid": datasets.Array2D(shape=(2, 3), dtype="int32"),
        "vector": datasets.Sequence(datasets.Value("float32"), length=2),
        "level": datasets.Value("int64"),
        "speaker": datasets.ClassLabel(names=["ann", "bob"]),
        "text": datasets.Value("string"),
    })  # fmt: skip
    lengths = (2, 4, 1)
    return datasets.Dataset.from_dict(
        {
            "signal": [[i + t / 8 for t in range(n)] for i, n in enumerate(lengths)],
            "pairs": [[[i, t / 4] for t in range(n)] for i, n in enumerate(lengths)],
            "grid": [[[i, 1, 2], [3, 4, 5]] for i in range(3)],
            "vector": [[i / 2, -i] for i in range(3)],
            "level": [7, 8, 9],
            "speaker": ["bob", "ann", "bob"],
            "text": ["a", "b", "c"],
        },
        features,
    )


def write(folder: Path) -> tuple[Path, dict[str, object]]:
    """The stream of a dataset that is saved in a folder, and what `datasets` reads from there."""
    made().save_to_disk(str(folder))
    (stream,) = folder.glob("data-*.arrow")
    read = datasets.load_from_disk(str(folder))
    return stream, {name: list(read[name]) for name in read.column_names}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        stream, columns = write(Path(folder) / "set")
        shutil.copyfile(stream, FILES / "datasets.arrow")
        (FILES / "datasets.json").write_text(json.dumps(columns) + "\n")
