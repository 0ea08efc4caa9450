"""A certificate in lines of text, and on its page; the recurrent layers that a model has."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import torch
from msgspec import structs

from rnnbounds.commands.models.call import ModelCall
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.errors import at_least, exactly, factor, shown
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.norms.state_norms import NORM_MEANINGS
from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.impl.reading.adapters import Layer, layers
from rnnbounds.impl.reading.data.recordings import Data
from rnnbounds.impl.reading.recognition.misfit import LISTED
from rnnbounds.reports.files import write_all
from rnnbounds.reports.pages.model import answer
from rnnbounds.reports.pages.model.facts import find_constant
from rnnbounds.reports.text import plural
from rnnbounds.shell.output import Format, echo, print_json, print_table, show_status

if TYPE_CHECKING:
    from rnnbounds.impl.memory.adversary.attack import Attacked
    from rnnbounds.impl.memory.measure import Measurement


def _remarks(model: Path, infos: Sequence[Layer]) -> dict[str, list[str]]:
    """Remarks about layers of which only a part is read, each with the names of its layers."""
    found: dict[str, list[str]] = {}
    for info in infos:
        if info.source is not None:
            remark = info.source.removeprefix(str(model)).removeprefix(f", {info.name}")
            found.setdefault(remark.removeprefix(" (").removesuffix(")"), []).append(info.name)
    return found


def show_layers(model: Path, cell: str | None, format: Format) -> int:
    """Print the layers of a model; 1 if none of them is read."""
    infos = layers(model, cell)
    if format is Format.json:
        print_json({"model": str(model), "layers": [msgspec.to_builtins(info) for info in infos]})
    elif infos:
        ways = ["direction"] if any(info.direction for info in infos) else []
        print_table(
            ("layer", *ways, "cell", "n", "d", "states", "dtype"),
            [
                (info.name, *(info.direction or "-" for _ in ways), info.cell or "-",
                 info.n or "-", info.d or "-", info.states or "-", info.dtype or "-")
                for info in infos
            ],
        )  # fmt: skip
        for remark, names in _remarks(model, infos).items():
            others = f" and {len(names) - 1} more" if names[1:] else ""
            echo(f"{names[0]}{others}: {remark}")
        for info in infos:
            if info.reason is not None:
                echo(f"{info.name}: not read: {info.reason}")
    else:
        echo(
            "no recurrent layer is recognised by the names of its tensors; rename them as torch "
            "does (weight_ih_l0, weight_hh_l0, …)"
        )
    return int(all(info.cell is None for info in infos))


def read_tensors_text(document: Mapping[str, Any]) -> str:
    """The full names of the tensors that were read."""
    return f"read from {', '.join(map(shown, sorted(document['tensors'].values())))}"


def print_unread_tensors(document: Mapping[str, Any]) -> None:
    """The tensors that were not read, if any: on purpose, or since they are elsewhere."""
    if document["ignored"]:
        echo(f"ignored: {', '.join(map(shown, document['ignored']))}")
    if document["unread"]:
        names = [shown(name) for name in document["unread"]]
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        echo(f"not read, under other prefixes: {', '.join(names[:LISTED])}{more}")


CERTIFYING_TITLE = "certifying {} states: norms, then witnesses against them"


def beside(certificate: Certificate, data: Data) -> Certificate:
    """The certificate; of a refuted model with the distance of its witness from recorded inputs."""
    witness = certificate.witness
    if witness is None or len(witness.input) != data.d:
        return certificate
    known = structs.replace(witness, distance=data.distance(witness.input))
    return certificate.replaced(witness=known)


def write_page(
    document: Mapping[str, Any], folder: Path, model: Path, format: Format, check: str = "",
    next: Sequence[str] = (),
) -> None:  # fmt: skip
    """Write a certificate and its page; the folders of the model are left out of both."""
    from rnnbounds.reports.pages.model.page import answer_files, certificate_page

    page = certificate_page(document, model.name, check, next_lines=next)
    write_all(folder, answer_files(page, certificate=document))
    if format is Format.text:
        echo(f"wrote {folder / 'index.html'} and {folder / 'certificate.json'}")


def explain_unwritten(
    certificate: Certificate, called: ModelCall, out: Path, reason: str, format: Format,
    shares: Sequence[str] = (),
) -> int:  # fmt: skip
    """Print why nothing was written of a model that is not certified; 1."""
    asked_certificate = certificate.measured_by(called.measure_command)
    if format is Format.json:
        print_json(asked_certificate.to_dict())
    else:
        next = called.next_steps(asked_certificate, False)
        print_answer(asked_certificate, shares=shares, next=next, taken=called.asked.line)
        echo(f"{out} was not written: {reason}")
    return 1


def print_answer(
    certificate: Certificate, *, attack_result: Attacked | None = None,
    measurement: Measurement | None = None, next: Sequence[str] = (), verbose: bool = False,
    shares: Sequence[str] = (), taken: str | None = None,
) -> None:  # fmt: skip
    """Print a certificate, then what was found against it, then what was seen on data, then what to
    do next; of an undecided model what is known in a few lines, unless all is asked for."""
    document = certificate.to_dict() | attack_entry(attack_result)
    steps = answer.next_steps(document, next, measurement is not None)
    if certificate.verdict == "undecided" and not verbose:
        seen = None if measurement is None else measurement.to_dict()
        _print_undecided(certificate, document, seen, (*shares, taken or ""), steps)
        return
    print_certificate(certificate, attack_result, verbose, shares, taken)
    if measurement is not None:
        from rnnbounds.commands.models.measured import print_measurement

        print_measurement(measurement)
    if steps:
        echo("what to do next:")
    for line in steps:
        echo(f"  {line}")


def _print_undecided(
    certificate: Certificate, document: Mapping[str, Any], seen: Mapping[str, Any] | None,
    notes: Sequence[str], steps: Sequence[str],
) -> None:  # fmt: skip
    """Print what is known of an undecided model: verdict, inputs, the ladder of k, ε beside the
    size of the outputs that were seen, and the one step that helps most."""
    echo(f"undecided: {answer.answer_sentence(document, shown(Path(certificate.model).name))}")
    *shares, taken = notes
    scope = f"inputs: {certificate.speaks_of}; every run starts from the zero state"
    lines = [*shares, taken or scope]
    if seen is not None or "attacked" in document:
        lines += answer.ladder_lines(document, seen)
    if seen is not None:
        lines.append(answer.size_line(seen))
    for line in filter(None, lines):
        echo(line)
    for line in steps[:1]:
        echo(f"what to do next: {line}")


def print_together(forward: Certificate, backward: Certificate) -> None:
    """Print what both cells of a layer say of its output, if both are certified:
    ‖(h→_t, h←_t) − (h→_t, h←_t)′‖₂ ≤ √(ε→² + ε←²)."""
    (ahead, past), (back, future) = forward.windows[0], backward.windows[0]
    certified = forward.verdict == backward.verdict == "certified"
    if certified and past is not None and future is not None:
        within = norm_up(torch.tensor([ahead, back], dtype=torch.float64))
        echo(
            f"both: output t, of one cell beside the other, is fixed to within "
            f"{at_least(float(within), 4)} by the last {plural(past, 'input')} up to t and the "
            f"first {plural(future, 'input')} from t on"
        )


def print_certificate(
    certificate: Certificate, attack_result: Attacked | None = None, verbose: bool = False,
    shares: Sequence[str] = (), taken: str | None = None,
) -> None:  # fmt: skip
    """The certificate in lines of text: the answer first, then what it rests on, then the model.
    `shares`: what each ε is a share of, for where no table has it; `taken`: which inputs are meant
    where none were stated."""
    document = certificate.to_dict() | attack_entry(attack_result)
    name = shown(Path(certificate.model).name)
    echo(f"{certificate.verdict}: {answer.answer_sentence(document, name)}")
    if certificate.witness is not None and certificate.verdict == "refuted":
        echo(f"which means: {answer.witness_meaning(document)}")
        echo(f"so {certificate.witness.claim_text}")
    starts = "every run starts from the zero state"
    if certificate.verdict == "refuted":
        starts = "that runs from the zero state reach those states is not said"
    echo(f"inputs: {certificate.speaks_of}; {starts}")
    if taken is not None:
        echo(taken)
    if certificate.verdict != "certified" or answer.output_bound(document) is None:
        for line in shares:
            echo(line)
    if certificate.verdict == "certified":
        _print_windows(certificate, document)
        _print_bounds(certificate)
    print_attacked(certificate, attack_result)
    _print_norms(certificate, document, verbose)
    if verbose:
        _print_constants(certificate)
    sizes = f"{plural(certificate.n, 'state')}, {certificate.dtype}"
    echo(
        f"model: {shown(certificate.model)}: {certificate.cell}, {sizes}, "
        f"{read_tensors_text(document)}"
    )
    print_unread_tensors(document)


def _print_windows(certificate: Certificate, document: Mapping[str, Any]) -> None:
    """k at each ε, and how large ε is in the units of the output."""
    bound = answer.output_bound(document)
    shares = [] if bound is None else [f"of the bound on ‖{answer.vector_symbol(document)}‖₂"]
    rows = [
        (exactly(eps), *([] if bound is None else [answer.epsilon_share(eps, bound)]), k)
        for eps, k in certificate.windows
    ]
    print_table(("ε", *shares, "k"), rows)
    echo(answer.epsilon_meaning(document))
    if certificate.readout is not None:
        readout = certificate.readout
        echo(
            f"‖{shown(readout.tensor)}‖₂ ≤ {at_least(readout.norm)}; ε is about this "
            f"{answer.short_name(document)}, of which no file says that the model computes it"
        )


def _print_bounds(certificate: Certificate) -> None:
    """λ, the gain and the rounding, each with its meaning."""
    vectors = answer.value_name({"readout": certificate.readout is not None}, "s")
    gain = at_least(certificate.constants["gain"], 3)
    echo(
        f"λ = {factor(certificate.lam)} < 1 in the {certificate.norm} norm: two states come "
        f"together by this factor a step, or faster"
    )
    echo(f"gain: from one state, inputs at most δ apart drive {vectors} at most {gain} δ apart")
    if math.isinf(certificate.rounding.state):
        echo(
            f"rounding: {certificate.dtype} is not bounded ({certificate.rounding.reason}): ε "
            f"speaks of real arithmetic alone"
        )
    else:
        echo(
            f"rounding: {certificate.dtype} moves a state by at most "
            f"{at_least(certificate.rounding.state, 3)} (valid for CPU arithmetic; cuDNN's tanh "
            f"is less accurate)"
        )
    echo(f"states: {certificate.states}")


def _print_norms(certificate: Certificate, document: Mapping[str, Any], verbose: bool) -> None:
    """λ and k in every norm that was tried, and why λ is infinite; of an unstable decay too."""
    smallest = exactly(min(epsilon for epsilon, _ in certificate.windows))
    heads = ("norm tried", "λ", f"k at ε = {smallest}", *(["the norm"] if verbose else []))
    print_table(heads, [
        (name, factor(lam), "-" if k is None else k, *([NORM_MEANINGS[name]] if verbose else []))
        for name, lam, k in certificate.tried
    ])  # fmt: skip
    if any(not lam < 1 for _, lam, _ in certificate.tried):
        echo(answer.NOTHING_PROVED)
    for line in answer.infinite_lines(document):
        echo(line)
    for one in certificate.skipped:
        echo(f"{one.what}: not tried: {one.reason}")
    if any(certificate.rounds_to_one.values()):
        rounding_counts = certificate.rounds_to_one.items()
        counts = ", ".join(f"{count} in {dtype}" for dtype, count in rounding_counts if count)
        echo(f"decays that may round to 1, so that a unit never forgets: {counts}")


def _print_constants(certificate: Certificate) -> None:
    """All constants, with their definitions."""
    print_table(("constant", "value", "definition"), [
        (name, exactly(value), find_constant(name, certificate.cell).meaning)
        for name, value in certificate.constants.items()
    ])  # fmt: skip
    if math.isinf(max(certificate.constants.values())):
        echo(
            "constants that are Infinity have no proved bound: they need λ < 1, or a box of states"
        )


def attack_certified(model: LoadedModel[Any], certificate: Certificate) -> Attacked:
    """The attack on the model of a certificate at its ε. Raises ContradictionError."""
    from rnnbounds.impl.memory.adversary.attack import attack, bracket

    epsilons = [epsilon for epsilon, _ in certificate.windows]
    with show_status("seeking inputs that are remembered for long"):
        result = attack(model, inputs=certificate.asked_inputs, eps=epsilons)
    bracket(certificate, result)
    return result


def attack_entry(result: Attacked | None) -> dict[str, Any]:
    """Entry of the attack in a certificate's JSON document; {} without an attack."""
    return {} if result is None else {"attacked": result.to_dict(inputs=False)}


def print_attacked(certificate: Certificate, result: Attacked | None) -> None:
    """The bracket of a certified model, the lower end alone of any other."""
    if result is None:
        return
    from rnnbounds.impl.memory.adversary.attack import bracket

    output = "output h"
    if result.readout is not None:
        output = shown(answer.map_name(result.readout))
    echo(
        f"attacked: where inputs are proved whose last k do not fix the {output} to within ε, "
        f"memory is at least k + 1"
    )
    for epsilon, lower, k in bracket(certificate, result):
        if k is not None:
            between = f"exactly {k}" if k == lower else f"between {lower} and {k}"
            echo(f"memory at ε = {exactly(epsilon)}: {between}")
        elif lower:
            echo(f"memory at ε = {exactly(epsilon)}: no k below {lower} will do")
        else:
            echo(f"memory at ε = {exactly(epsilon)}: no inputs were found, which says nothing")
    for subject, reason in result.skipped:
        echo(f"attack: {subject}: {reason}")
