"""From parts to one run record."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial

import torch

from impl.models.torch_machine import require_sound
from properties.attacks.table import attacks as every
from properties.judging.evidence import Evidence
from properties.runs.cluster import Cluster
from properties.runs.matrix import matrix
from properties.runs.parts import Part, PartResult, decode_result, encode_result, parts_of, run_part
from properties.runs.versions import versions
from properties.runs.workers import each
from reports.records.ledger import Axiom
from reports.records.number import Number
from reports.records.record import (
    AttackRecord,
    ClaimRecord,
    Environment,
    FormRecord,
    Run,
)  # fmt: skip
from theory.axioms.base import AXIOMS
from theory.language.law import Axiom as LawAxiom
from theory.language.printing import statement_latex, statement_mathml, statement_text
from theory.proof.claim import Claim
from theory.proof.laws import counted


def run_parts(
    parts: Sequence[Part], *, profile: str, seed: int, device: str = "cpu", workers: int = 1,
    cluster: Cluster | None = None,
    progress: Callable[[PartResult], None] = lambda result: None,
) -> list[PartResult]:  # fmt: skip
    """Run parts here, in fresh processes or on a cluster; each process uses one torch thread."""
    results = []
    alone = workers <= 1 and cluster is None
    calls = [(part, seed) for part in (parts if alone else heaviest_first(parts))]
    with closing(
        run_calls(calls, profile=profile, device=device, workers=workers, cluster=cluster)
    ) as answers:
        for _, result in answers:
            results.append(result)
            progress(result)
    return results


def run_calls(
    calls: Sequence[tuple[Part, int]], *, profile: str, device: str = "cpu", workers: int = 1,
    cluster: Cluster | None = None,
) -> Generator[tuple[int, PartResult], None, None]:  # fmt: skip
    """Run parts under a seed each; each result with its seed, as it is done."""
    require_sound(device)
    if workers <= 1 and cluster is None:
        for part, seed in calls:
            yield seed, run_part(part, profile_name=profile, seed=seed, device=device)
        return
    asked = [(part, profile, seed, device) for part, seed in calls]
    share = partial(each, workers=workers) if cluster is None else cluster.each
    with closing(share(remote_part, asked)) as answers:
        for seed, answer in answers:
            yield seed, decode_result(answer)


def remote_part(part: Part, profile: str, seed: int, device: str) -> tuple[int, bytes]:
    """One part in another process, as bytes, with its seed."""
    return seed, encode_result(run_part(part, profile_name=profile, seed=seed, device=device))


def heaviest_first(parts: Sequence[Part]) -> list[Part]:
    """Long parts first, so that no process waits for a late one."""
    turns = {"sabotage": 0, "proof": 4} | {name: one.turn for name, one in every().items()}
    return sorted(parts, key=lambda part: (turns.get(part.work, 9), part))


def merge(
    results: Iterable[PartResult], *, claims: Sequence[Claim], attacks: Sequence[str], profile: str,
    seed: int, environment: Environment | None = None,
) -> Run:  # fmt: skip
    """The run record, whatever the order in which parts ended; a part that is missing is named."""
    done = {result.part: result for result in results}
    expected = parts_of(claims, attacks)
    evidence = {entry.id: evidence_of(entry, attacks, done) for entry in claims}
    records = tuple(claim_record(entry, attacks, done, evidence[entry.id]) for entry in claims)
    return Run(
        environment=environment or Environment(),
        profile=profile,
        seed=seed,
        attacks=tuple(attacks),
        claims=records,
        axioms=axiom_records(),
        expected_parts=tuple(part.name for part in expected),
        missing_parts=tuple(part.name for part in expected if part not in done),
        matrix=matrix(claims, evidence, {record.id: record.ledgers for record in records}),
    )


def axiom_records() -> tuple[Axiom, ...]:
    """The textbook theorems; laws of one theorem are shown together."""
    theorems: dict[str, list[LawAxiom]] = {}
    for axiom in AXIOMS:
        theorems.setdefault(axiom.id, []).append(axiom)
    return tuple(
        Axiom(
            name=name,
            text="; ".join(dict.fromkeys(a.text for a in group)),
            source=group[0].source,
            laws=counted(group).laws,
            clauses=counted(group).clauses,
        )
        for name, group in theorems.items()
    )


def evidence_of(
    entry: Claim, attacks: Sequence[str], done: dict[Part, PartResult]
) -> dict[str, Evidence]:
    """What the attacks saw of one claim together, by form."""
    forms = {form.name: Evidence.of(entry, form) for form in entry.forms}
    for attack in attacks:
        result = done.get(Part(entry.id, attack))
        for name, evidence in result.evidence.items() if result else ():
            forms[name].merge(evidence)
    return forms


def claim_record(
    entry: Claim,
    attacks: Sequence[str],
    done: dict[Part, PartResult],
    forms: dict[str, Evidence],
) -> ClaimRecord:
    """Everything that the parts found about one claim; `forms` is what its attacks saw."""
    reached: dict[str, AttackRecord] = {}
    for attack in attacks:
        result = done.get(Part(entry.id, attack))
        if result is None:
            continue
        seen = list(result.evidence.values())
        ratios = [e.best_ratio for e in seen if e.best_ratio is not None]
        reached[attack] = AttackRecord(
            systems=sum(e.systems for e in distinct(seen)),
            pairs=sum(e.pairs for e in distinct(seen)),
            checks=sum(e.tally.total for e in seen),
            best_ratio=max(ratios, default=None),
            note=result.note,
        )
    together = Evidence.of(entry, entry.forms[0])
    for evidence in forms.values():
        together.merge(evidence)
    proof, false = done.get(Part(entry.id, "proof")), done.get(Part(entry.id, "sabotage"))
    main = entry.statement
    return ClaimRecord(
        id=entry.id, title=entry.title, source=entry.source.text, relation=main.relation,
        latex=statement_latex(main), mathml=statement_mathml(main), tally=together.tally,
        systems=sum(attack.systems for attack in reached.values()),
        pairs=sum(attack.pairs for attack in reached.values()),
        checks=together.tally.total, escalated=together.escalated,
        vacuous_by_assumption=dict(sorted(together.vacuous.items())), histogram=together.histogram,
        attacks=reached, worst=together.tightest[0] if together.tightest else None,
        tightest=tuple(together.tightest), failing=tuple(together.failing),
        forms=tuple(
            form_record(entry, name, evidence, best_by_attack(entry, name, attacks, done))
            for name, evidence in forms.items()
        ),
        ledgers=proof.ledgers if proof else (), variants=false.variants if false else (),
        extremal=entry.extremal,
    )  # fmt: skip


def distinct(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Forms of a claim are judged on the same systems: each counts once, by the fullest form."""
    return sorted(evidence, key=lambda e: -e.pairs)[:1]


