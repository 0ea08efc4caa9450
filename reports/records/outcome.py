"""The verdict on a whole run: it passes only if nothing at all speaks against it."""

from collections.abc import Iterator

from msgspec.structs import replace

from rnnbounds.reports.records.checks import Tally
from rnnbounds.reports.records.record import ClaimRecord, Environment, Run
from rnnbounds.reports.text import plural


def run_problems(run: Run) -> list[str]:
    """Every reason why the run fails, one line each; an empty list is a pass.

    A run fails by a VIOLATED or UNDECIDED check, a claim or form without one HOLDS, a form whose
    ledger is missing or fails, a false variant that survives its attack or that the ledger proves,
    a guarantee of a certificate that a model breaks, or a part that never reported.
    """
    lines = [f"the part {part!r} never reported" for part in run.missing_parts]
    if not run.claims and not run.guarantees:
        lines.append("no claim was tested")
    for claim in run.claims:
        lines += [f"{claim.id}: {problem}" for problem in claim_problems(claim)]
    for told in run.guarantees:
        lines += [f"the guarantee {told.name}: {line}" for line in _tally_problems(told.tally, "")]
    return lines


def claim_problems(claim: ClaimRecord) -> list[str]:
    """Every reason why one claim fails."""
    lines = [
        problem
        for form in claim.forms
        for problem in _tally_problems(form.tally, f" (form {form.name})")
    ] or list(_tally_problems(claim.tally, ""))
    lines += _ledger_problems(claim)
    for variant in claim.variants:
        if not variant.convicted:
            lines.append(
                f"the false variant {variant.id!r} survived {plural(variant.systems, 'system')}"
            )
        if not variant.ledger_fails:
            lines.append(f"the ledger proves the false variant {variant.id!r}")
    return lines


def without_environment(run: Run) -> Run:
    """The run without its environment: equal for two runs of one seed."""
    return replace(run, environment=Environment())


def _tally_problems(tally: Tally, form_text: str) -> Iterator[str]:
    if tally.violated:
        yield f"{plural(tally.violated, 'check')} VIOLATED{form_text}"
    if tally.undecided:
        yield f"{plural(tally.undecided, 'check')} UNDECIDED{form_text}"
    if not tally.holds:
        yield f"never tested in earnest: no check HOLDS{form_text}"


def _ledger_problems(claim: ClaimRecord) -> Iterator[str]:
    if not claim.forms:
        yield "no form was stated"
    ledgers = {ledger.form: ledger for ledger in claim.ledgers}
    for form in claim.forms:
        if form.name not in ledgers:
            yield f"no proof ledger (form {form.name})"
    for ledger in claim.ledgers:
        if not ledger.proved:
            yield f"not proved (form {ledger.form})"
        elif {step.verdict for step in ledger.steps} != {"proved"}:
            yield f"called proved with an unproved step (form {ledger.form})"
