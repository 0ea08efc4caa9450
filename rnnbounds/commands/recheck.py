"""``rnnbounds prove --recheck``: the proofs, checked again by a second checker, which asks cvc5."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec

from rnnbounds.reports.words import plural
from rnnbounds.shell.output import Format, echo, print_json, progress
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
    laws, found = law_document([*AXIOMS, *REGISTRY.values()]), dict[str, Verdict]()
    with progress(len(entries), "checking") as advance:
        for entry in entries:
            advance(entry.id)
            for form in entry.forms:
                document = proof_document(form.proof, form.statement, form.assumptions)
                found[f"{entry.id}/{form.name}"] = check_document(document, laws)
    failed = [
        name for name, one in found.items() if not is_accepted(one, unsettled().get(name, {}))
    ]
    if format is Format.json:
        print_json([_document(name, one, name not in failed) for name, one in found.items()])
        return int(bool(failed))
    for name, one in found.items():
        known = unsettled().get(name, {})
        new = [part.step for part in one.open_steps if part.step not in known]
        why = one.refusal or (f"undecided: {', '.join(new)}" if new else "")
        rest = counted(part.rests_on for part in one.open_steps)
        echo(f"{name}: {f'REFUSED: {why}' if why else 'accepted'}{f' ({rest})' if rest else ''}")
    accepted = len(found) - len(failed)
    echo(f"{plural(len(found), 'proof')}, {accepted} accepted by the second checker")
    return int(bool(failed))


def counted(rests: Iterable[str]) -> str:
    """How many steps rest on what: `2 steps rest on z3 alone`; empty if there are none."""
    found = sorted(Counter(rests).items())
    return ", ".join(f"{plural(n, 'step')} rest{'s' * (n == 1)} on {what}" for what, n in found)


def accepted_before(forms: Mapping[str, Iterable[str]]) -> str:
    """Sentence with the number of these forms whose shipped proofs a second checker accepts."""
    known = unsettled()
    shipped = [name for name in forms if name in known]
    open_steps = (
        known[name][step] for name in shipped for step in forms[name] if step in known[name]
    )
    rests = counted(open_steps)
    said = f"a second checker accepts {plural(len(shipped), 'proof')}" + (
        f"; {rests}" if rests else ""
    )
    others = f"{plural(len(forms) - len(shipped), 'proof')} not yet: run prove --recheck"
    return said if len(shipped) == len(forms) else f"{said}; {others}"


def _document(name: str, verdict: Verdict, accepted: bool) -> dict[str, object]:
    opened = [{"step": one.step, "rests": one.rests_on} for one in verdict.open_steps]
    return {"form": name, "accepted": accepted, "refused": verdict.refusal, "open": opened}
