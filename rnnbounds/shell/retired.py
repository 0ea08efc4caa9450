"""Names that the version before had: each is refused with what to do instead, in this one alone."""

from __future__ import annotations

from collections.abc import Mapping

_NUMPY = "save the recording as .npy, .npz, .csv or .safetensors, of shape (N, T, d)"
_SETS = "give a ball, a box a channel, the rows of a table, or the box of the data"
_TRAINING = "the claims weight-gap and end-to-end state windows of training"

COMMANDS: Mapping[str, str] = {
    "sabotage": "`rnnbounds verify` attacks the false variants too",
    "bench": "run `python -m tests.bench` in a checkout",
    "doctor": "run the tests of a checkout on that machine",
}
_ROUNDING = "rounding is stated for IEEE 754 arithmetic alone"
_DATA = dict.fromkeys(("--columns", "--group", "--time", "--lengths"), _NUMPY)
_INPUTS = {"--change": _SETS, "--margin": "use `rnnbounds.input_data(x, margin)` in Python"}
_RUN = {"--sarif": "use --summary, or pytest's --junit-xml", "--history": "use --baseline"}
OPTIONS: Mapping[str, Mapping[str, str]] = {
    "certify": {
        **_DATA,
        **_INPUTS,
        **dict.fromkeys(("--steps", "--alpha", "--loss", "--readout-norm"), _TRAINING),
        **dict.fromkeys(("--target-bound", "--length"), _TRAINING),
        "--witness": "use --attack, whose answer --format json prints",
        "--formats": "see formats in the documentation",
        "--horizon": "λ and k hold for runs of any length",
        "--arithmetic": _ROUNDING,
        "--device": "use `rnnbounds.certify(model, inputs, device=...)` in Python",
    },
    "measure": {
        **_DATA,
        **_INPUTS,
        "--largest": "choose δ by --near",
        "--pasts": "use --states recorded",
        "--work": "fewer windows of --data take less time",
        "--workers": "it runs in one process",
        "-n": "it runs in one process",
        "--resume": "measure parts of the data one by one",
    },
    "truncate": {
        "--direction": "cut each of the two cells alone, as a layer of one direction",
        "--arithmetic": _ROUNDING,
    },
    "guard": {
        **dict.fromkeys(
            ("--out", "--junit", "--sarif"), "keep --summary, or what --format json prints"
        ),
        "--history": "keep each certificate that --update writes",
    },
    "experiment": {
        "--resume": "every run is made from the start",
        "--full": "give larger sizes by --set",
        "--data": "the texts and digits are those that are installed",
        "--table": "the page and --format json have the tables",
    },
    "unitary": {"--rescale": "the network has at most 2n states without it"},
    "prove": {"--recheck": "`rnnbounds prove` checks the ledgers by the kernel and z3 alone"},
    "verify": {
        **_RUN,
        "--seeds": "call it with one --seed after another",
        "--systems": "choose a larger --profile",
    },
    "report": _RUN,
    "compare": _RUN,
}
"""By command, options that are gone, and what to do instead."""
NAMES: Mapping[str, str] = {
    **dict.fromkeys(("capture", "Captured"), "keep what a layer reads by a forward hook of torch"),
    **dict.fromkeys(("monitor", "Monitored"), "call rnnbounds.contraction in the training loop"),
    **dict.fromkeys(
        ("changing_box", "input_axes", "input_frames", "input_hull", "input_zonotope"), _SETS
    ),
    "zonotope_set": _SETS,
    **dict.fromkeys(
        ("BidirectionalCertificate", "BidirectionalWindows", "MeasuredBoth", "AttackedBoth"),
        'certify each of the two cells, by direction="forward" and direction="backward"',
    ),
    "Task": _TRAINING,
    "read_data": "read the file by NumPy",
}
"""Public names that are gone, and what to do instead."""


class RetiredError(Exception):
    """A command that is gone."""


def option_message(command: str, option: str) -> str | None:
    """The line for an option that a command once had, None for any other."""
    remedy = OPTIONS.get(command, {}).get(option)
    return None if remedy is None else f"{command} {option} is gone; {remedy}"


def command_message(command: str) -> str | None:
    """The line for a command that is gone, None for any other."""
    return f"the command {command} is gone; {COMMANDS[command]}" if command in COMMANDS else None


def name_message(name: str) -> str | None:
    """The line for a public name that is gone, None for any other."""
    return f"rnnbounds.{name} is gone; {NAMES[name]}" if name in NAMES else None