def best_by_attack(
    entry: Claim, form: str, attacks: Sequence[str], done: dict[Part, PartResult]
) -> dict[str, Number | None]:
    """The greatest lhs/rhs of one form that each attack reached."""
    results = {attack: done.get(Part(entry.id, attack)) for attack in attacks}
    return {a: r.evidence[form].best_ratio for a, r in results.items() if r and form in r.evidence}


def form_record(
    entry: Claim, name: str, evidence: Evidence, reached: dict[str, Number | None]
) -> FormRecord:
    """One form as tested, and how it fared."""
    form = entry.form(name)
    stated = form.statement
    return FormRecord(
        name=name, about=form.about, text=statement_text(stated), latex=statement_latex(stated),
        mathml=statement_mathml(stated), assumptions=tuple(a.text for a in form.assumptions),
        tally=evidence.tally, escalated=evidence.escalated, best_ratio=evidence.best_ratio,
        note=form.note, reached=reached, cost=evidence.cost,
        nearest=tuple(evidence.nearest[states][1] for states in sorted(evidence.nearest, key=int)),
    )  # fmt: skip


def environment(
    device: str, workers: int, started: datetime, results: Iterable[PartResult]
) -> Environment:
    """Versions, device, and the settings that change floating-point results silently."""
    now = datetime.now(UTC)
    return Environment(
        versions=versions(),
        platform=platform.platform(),
        device=torch.cuda.get_device_name()
        if device.startswith("cuda")
        else platform.processor() or "cpu",
        threads=1,
        workers=workers,
        float_settings={
            "matmul precision": torch.get_float32_matmul_precision(),
            "deterministic algorithms": str(torch.are_deterministic_algorithms_enabled()),
            "subnormals": "kept"
            if float(torch.tensor(2.0**-1040, dtype=torch.float64) * 0.5)
            else "flushed",
        },
        command=" ".join(["rnnbounds", *sys.argv[1:]]),
        started=started.isoformat(timespec="seconds"),
        finished=now.isoformat(timespec="seconds"),
        seconds=(now - started).total_seconds(),
        durations={result.part.name: round(result.seconds, 3) for result in results},
    )
