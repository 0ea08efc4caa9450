"""Names that the version before had: each is refused with what to do instead, in this one alone."""

from __future__ import annotations

_TRAINING = "the claims weight-gap and end-to-end state windows of training"
_MARGIN = "use `rnnbounds.input_data(x, margin)` in Python"

COMMANDS = {
    "sabotage": "`rnnbounds verify` attacks the false variants too",
    "bench": "run `python -m tests.bench` in a checkout",
    "doctor": "run the tests of a checkout on that machine",
}
_OPTIONS = (
    ("certify measure truncate unitary", "--input-bound", "use --inputs B, or --inputs FILE"),
    ("measure", "--batch --device", "use `rnnbounds.measure(model, data, batch=..., device=...)`"),
    ("certify measure", "--margin", _MARGIN),
    ("certify", "--steps --alpha --loss --readout-norm --target-bound --length", _TRAINING),
    ("certify", "--witness", "use --attack, whose answer --format json prints"),
    ("certify", "--device", "use `rnnbounds.certify(model, inputs=..., device=...)` in Python"),
    ("measure", "--workers -n", "it runs in one process"),
    ("truncate unitary compare", "--page", "use --out DIR"),
    ("truncate", "--direction", "cut each of the two cells alone, as a layer of one direction"),
    ("experiment", "--resume", "every run is made from the start"),
    ("experiment", "--full", "give larger sizes by --set"),
    ("experiment", "--data", "the texts and digits are those that are installed"),
    ("experiment", "--table", "the page and --format json have the tables"),
    ("unitary", "--rescale", "the network has at most 2n states without it"),
    ("claims", "--matrix", "the page of `rnnbounds verify` says what was attacked"),
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
    "Task": _TRAINING,
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
