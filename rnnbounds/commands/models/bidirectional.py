"""Models in both directions on the command line: certified, truncated and measured."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rnnbounds.commands.models.calls import ModelCall
from rnnbounds.commands.models.measured import print_statement
from rnnbounds.commands.models.shown import CERTIFYING_TITLE, print_next
from rnnbounds.impl.bidirectional.attack import AttackedBoth, attack_both, bracket_both
from rnnbounds.impl.bidirectional.calls import OneDirectionError
from rnnbounds.impl.bidirectional.certify import certify_both
from rnnbounds.impl.bidirectional.files import (
    BothNotCertifiedError,
    exported_both,
    packed_both,
    truncate_both,
)
from rnnbounds.impl.bidirectional.measure import MeasuredBoth, measure_both
from rnnbounds.impl.bidirectional.record import BidirectionalCertificate
from rnnbounds.impl.bidirectional.windows import Around
from rnnbounds.impl.errors import at_least, exactly, factor, shown
from rnnbounds.impl.models.bidirectional import LoadedBidirectional
from rnnbounds.impl.models.torch_machine import require_sound
from rnnbounds.impl.reading.data.sequences import Data
from rnnbounds.impl.reading.files import write_file, write_files
from rnnbounds.reports.files import make_folder
from rnnbounds.reports.pages.text import plain_number
from rnnbounds.reports.words import plural
from rnnbounds.shell.output import Format, echo, print_json, print_table, show_status

_DOCUMENT = "certificate.json"


def require_whole(latest: bool, page: Path | None) -> None:
    """Raise OneDirectionError for options of truncate that are of one direction."""
    if latest:
        raise OneDirectionError("--latest", "leave it out")
    if page is not None:
        raise OneDirectionError("--page", "leave it out")


def require_plain(
    near: float | None, states: float | str, pasts: int, largest: bool, out: Path | None
) -> None:
    """Raise OneDirectionError for options of measure that are of one direction."""
    if near is not None or states or pasts or largest:
        raise OneDirectionError("--near", "leave it out")
    if out is not None:
        raise OneDirectionError("--out", "leave it out, or say --format json")


def certify_bidirectional(
    model: LoadedBidirectional,
    called: ModelCall,
    inputs: float,
    eps: Sequence[float],
    norm: str,
    out: Path | None,
    *,
    attacks: bool,
    format: Format,
    device: str,
    data: Path | None,
) -> int:
    """Certify a model in both directions and print it; 1 unless it is certified."""
    require_sound()
    with show_status(CERTIFYING_TITLE.format(model.n)):
        certificate = certify_both(model, inputs, eps, norm, device=device)
    attacked = None
    if attacks:
        with show_status("seeking inputs that are remembered for long"):
            attacked = attack_both(model, inputs, eps)
        bracket_both(certificate, attacked)
    seen = None
    if data is not None:
        seen = measure_both(model, data, eps=eps, input_bound=inputs)
    document = certificate.to_json()
    if out is not None:
        make_folder(out)
        write_file(out / _DOCUMENT, json.dumps(document, allow_nan=False).encode())
    if format is Format.json:
        more = {} if attacked is None else {"attacked": attacked.to_json(inputs=False)}
        print_json(document | more | ({} if seen is None else {"on_your_data": seen.to_json()}))
    else:
        _print_certificate(certificate, attacked)
        if seen is not None:
            _print_memory(seen)
        if out is not None:
            echo(f"wrote {out / _DOCUMENT}")
        steps = _next(certificate, called, attacks or len(model.layers) > 1)
        print_next(steps if certificate.verdict == "certified" or seen is None else [])
    return int(certificate.verdict != "certified")


def truncate_bidirectional(
    model: LoadedBidirectional,
    called: ModelCall,
    eps: float,
    inputs: float,
    out: Path,
    exports: Sequence[Path],
    *,
    format: Format,
) -> int:
    """Write the windows' form of a model in both directions; 1 if no window is certified."""
    require_sound()
    try:
        with show_status(CERTIFYING_TITLE.format(model.n)):
            module, certificate = truncate_both(model, eps, inputs)
    except BothNotCertifiedError as error:
        if format is Format.json:
            print_json(error.certificate.to_json())
        else:
            _print_certificate(error.certificate)
            print_next(_next(error.certificate, called, True))
            echo(f"{out} was not written: no window is certified")
        return 1
    with show_status(f"exporting {plural(sum(module.window) + 1, 'step')}"):
        written = {path: exported_both(module, certificate, path) for path in exports}
    write_files({out: packed_both(module, certificate, out)} | written)
    if format is Format.json:
        print_json(certificate)
    else:
        precision = f"within {exactly(eps)} of the recurrent model"
        echo(f"wrote {out}: output t from {_window_text(module.window)}, {precision}")
        for target in written:
            echo(f"wrote {target}: the model without a state, for batches and lengths of any size")
        echo(f"{module.name}, output t is known {plural(module.window.future, 'input')} later")
    return 0


