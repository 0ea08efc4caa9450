"""Questions of `rnnbounds guard`: one model is certified or measured, and compared with its
baseline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

import msgspec

from rnnbounds.commands.models.call import parse_input_set
from rnnbounds.commands.models.outcomes import ModelOutcome, require_named
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.errors import at_most, exactly
from rnnbounds.impl.memory.calls import AnyMeasurement
from rnnbounds.impl.memory.measure import Measurement, measure_cell
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.adapters import Source, load_model
from rnnbounds.impl.reading.data.sequences import read_data
from rnnbounds.reports.errors import InputError
from rnnbounds.reports.files import write_atomic
from rnnbounds.reports.gate import settings
from rnnbounds.reports.gate.certificates import (
    PairError,
    baseline_standing,
    compare_with_baseline,
    load_certificate,
    parse_certificate,
)
from rnnbounds.reports.records.changes import Changes


@dataclass(frozen=True)
class Guard:
    """How models are asked: paths are relative to `home`; `update` writes the certificate of a
    model that is certified as its new baseline."""

    home: Path
    update: bool = False

    def outcomes(
        self, model_settings: settings.ModelSettings, names: Iterable[str]
    ) -> Iterator[ModelOutcome]:
        """The answer for each model; one that cannot be read keeps no other from its own."""
        for name in names:
            question = model_settings.questions.get(name)
            try:
                if question is None:
                    raise model_settings.unreadable[name]
                yield self.outcome(name, question)
            except OSError as error:  # of a name that is too long, say
                place = error.filename or "a file"
                yield _unread(name, question, f"{place}: {error.strerror}; name another")
            except InputError as error:
                yield _unread(name, question, str(error))

    def outcome(self, name: str, question: settings.Question) -> ModelOutcome:
        """The answer for one model. Raises InputError for what cannot be read or written."""
        factory = ":" in question.model and not (self.home / question.model).exists()
        source: Source = question.model if factory else self.home / question.model
        model = load_model(
            source, question.cell, ignore=question.ignore, layer=question.layer,
            readout=question.readout,
        )  # fmt: skip
        if isinstance(question, settings.MeasureQuestion):
            return self._measure(name, question, model)
        return self._certify(name, question, model)

    def _certify(
        self, name: str, question: settings.CertifyQuestion, model: LoadedModel[Any]
    ) -> ModelOutcome:
        inputs = parse_input_set(
            str(question.inputs), self.home / question.model, model.d, self.home
        )
        certificate = certify(model, inputs=inputs, eps=question.eps)
        document, k, changes = certificate.to_dict(), certificate.window(question.eps), None
        line = certificate.line()
        problems = window_problems(k, question.eps, question.at_most)
        if certificate.verdict != "certified":
            witness = None if certificate.witness is None else certificate.witness.text
            reason = certificate.reason or witness or "no norm that was tried certifies it"
            problems = [f"{certificate.verdict}: {reason}"]
        advice = list(certificate.next_steps)
        if question.baseline is not None and self.update:
            with suppress(InputError):  # of what was not there, or answers another question
                accepted, _ = self._compare(question, document)
                advice += [f"accepted: {row.line}" for row in accepted.rows if not problems]
            if problems:
                advice.append(f"{question.baseline} was not written: {problems[0]}")
            else:
                data = msgspec.json.format(msgspec.json.encode(document))
                write_atomic(self.home / question.baseline, data + b"\n")
                advice.append(f"wrote {question.baseline}")
        elif question.baseline is not None and not (self.home / question.baseline).exists():
            if not problems:  # else none is written
                advice.append(f"write it and commit it: rnnbounds guard {quote(name)} --update")
            problems.append(f"there is no baseline yet: {question.baseline} does not exist")
        elif question.baseline is not None:
            changes, standing = self._compare(question, document)
            line = f"{line}; {standing}"
            regressions = [f"since {question.baseline}: {row.line}" for row in changes.failing]
            if regressions and not problems:
                accept = f"if this is intended, write {question.baseline} anew and commit it"
                advice.append(f"{accept}: rnnbounds guard {quote(name)} --update")
            problems += regressions
        advice += window_advice(k, question.at_most)
        return ModelOutcome(
            name=name, line=line, problems=tuple(problems), changes=changes,
            lam=document["lambda"], k=k, verdict=certificate.verdict, advice=tuple(advice),
        )  # fmt: skip

    def _compare(
        self, question: settings.CertifyQuestion, document: dict[str, Any]
    ) -> tuple[Changes, str]:
        """The changes since the baseline, and how far that is proved. Raises InputError, which
        names --update, where it answers another question or certifies nothing."""
        name = str(question.baseline)
        old = load_certificate(self.home / name)
        new = parse_certificate(msgspec.json.encode(document))
        if old.verdict != "certified":
            raise InputError(
                f"{name}: it is {old.verdict}; write it with 'rnnbounds guard --update'"
            )
        try:
            changes = compare_with_baseline(question, old, new)
            return changes, baseline_standing(name, old, new)
        except PairError as error:
            raise InputError(
                f"{name}: {error}, or accept this one with 'rnnbounds guard --update'"
            ) from None

    def _measure(
        self, name: str, question: settings.MeasureQuestion, model: LoadedModel[Any]
    ) -> ModelOutcome:
        recorded = read_data(self.home / question.data)
        measurement = measure_cell(
            model, recorded, window=question.window, eps=question.eps,
            confidence=question.confidence, share=question.share,
        )  # fmt: skip
        problems = measurement_problems(measurement, question.eps, question.share, question.at_most)
        line = None if measurement.statement is None else measurement.statement.lines[0]
        k = None if line is None else line.k
        return ModelOutcome(
            name=name, line=_measurement_line(measurement, question), problems=tuple(problems), k=k,
            verdict="not stated" if line is None or line.share is None else "stated",
            advice=tuple(measurement_advice(measurement, question.at_most)),
        )  # fmt: skip


def _unread(name: str, question: settings.Question | None, problem: str) -> ModelOutcome:
    """The outcome of a model that is not judged."""
    line = f"{'it' if question is None else question.model} is not judged"
    return ModelOutcome(name=name, line=line, unread=True, problems=(problem,))


def require_model(config: Path, name: str) -> None:
    """Raise AssertionError unless the model of that name keeps what the settings ask of it."""
    __tracebackhide__ = True
    model_settings = settings.load_model_settings(config)
    require_named(model_settings, [name])
    if name in model_settings.unreadable:
        raise model_settings.unreadable[name]
    outcome = Guard(config.parent).outcome(name, model_settings.questions[name])
    if not outcome.passes:
        raise AssertionError("\n".join((*outcome.problems, outcome.line, *outcome.advice)))


def measurement_problems(
    measurement: AnyMeasurement, eps: float, share: float, at_most_k: int | None
) -> list[str]:
    """Why a measurement does not state what was asked, at the first ε."""
    if measurement.statement is None:
        return [f"nothing is stated of other windows: {measurement.unstated}"]
    line, problems = measurement.statement.lines[0], []
    if line.share is None or line.share < share:
        share_text = "no share" if line.share is None else f"a share of {at_most(line.share)}"
        problems = [
            f"{share_text} of windows is stated to be within ε = {exactly(eps)}, not {share:g}"
        ]
    return problems + window_problems(line.k, eps, at_most_k)


def window_problems(k: int | None, eps: float, at_most_k: int | None) -> list[str]:
    """Why a window is none, or longer than asked."""
    if k is None:
        return [f"no k is known at ε = {exactly(eps)}"]
    if at_most_k is not None and k > at_most_k:
        return [f"ε = {exactly(eps)} needs the last {k} inputs, more than {at_most_k}"]
    return []


def window_advice(k: int | None, at_most_k: int | None) -> list[str]:
    """Advice on a k that exceeds `at_most_k`; [] if it does not, or if either is None."""
    exceeds = k is not None and at_most_k is not None and k > at_most_k
    return [f"if this is intended, set at-most = {k}"] if exceeds else []


def _measurement_line(measurement: Measurement, question: settings.MeasureQuestion) -> str:
    """Sentence on the share of windows within ε and its confidence, or else on the measurement."""
    line = None if measurement.statement is None else measurement.statement.lines[0]
    if line is None or line.share is None or line.k is None:
        return measurement.line()
    return (
        f"{measurement.model.source}: {measurement.model.name}, stated with confidence "
        f"{exactly(question.confidence)}: a share of at least {at_most(line.share)} of windows "
        f"like these is within ε = {exactly(question.eps)} at k = {line.k}"
    )


def measurement_advice(measurement: AnyMeasurement, at_most_k: int | None) -> Iterator[str]:
    """Yield advice if the share of windows is too small, or if k exceeds `at_most_k`."""
    statement = measurement.statement
    line = None if statement is None else statement.lines[0]
    if statement is not None and not statement.reached:
        few = statement.held < statement.needed
        yield (
            f"record {2 * statement.needed} windows in all, or ask for a smaller share"
            if few
            else "allow a larger ε or ask for a smaller share; more windows state a larger one"
        )
    yield from window_advice(None if line is None else line.k, at_most_k)
