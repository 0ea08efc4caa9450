"""From the results of parts to one run record, whatever the order in which they came."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rnnbounds.properties.attacks.budget import profile as profile_of
from rnnbounds.properties.attacks.campaign import Seen, added, not_applicable, nothing_seen
from rnnbounds.properties.attacks.sabotage import Refused, recorded
from rnnbounds.properties.attacks.table import attacks
from rnnbounds.properties.judging.evidence import Evidence, tightest_of_all
from rnnbounds.properties.runs.drawn import drawn
from rnnbounds.properties.runs.glossary import place, symbol_names, symbol_records, works
from rnnbounds.properties.runs.matrix import matrix
from rnnbounds.properties.runs.parts import PROOF, SABOTAGE, Part, PartResult, parts_of
from rnnbounds.reports.records.curve import build_curve
from rnnbounds.reports.records.ledger import Axiom, LedgerRecord
from rnnbounds.reports.records.record import (
    AttackRecord,
    ClaimRecord,
    Environment,
    FormRecord,
    Run,
    VariantRecord,
)  # fmt: skip
from rnnbounds.theory.axioms.base import AXIOMS
from rnnbounds.theory.claims.table import group_of
from rnnbounds.theory.language.law import Axiom as LawAxiom
from rnnbounds.theory.language.printing import statement_latex, statement_mathml, statement_text
from rnnbounds.theory.proof.claim import Claim
from rnnbounds.theory.proof.laws import count_axioms
from rnnbounds.theory.typeset import typeset


def merge(
    results: Iterable[PartResult], *, claims: Sequence[Claim], attacks: Sequence[str], profile: str,
    seed: int, systems: int = 0, environment: Environment | None = None,
) -> Run:  # fmt: skip
    """The run record, whatever the order in which parts ended; a claim's proof, its sabotage or an
    attack on it of which a part is missing is named."""
    done = list(results)
    left = lacking(done, claims, attacks, profile)
    seen: dict[str, dict[str, Seen]] = {}
    for entry in claims:
        told = [attack for attack in attacks if (entry.id, attack) not in left]
        seen[entry.id] = evidence_of(entry, told, done)
    evidence = {entry.id: by_form(entry, seen[entry.id]) for entry in claims}
    records = tuple(
        claim_record(entry, seen[entry.id], evidence[entry.id], done) for entry in claims
    )
    return Run(
        environment=environment or Environment(),
        profile=profile,
        seed=seed,
        systems=systems,
        attacks=tuple(attacks),
        claims=records,
        axioms=axiom_records(),
        expected_parts=tuple(
            f"{entry.id}/{work}" for entry in claims for work in (PROOF, SABOTAGE, *attacks)
        ),
        missing_parts=tuple(f"{id}/{work}" for id, work in left),
        symbols=symbol_records(claims),
        matrix=matrix(claims, evidence, {record.id: record.ledgers for record in records}),
    )


def lacking(
    results: Sequence[PartResult], claims: Sequence[Claim], attacks: Sequence[str], profile: str
) -> list[tuple[str, str]]:
    """(claim, work) of what some part has not reported, in the order of the expected parts; of the
    sabotage too where a false variant is told of by none."""

    def pieces(parts: Iterable[Part]) -> set[tuple[tuple[str, str], str, int]]:
        return {(told, part.pool, part.block) for part in parts for told in part.told}

    expected = pieces(parts_of(claims, attacks, profile_of(profile)))
    missing = {told for told, _, _ in expected - pieces(result.part for result in results)}
    variants = {
        (id, variant.id)
        for result in results
        for id, told in result.variants.items()
        for variant in told
    }
    missing |= {
        (entry.id, SABOTAGE)
        for entry in claims
        if any((entry.id, variant.id) not in variants for variant in entry.false_variants)
    }
    every_one = [(entry.id, work) for entry in claims for work in (PROOF, SABOTAGE, *attacks)]
    return [told for told in every_one if told in missing]


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
            laws=count_axioms(group).laws,
            clauses=count_axioms(group).clauses,
        )
        for name, group in theorems.items()
    )


def evidence_of(
    entry: Claim, attacks: Sequence[str], results: Iterable[PartResult]
) -> dict[str, Seen]:
    """Collect the evidence about one claim, by attack and form."""
    found = {attack: nothing_seen(entry, entry.forms) for attack in attacks}
    for result in results:
        if result.part.work in found:
            added(found[result.part.work], result.evidence.get(entry.id, {}))
    return found


def by_form(entry: Claim, seen: Mapping[str, Seen]) -> Seen:
    """Sum the evidence about one claim over all attacks, by form."""
    found = nothing_seen(entry, entry.forms)
    for forms in seen.values():
        added(found, forms)
    return found


def attack_record(entry: Claim, attack: str, forms: Sequence[Evidence]) -> AttackRecord:
    """How far one attack came."""
    ratios = [e.best_ratio for e in forms if e.best_ratio is not None]
    # Forms of a claim are judged on the same systems: each counts once, by the fullest form.
    fullest = max(forms, key=lambda e: e.pairs)
    return AttackRecord(
        systems=fullest.systems, pairs=fullest.pairs, checks=sum(e.tally.total for e in forms),
        best_ratio=max(ratios, default=None), note=not_applicable(entry, attack),
        seeded=attacks()[attack].seeded,
    )  # fmt: skip


def claim_record(
    entry: Claim, seen: Mapping[str, Seen], forms: Seen, results: Iterable[PartResult]
) -> ClaimRecord:
    """Everything that the parts found about one claim: what each attack saw, and all together."""
    reached = {
        attack: attack_record(entry, attack, list(found.values())) for attack, found in seen.items()
    }
    together = Evidence.of(entry, entry.forms[0])
    for evidence in forms.values():
        together.merge(evidence)
    tightest = tightest_of_all(forms.values())
    ledgers: tuple[LedgerRecord, ...] = ()
    for result in results:
        if result.part.work == PROOF and entry.id in result.part.claims:
            ledgers = result.ledgers
    main = entry.statement
    return ClaimRecord(
        id=entry.id, title=entry.title, source=entry.source.text, relation=main.relation,
        latex=statement_latex(main), mathml=statement_mathml(main), tally=together.tally,
        systems=sum(attack.systems for attack in reached.values()),
        pairs=sum(attack.pairs for attack in reached.values()),
        checks=together.tally.total, escalated=together.escalated,
        vacuous_by_assumption=dict(sorted(together.vacuous.items())), histogram=together.histogram,
        attacks=reached, worst=tightest[0] if tightest else None, tightest=tightest,
        failing=tuple(together.failing), drawn=drawn(entry, (*together.failing, *tightest)),
        forms=tuple(
            form_record(entry, evidence, {attack: found[name] for attack, found in seen.items()})
            for name, evidence in forms.items()
        ),
        ledgers=ledgers, extremal=entry.extremal, group=group_of(entry), works=works(entry),
        place=place(entry), symbols=symbol_names(entry),
        variants=variant_records(entry, results),
    )  # fmt: skip


def variant_records(entry: Claim, results: Iterable[PartResult]) -> tuple[VariantRecord, ...]:
    """Collect the records of a claim's false variants, with the outcomes of their proofs."""
    fallen: dict[str, VariantRecord] = {}
    proofs: dict[str, Refused] = {}
    for result in results:
        fallen |= {record.id: record for record in result.variants.get(entry.id, ())}
        proofs |= result.refused.get(entry.id, {})
    return recorded(entry, fallen, proofs)


def form_record(entry: Claim, evidence: Evidence, seen: Mapping[str, Evidence]) -> FormRecord:
    """One form as tested, how it fared, and what each attack saw of it."""
    form = entry.form(evidence.form)
    drawn = [attack for attack in seen if attacks()[attack].drawn]
    stated = form.statement
    return FormRecord(
        name=form.name, about=form.about, text=statement_text(stated),
        latex=statement_latex(stated), mathml=statement_mathml(stated),
        assumptions=tuple(a.text for a in form.assumptions),
        ids=tuple(a.id for a in form.assumptions),
        typeset=tuple(typeset(a.text) for a in form.assumptions),
        tally=evidence.tally, escalated=evidence.escalated, best_ratio=evidence.best_ratio,
        note=form.note, reached={attack: one.best_ratio for attack, one in seen.items()},
        examples={attack: seen[attack].examples.counts for attack in drawn}, cost=evidence.cost,
        nearest=tuple(evidence.nearest[states][1] for states in sorted(evidence.nearest, key=int)),
        curve=None if evidence.against is None else build_curve(evidence.against, evidence.curve),
    )  # fmt: skip
