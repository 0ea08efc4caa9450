"""The formats of models that are read, and the actions that each allows, with their tests.

A format is one record; `rnnbounds certify --formats` prints the table, and the documentation has it
with its tests. Each cell of the table is one test, by the action and the format's key, most of them
in `tests/impl/reading/test_formats.py`.
"""

from collections.abc import Iterator
from typing import NamedTuple

ACTIONS = ("certified", "measured", "truncated", "exported", "checked")
TESTS = "tests/impl/reading/test_formats.py"
NONE = "–"


class ModelFormat(NamedTuple):
    """One format: its key in the ids of tests, its title, the endings of its files, the extra that
    it needs, the test of its outputs against those of its own library, what is done with it, and
    the file of its tests.

    >>> ModelFormat("onnx", "ONNX model", ".onnx", "tests/…::test_…", extra="onnx")
    """

    key: str
    title: str
    files: str
    outputs: str
    extra: str = ""
    actions: tuple[str, ...] = ACTIONS
    home: str = TESTS

    def test_of(self, action: str) -> str | None:
        """The id of the test of an action, None for one that is not done."""
        return f"{self.home}::test_{action}[{self.key}]" if action in self.actions else None


FORMATS = (
    ModelFormat(
        "module", "torch.nn module", NONE,
        "tests/impl/cells/stacks/test_stack.py::test_equals_torch",
    ),
    ModelFormat(
        "factory", "package.module:factory", NONE,
        "tests/impl/reading/test_sources.py::test_a_factory",
    ),
    ModelFormat(
        "state-dict", "state dict of torch.save", ".pt .pth .bin .ckpt",
        "tests/impl/reading/test_torch_modules.py::test_tensors_have_their_names_in_the_module",
    ),
    ModelFormat(
        "safetensors", "safetensors", ".safetensors",
        "tests/impl/reading/test_torch_modules.py::test_tensors_have_their_names_in_the_module",
    ),
    ModelFormat(
        "truncated", "file of rnnbounds truncate", ".safetensors",
        "tests/impl/convert/test_truncate.py::test_file_is_a_model",
    ),
    ModelFormat(
        "onnx", "ONNX model", ".onnx",
        "tests/impl/reading/onnx/test_file.py::test_what_torch_exports",
        extra="onnx",
    ),
    ModelFormat("keras", "Keras model", ".keras .h5", "tests/wild/test_keras.py::test_models"),
    ModelFormat(
        "keras-weights", "weights of Keras", ".weights.h5",
        "tests/wild/test_keras.py::test_weights_alone",
    ),
    ModelFormat("flax", "parameters of flax", ".msgpack", "tests/wild/test_jax.py::test_files"),
    ModelFormat("npz", "named arrays of NumPy", ".npz", "tests/wild/test_jax.py::test_files"),
    ModelFormat(
        "sb3", "recurrent policy of stable-baselines3", ".zip",
        "tests/wild/test_torchusers.py::test_stable_baselines",
    ),
    ModelFormat(
        "sequence", "recurrences as transformers saves them", ".safetensors .pt",
        "tests/wild/test_sequence.py::test_the_recurrence_is_the_librarys",
    ),
    ModelFormat(
        "li-gru", "state dict of speechbrain's LiGRU", ".ckpt .pt .safetensors",
        "tests/wild/test_gated.py::test_outputs",
    ),
    ModelFormat(
        "both", "any of these in both directions (RNN, LSTM, GRU)", NONE,
        "tests/impl/bidirectional/test_files.py::test_windows_are_torchs",
        home="tests/impl/bidirectional/test_formats.py",
    ),
    ModelFormat(
        "callable", "any causal module or function, as it is run", NONE,
        "tests/wild/test_causal_lms.py::test_a_sliding_window_is_found",
        actions=("measured",), home="tests/impl/memory/blackbox/test_formats.py",
    ),
)  # fmt: skip


def format_table(actions: tuple[str, ...] = ACTIONS) -> Iterator[tuple[str, ...]]:
    """A row for each format: title, files, extra, and for each action "yes" or "–"."""
    for one in FORMATS:
        done = ("yes" if action in one.actions else NONE for action in actions)
        yield (one.title, one.files, one.extra or NONE, *done)


def documented_table() -> Iterator[str]:
    """The table of formats in Markdown, line by line, each cell with the name of its test."""
    heads = ("format", "files", "extra", *ACTIONS, "outputs as its library's")
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for one in FORMATS:
        tests = [one.test_of(action) for action in ACTIONS]
        cells = [NONE if test is None else f"`{test.rpartition('::')[2]}`" for test in tests]
        named = f"`{one.outputs.removeprefix('tests/')}`"
        yield f"| {' | '.join((one.title, one.files, one.extra or NONE, *cells, named))} |"
