"""Names that the version before had: each is refused with what to do instead, in this one alone."""

from __future__ import annotations

_NUMPY = "save the recording as .npy, .npz, .csv or .safetensors, of shape (N, T, d)"
_SETS = "give a ball, a box a channel, the rows of a table, or the box of the data"
_TRAINING = "the claims weight-gap and end-to-end state windows of training"
_STATE = (
    "it writes the state h: divide ε by the norm of the readout that `certify --readout` prints "
    "(see docs/tutorial.md)"
)
_ONE_WAY = 'certify each of the two cells, by direction="forward" and direction="backward"'
_MARGIN = "use `rnnbounds.input_data(x, margin)` in Python"
_ROUNDING = "rounding is stated for IEEE 754 arithmetic alone"

COMMANDS = {
    "sabotage": "`rnnbounds verify` attacks the false variants too",
    "bench": "run `python -m tests.bench` in a checkout",
    "doctor": "run the tests of a checkout on that machine",
}
_OPTIONS = (
    ("certify measure truncate unitary", "--input-bound", "use --inputs B, or --inputs FILE"),
    ("truncate", "--data", "use --inputs FILE"),
    ("truncate", "--readout", _STATE),
    ("measure", "--batch --device", "use `rnnbounds.measure(model, data, batch=..., device=...)`"),
    ("certify measure", "--columns --group --time --lengths", _NUMPY),
    ("certify measure", "--change", _SETS),
    ("certify measure", "--margin", _MARGIN),
    ("certify", "--steps --alpha --loss --readout-norm --target-bound --length", _TRAINING),
    ("certify", "--witness", "use --attack, whose answer --format json prints"),
    ("certify", "--formats", "see formats in the documentation"),
    ("certify", "--horizon", "λ and k hold for runs of any length"),
    ("certify truncate", "--arithmetic", _ROUNDING),
    ("certify", "--device", "use `rnnbounds.certify(model, inputs=..., device=...)` in Python"),
    ("measure", "--largest", "choose δ by --near"),
    ("measure", "--pasts", "use --states recorded"),
    ("measure", "--work", "fewer windows of --data take less time"),
    ("measure", "--workers -n", "it runs in one process"),
    ("measure", "--resume", "measure parts of the data one by one"),
    ("truncate unitary compare", "--page", "use --out DIR"),
    ("truncate", "--direction", "cut each of the two cells alone, as a layer of one direction"),
    ("guard", "--out --junit --sarif", "keep --summary, or what --format json prints"),
    ("guard", "--history", "keep each certificate that --update writes"),
    ("experiment", "--resume", "every run is made from the start"),
    ("experiment", "--full", "give larger sizes by --set"),
    ("experiment", "--data", "the texts and digits are those that are installed"),
    ("experiment", "--table", "the page and --format json have the tables"),
    ("unitary", "--rescale", "the network has at most 2n states without it"),
    ("claims", "--matrix", "the page of `rnnbounds verify` says what was attacked"),
    ("claims", "--form", "--latex prints all forms of the claims that are named"),
    ("claims", "--workers -n", "--now proves in this process"),
    ("prove", "--strict", "no step is argued in prose"),
    ("verify", "--seeds", "call it with one --seed after another"),
    ("verify", "--systems", "choose a larger --profile"),
    ("verify report compare", "--sarif", "use --summary, or pytest's --junit-xml"),
    ("verify report compare", "--history", "use --baseline"),
)
OPTIONS: dict[str, dict[str, str]] = {}
"""By command, options that are gone or are another's, and what to do instead."""
for _commands, _names, _remedy in _OPTIONS:
    for _command in _commands.split():
        OPTIONS.setdefault(_command, {}).update(dict.fromkeys(_names.split(), _remedy))
_NAMES = {
    "capture Captured": "keep what a layer reads by a forward hook of torch",
    "monitor Monitored": "call rnnbounds.contraction in the training loop",
    "changing_box input_axes input_frames input_hull input_zonotope zonotope_set": _SETS,
    "BidirectionalCertificate BidirectionalWindows MeasuredBoth AttackedBoth": _ONE_WAY,
    "Task": _TRAINING,
    "read_data": "read the file by NumPy",
    "Arithmetic Kind ProgramCell fixed program_kind register": "it is one of rnnbounds.cells",
    "CLAIMS": "it is one of rnnbounds.theory",
    "export_truncated": "save_truncated writes .pt2 and .onnx too",
    "layers": "`rnnbounds certify MODEL --list` lists them, and an error of certify names them",
    "stable_lstm_": "use stable_(module, 1 - (1 - theta) * (1 - forget), forget=forget, inputs=…)",
}
NAMES = {name: remedy for names, remedy in _NAMES.items() for name in names.split()}
"""Public names that are gone, and what to do instead."""


def option_message(command: str, option: str) -> str | None:
    """The line for an option that a command once had or never has, None for any other."""
    remedy = OPTIONS.get(command, {}).get(option)
    return None if remedy is None else f"{command} has no {option}; {remedy}"


def command_message(command: str) -> str | None:
    """The line for a command that is gone, None for any other."""
    return f"the command {command} is gone; {COMMANDS[command]}" if command in COMMANDS else None


def name_message(name: str) -> str | None:
    """The line for a public name that is gone, None for any other."""
    return f"rnnbounds.{name} is gone; {NAMES[name]}" if name in NAMES else None
