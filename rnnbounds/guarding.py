"""The models of a project, each asked its question: certified or measured, and held against its
baseline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

import msgspec

from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.inputs import input_data
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.errors import InputError as ImplInputError
from rnnbounds.impl.errors import at_most, exactly
from rnnbounds.impl.memory.measure import Measurement, measure
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.adapters import Source, load_model
from rnnbounds.input_text import set_in
from rnnbounds.reports.errors import InputError
from rnnbounds.reports.files import write_atomic
from rnnbounds.reports.gate.certified import load_certificate, parse_certificate
from rnnbounds.reports.gate.models import (
    CertifyQuestion,
    MeasureQuestion,
    ModelQuestion,
    ModelSettings,
    Question,
    load_model_settings,
)
from rnnbounds.reports.gate.questions import PairError
from rnnbounds.reports.pages.certificate import certificate_page, write_certificate
from rnnbounds.reports.pages.experiment import Verdict
from rnnbounds.reports.pages.guard_page import changes_sections as changes_since
from rnnbounds.reports.pages.measurement import measurement_page, write_measurement
from rnnbounds.reports.records.changes import Changes
from rnnbounds.reports.records.guarded import ModelOutcome
from rnnbounds.reports.redact import redact


@dataclass(frozen=True)
class Guard:
    """How models are asked: paths are relative to `home`; pages go below `out`, if any; `update`
    writes the certificate of a model that is certified as its new baseline."""

    home: Path
    out: Path | None = None
    update: bool = False

    def each(self, asked: ModelSettings, names: Iterable[str]) -> Iterator[ModelOutcome]:
        """The answer for each model; one that cannot be read keeps no other from its own."""
        for name in names:
            try:
                if name in asked.unreadable:
                    raise asked.unreadable[name]
                yield self.outcome(name, asked.questions[name])
            except (InputError, ImplInputError) as error:
                which = asked.questions[name].model if name in asked.questions else "it"
                why = (str(error),)
                yield ModelOutcome(
                    name=name, line=f"{which} is not judged", unread=True, problems=why
                )

    def outcome(self, name: str, asked: Question) -> ModelOutcome:
        """The answer for one model. Raises InputError for what cannot be read or written."""
        model = self._read(asked)
        if isinstance(asked, MeasureQuestion):
            return self._measured(name, asked, model)
        return self._certified(name, asked, model)

    def _read(self, asked: ModelQuestion) -> LoadedModel[Any]:
        factory = ":" in asked.model and not (self.home / asked.model).exists()
        source: Source = asked.model if factory else self.home / asked.model
        how = {"ignore": asked.ignore, "layer": asked.layer, "readout": asked.readout}
        return load_model(source, asked.cell, **how)  # type: ignore[arg-type]

    def _certified(
        self, name: str, asked: CertifyQuestion, model: LoadedModel[Any]
    ) -> ModelOutcome:
        found = certify(model, self._inputs(asked, model.d), asked.eps)
        document, k = found.to_json(), found.window(asked.eps)
        problems, changes = problems_of(found, asked), None
        advice = list(found.next_steps)
        if asked.baseline is not None and self.update:
            with suppress(InputError):  # of what was not there, or answers another question
                accepted = self._since(asked, document).failing if not problems else ()
                advice += [f"accepted: {row.line}" for row in accepted]
            advice.append(self._updated(asked.baseline, found, problems))
        elif asked.baseline is not None:
            changes = self._since(asked, document)
            since = [f"since {asked.baseline}: {row.line}" for row in changes.failing]
            if since and found.verdict == "certified":
                accept = f"if this is intended, write {asked.baseline} anew and commit it"
                advice.append(f"{accept}: rnnbounds guard {quote(name)} --update")
            problems += since
        advice += longer(k, asked.at_most)
        outcome = ModelOutcome(
            name=name, line=found.line(), problems=tuple(problems), changes=changes,
            lam=document["lambda"], k=k, verdict=found.verdict, advice=tuple(advice),
        )  # fmt: skip
        if self.out is not None:
            more = advice[len(found.next_steps) :]
            page = certificate_page(
                document, Path(asked.model).name, extra_sections=changes_since(outcome),
                next_lines=more,
            )  # fmt: skip
            if problems:
                fails = Verdict("fails", "bad")
                why = tuple(map(redact, problems))
                page = replace(page, verdict=fails, problems=why, failed=True)
            write_certificate(document, self.out / name, page)
        return outcome

    def _updated(self, baseline: str, found: Certificate, problems: Sequence[str]) -> str:
        """Writes the certificate as the new baseline, if it is what was asked; whether it did."""
        if problems:
            return f"{baseline} was not written: {problems[0]}"
        data = msgspec.json.format(msgspec.json.encode(found.to_json()))
        write_atomic(self.home / baseline, data + b"\n")
        return f"wrote {baseline}"

    def _since(self, asked: CertifyQuestion, document: dict[str, Any]) -> Changes:
        """The changes since the baseline. Raises InputError, which names --update, where it is
        missing or answers another question."""
        place, new = (
            self.home / str(asked.baseline),
            parse_certificate(msgspec.json.encode(document)),
        )
        if not place.exists():
            raise InputError(
                f"{asked.baseline} does not exist; write it with 'rnnbounds guard --update' and "
                f"commit it"
            )
        try:
            return asked.compare_with_baseline(load_certificate(place), new)
        except PairError as error:
            raise InputError(
                f"{asked.baseline}: {error}, or accept this one with 'rnnbounds guard --update'"
            ) from None

    def _inputs(self, asked: CertifyQuestion, d: int) -> Any:
        if asked.data is not None:
            return input_data(self.home / asked.data, asked.margin)
        if asked.inputs is not None:
            return set_in(asked.inputs, self.home / asked.model, d)
        return asked.input_bound

    def _measured(self, name: str, asked: MeasureQuestion, model: LoadedModel[Any]) -> ModelOutcome:
        found = measure(
            model, self.home / asked.data, window=asked.window, eps=asked.eps,
            confidence=asked.confidence, share=asked.share,
        )  # fmt: skip
        problems = unstated(found, asked.eps, asked.share, asked.at_most)
        if self.out is not None:
            document = found.to_json()
            inputs = certify(model, input_data(self.home / asked.data), asked.eps)
            beside = inputs.to_json()
            page = measurement_page(document, beside, Path(asked.model).name, problems)
            write_measurement(document, beside, self.out / name, page)
        line = None if found.statement is None else found.statement.lines[0]
        k = None if line is None else line.k
        return ModelOutcome(
            name=name, line=_stated(found, asked), problems=tuple(problems), k=k,
            verdict="not stated" if line is None or line.share is None else "stated",
            advice=tuple(remedies(found, asked.at_most)),
        )  # fmt: skip


def require_kept(config: Path, name: str) -> None:
    """Raise AssertionError unless the model of that name keeps what the settings ask of it."""
    __tracebackhide__ = True
    asked = load_model_settings(config)
    if name not in asked.names:
        raise UnknownModelError(name, asked.names)
    if name in asked.unreadable:
        raise asked.unreadable[name]
    found = Guard(config.parent).outcome(name, asked.questions[name])
    if not found.passes:
        raise AssertionError("\n".join((*found.problems, found.line, *found.advice)))


class UnknownModelError(InputError):
    """A name that the settings do not have."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(f"the settings have no model {name!r}; name one of {', '.join(known)}")


