"""Sets of inputs from files: the box of recorded data, and the rows of a stored table."""

from difflib import get_close_matches
from pathlib import Path

from rnnbounds.impl.arithmetic.inputs.sets import InputSet, data_box, input_rows
from rnnbounds.impl.errors import FileError, InputError, shown
from rnnbounds.impl.reading.data.recordings import Data
from rnnbounds.impl.reading.data.sequences import DataSource, read_data
from rnnbounds.impl.reading.sources import tensors_of

ROWS = "the rows of "


def input_data(source: DataSource | Data, margin: float = 0.0) -> InputSet:
    """The box and the ball of recorded inputs, and all within a Euclidean margin of these.

    Raises what `read_data` raises, and RangeError.

    >>> rnnbounds.certify(model, inputs=rnnbounds.input_data("data.npy", margin=0.1))
    """
    data = read_data(source)
    return data_box(data.largest, data.ends, margin, shown(Path(data.source).name))


def input_tensor(path: Path, name: str) -> InputSet:
    """The rows of a tensor of a file, an embedding's weight say: all inputs that there are.

    Raises FileError, and InputError for what is no table.
    """
    tensors = tensors_of(path)
    if name not in tensors:
        tables = [key for key, part in tensors.items() if getattr(part, "ndim", 0) == 2]
        names_text = ", ".join(map(shown, sorted(tables)[:8]))
        remedy = f"name one of {names_text}"
        if close := get_close_matches(name, tables, n=1):
            remedy = f"did you mean {shown(close[0])}? {remedy}"
        raise FileError(path, f"has no tensor {shown(name)}", remedy)
    table = tensors[name]
    if getattr(table, "ndim", 0) != 2 or not table.is_floating_point():
        raise InputError(f"{shown(name)} is no table of numbers; name one whose rows are inputs")
    return input_rows(table, f"{ROWS}{shown(name)}")
