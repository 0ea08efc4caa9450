"""``rnnbounds prove --recheck``: the proofs, checked again by a second checker, which asks cvc5."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec

from rnnbounds.reports.words import plural
from rnnbounds.shell.output import Format, echo, print_json, show_progress
from rnnbounds.theory.axioms.base import AXIOMS
from rnnbounds.theory.errors import MachineError
from rnnbounds.theory.language.definitions import REGISTRY
from rnnbounds.theory.proof.claim import Claim
from rnnbounds.theory.proof.export import law_document, proof_document
from rnnbounds.theory.recheck import Verdict, check_document, is_accepted, unsettled


def recheck(entries: Sequence[Claim], format: Format) -> int:
    """Check the proof of each form; exit 1 if one is refused, or leaves a step open that is not
    listed. Raises MachineError without cvc5."""
    if find_spec("cvc5") is None:
        raise MachineError("--recheck asks cvc5; install it with: pip install 'rnnbounds[recheck]'")
    laws, verdicts = law_document([*AXIOMS, *REGISTRY.values()]), dict[str, Verdict]()
    with show_progress(len(entries), "checking") as advance:
        for entry in entries:
            advance(entry.id)
            for form in entry.forms:
                document = proof_document(form.proof, form.statement, form.assumptions)
                verdicts[f"{entry.id}/{form.name}"] = check_document(document, laws)
    failed = [
        name
        for name, verdict in verdicts.items()
        if not is_accepted(verdict, unsettled().get(name, {}))
    ]
    if format is Format.json:
        print_json(
            [_document(name, verdict, name not in failed) for name, verdict in verdicts.items()]
        )
        return int(bool(failed))
    for name, verdict in verdicts.items():
        listed = unsettled().get(name, {})
        new_steps = [part.step for part in verdict.open_steps if part.step not in listed]
        reason = verdict.refusal or (f"undecided: {', '.join(new_steps)}" if new_steps else "")
        basis = rests_text(part.rests_on for part in verdict.open_steps)
        answer = f"REFUSED: {reason}" if reason else "accepted"
        echo(f"{name}: {answer}{f' ({basis})' if basis else ''}")
    accepted = len(verdicts) - len(failed)
    echo(f"{plural(len(verdicts), 'proof')}, {accepted} accepted by the second checker")
    return int(bool(failed))


def rests_text(rests: Iterable[str]) -> str:
    """How many steps rest on what: `2 steps rest on z3 alone`; empty if there are none."""
    counts = sorted(Counter(rests).items())
    return ", ".join(f"{plural(n, 'step')} rest{'s' * (n == 1)} on {basis}" for basis, n in counts)


def shipped_proofs_text(forms: Mapping[str, Iterable[str]]) -> str:
    """Sentence with the number of these forms whose shipped proofs a second checker accepts."""
    shipped_forms = unsettled()
    shipped = [name for name in forms if name in shipped_forms]
    open_steps = (
        shipped_forms[name][step]
        for name in shipped
        for step in forms[name]
        if step in shipped_forms[name]
    )
    rests = rests_text(open_steps)
    summary = f"a second checker accepts {plural(len(shipped), 'proof')}" + (
        f"; {rests}" if rests else ""
    )
    unchecked = f"{plural(len(forms) - len(shipped), 'proof')} not yet: run prove --recheck"
    return summary if len(shipped) == len(forms) else f"{summary}; {unchecked}"


def _document(name: str, verdict: Verdict, accepted: bool) -> dict[str, object]:
    opened = [{"step": step.step, "rests": step.rests_on} for step in verdict.open_steps]
    return {"form": name, "accepted": accepted, "refused": verdict.refusal, "open": opened}