def measure_bidirectional(
    model: LoadedBidirectional, data: Data, *, format: Format, **asked: Any
) -> int:
    """Measure a model in both directions; 1 if a share that is asked for is not stated."""
    with show_status(f"measuring {plural(model.n, 'output')}, windows"):
        seen = measure_both(model, data, **asked)
    record = seen.to_json()
    if format is Format.json:
        print_json(record)
    else:
        echo(f"{shown(model.source)}: {model.name}, {plural(model.n, 'output')}, {model.dtype}")
        _print_memory(seen)
    share, statement = asked["share"], seen.statement
    if share is None:
        return 0
    return int(statement is None or not statement.reached)


def _window_text(window: Around) -> str:
    """The inputs of a window in words, in a sentence about output t."""
    return f"input t, the {window.past} before it and the {window.future} after it"


def _print_certificate(
    certificate: BidirectionalCertificate, attacked: AttackedBoth | None = None
) -> None:
    """The answer first, then what it rests on, cell by cell, then the model."""
    name = shown(Path(certificate.model).name)
    eps, window = certificate.windows[0]
    if certificate.verdict == "certified" and window is not None:
        answer = (
            f"{name} forgets in both directions: output t is fixed to within ε = "
            f"{plain_number(eps)} by {_window_text(window)}, however long the run"
        )
    elif certificate.verdict == "refuted":
        answer = f"{name} does not contract: {certificate.reason}"
    else:
        answer = str(certificate.reason)
    echo(f"{certificate.verdict}: {answer}")
    speaks_of = certificate.first.speaks_of
    echo(f"inputs: {speaks_of}; every run starts from zero states, at both ends of a sequence")
    if certificate.verdict == "certified":
        _print_windows(certificate)
    if attacked is not None:
        for epsilon, least, _ in bracket_both(certificate, attacked):
            told = (
                f"no window of fewer than {least.past} inputs before t or {least.future} after it"
            )
            echo(f"attacked: at ε = {exactly(epsilon)} {told} will do")
    print_table(
        ("cell", "verdict", "norm", "λ"),
        [(name, one.verdict, one.norm, factor(one.lam)) for name, one in certificate.parts],
    )
    first = certificate.first
    echo(f"model: {shown(certificate.model)}: {certificate.cell}, {first.dtype}")
    for what, names in (("ignored", certificate.ignored), ("not read", certificate.unread)):
        if names:
            echo(f"{what}: {', '.join(map(shown, names))}")


def _print_windows(certificate: BidirectionalCertificate) -> None:
    """k₁ and k₂ at each ε, the gain and the rounding, each with its meaning."""
    print_table(
        ("ε", "k₁ before t", "k₂ after t"),
        [(exactly(eps), *window) for eps, window in certificate.windows if window is not None],
    )
    vectors = "outputs" if certificate.readout is None else "predictions"
    gain = at_least(certificate.gain, 3)
    echo(f"gain: inputs at most δ apart drive {vectors} at most {gain} δ apart")
    dtype = certificate.first.dtype
    if certificate.rounding is None:
        echo(
            f"rounding: {dtype} is not bounded ({certificate.unrounded}): ε speaks of real "
            f"arithmetic alone"
        )
    else:
        most = at_least(certificate.rounding, 3)
        echo(f"rounding: {dtype} moves an output by at most {most} (valid for CPU arithmetic)")


def _print_memory(seen: MeasuredBoth) -> None:
    """Print the measurement on data, and the statement on others."""
    record = seen.to_json()
    data, curve = record["data"], record["forgetting"]["curve"]
    echo(
        f"on your data: {data['windows']} windows of {data['length']} inputs from "
        f"{shown(data['source'])}, the output at the middle one, in float64"
    )
    shown_rows = curve[:: max(1, len(curve) // 12)]
    print_table(
        ("k either side", "median gap", "worst gap"),
        [(row["k"], at_least(row["q50"], 3), at_least(row["worst"], 3)) for row in shown_rows],
    )
    for row in record["memory"]:
        told = "at no k" if row["k"] is None else f"from k = {row['k']} inputs either side on"
        echo(f"seen within ε = {plain_number(row['eps'])}: {told}")
    print_statement(seen, "counted either side, in real arithmetic")


def _next(certificate: BidirectionalCertificate, called: ModelCall, attacked: bool) -> list[str]:
    """List next steps, each a line `words: command`."""
    if certificate.verdict == "certified":
        return called.further(certificate.windows[0][0], attacked=attacked)
    return [f"see what it remembers of recorded inputs: {called.measure_command}"]