def problems_of(found: Certificate, asked: ModelQuestion) -> list[str]:
    """Why a certificate does not say what was asked."""
    if found.verdict != "certified":
        witness = None if found.witness is None else found.witness.text
        why = found.reason or witness or "no norm that was tried certifies it"
        return [f"{found.verdict}: {why}"]
    return beyond(found.window(asked.eps), asked.eps, asked.at_most)


def unstated(found: Measurement, eps: float, share: float, at_most_k: int | None) -> list[str]:
    """Why a measurement does not state what was asked, at the first ε."""
    if found.statement is None:
        return [f"nothing is stated of other windows: {found.unstated}"]
    line, found_so = found.statement.lines[0], []
    if line.share is None or line.share < share:
        told = "no share" if line.share is None else f"a share of {at_most(line.share)}"
        found_so = [f"{told} of windows is stated to be within ε = {exactly(eps)}, not {share:g}"]
    return found_so + beyond(line.k, eps, at_most_k)


def beyond(k: int | None, eps: float, at_most_k: int | None) -> list[str]:
    """Why a window is none, or longer than asked."""
    if k is None:
        return [f"no k is known at ε = {exactly(eps)}"]
    if at_most_k is not None and k > at_most_k:
        return [f"ε = {exactly(eps)} needs the last {k} inputs, more than {at_most_k}"]
    return []


def longer(k: int | None, at_most_k: int | None) -> list[str]:
    """Advice on a k that exceeds `at_most_k`; [] if it does not, or if either is None."""
    if k is None or at_most_k is None or k <= at_most_k:
        return []
    return [f"if this is intended, set at-most = {k}"]


def _stated(found: Measurement, asked: MeasureQuestion) -> str:
    """Sentence on the share of windows within ε and its confidence, or else on the measurement."""
    line = None if found.statement is None else found.statement.lines[0]
    if line is None or line.share is None or line.k is None:
        return found.line()
    return (
        f"{found.model.source}: {found.model.name}, stated with confidence "
        f"{exactly(asked.confidence)}: a share of at least {at_most(line.share)} of windows like "
        f"these is within ε = {exactly(asked.eps)} from k = {line.k} on"
    )


def remedies(found: Measurement, at_most_k: int | None) -> Iterator[str]:
    """Yield advice if the share of windows is too small, or if k exceeds `at_most_k`."""
    stated = found.statement
    line = None if stated is None else stated.lines[0]
    if stated is not None and not stated.reached:
        few = stated.held < stated.needed
        yield (
            f"record {2 * stated.needed} windows in all, or ask for a smaller share"
            if few
            else "allow a larger ε or ask for a smaller share; more windows state a larger one"
        )
    yield from longer(None if line is None else line.k, at_most_k)
