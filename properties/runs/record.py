"""From the results of parts to one run record, whatever the order in which they came."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rnnbounds.properties.attacks.budget import profile as profile_of
from rnnbounds.properties.attacks.campaign import (
    FormEvidence,
    empty_evidence,
    inapplicable_reason,
    merge_evidence,
)
from rnnbounds.properties.judging.evidence import Evidence, tightest_checks
from rnnbounds.properties.judging.judge import form_quantities
from rnnbounds.properties.runs.parts import (
    PROOF,
    SABOTAGE,
    Part,
    PartResult,
    guarantee_parts,
    plan_parts,
)  # fmt: skip
from rnnbounds.reports.records.checks import build_curve
from rnnbounds.reports.records.record import (
    AttackRecord,
    Axiom,
    ClaimRecord,
    Environment,
    FormRecord,
    Guarantee,
    LedgerRecord,
    Run,
    Symbol,
    Work,
)
from rnnbounds.theory.axioms.base import AXIOMS
from rnnbounds.theory.bibliography import cited
from rnnbounds.theory.language.law import Axiom as LawAxiom
from rnnbounds.theory.language.mathml import latex_to_mathml, xml_element
from rnnbounds.theory.language.printing import (
    plain_text,
    statement_latex,
    statement_mathml,
    statement_text,
)
from rnnbounds.theory.language.quantity import Quantity
from rnnbounds.theory.language.spelling import typed_notation
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.claim import Claim
from rnnbounds.theory.typeset import expression_mathml, typeset


def merge_record(
    results: Iterable[PartResult], *, claims: Sequence[Claim], attacks: Sequence[str], profile: str,
    seed: int, environment: Environment | None = None,
) -> Run:  # fmt: skip
    """The run record, whatever the order in which parts ended; a claim's proof, its sabotage or an
    attack on it of which a part is missing is named."""
    all_results = list(results)
    missing = missing_work(all_results, claims, attacks, profile)
    records = []
    for claim in claims:
        complete_attacks = [attack for attack in attacks if (claim.id, attack) not in missing]
        evidence_by_attack = claim_evidence(claim, complete_attacks, all_results)
        totals = empty_evidence(claim, claim.forms)
        for forms in evidence_by_attack.values():
            merge_evidence(totals, forms)
        records.append(claim_record(claim, evidence_by_attack, totals, all_results))
    return Run(
        environment=environment or Environment(),
        profile=profile,
        seed=seed,
        attacks=tuple(attacks),
        claims=tuple(records),
        axioms=axiom_records(),
        expected_parts=tuple(f"{id}/{work}" for id, work in expected_work(claims, attacks)),
        missing_parts=tuple(f"{id}/{work}" for id, work in missing),
        guarantees=guarantee_records(all_results),
        symbols=symbol_records(claims),
    )


def missing_work(
    results: Sequence[PartResult], claims: Sequence[Claim], attacks: Sequence[str], profile: str
) -> list[tuple[str, str]]:
    """(claim, work) of what some part has not reported, in the order of the expected parts; of the
    sabotage too where a false variant is told of by none."""

    def pieces(parts: Iterable[Part]) -> set[tuple[tuple[str, str], str, int]]:
        return {(pair, part.pool, part.block) for part in parts for pair in part.claim_works}

    expected = pieces(plan_parts(claims, attacks, profile_of(profile)))
    missing = {pair for pair, _, _ in expected - pieces(result.part for result in results)}
    variants = {
        (id, variant.id)
        for result in results
        for id, pair in result.variants.items()
        for variant in pair
    }
    missing |= {
        (entry.id, SABOTAGE)
        for entry in claims
        if any((entry.id, variant.id) not in variants for variant in entry.false_variants)
    }
    return [pair for pair in expected_work(claims, attacks) if pair in missing]


def expected_work(claims: Sequence[Claim], attacks: Sequence[str]) -> list[tuple[str, str]]:
    """(claim, work) of all that is to be reported, and (guarantees, group) of a run of all."""
    pairs = [(entry.id, work) for entry in claims for work in (PROOF, SABOTAGE, *attacks)]
    return [*pairs, *(pair for part in guarantee_parts(claims) for pair in part.claim_works)]


def guarantee_records(results: Iterable[PartResult]) -> tuple[Guarantee, ...]:
    """The guarantees, of all groups of models together."""
    found: dict[str, Guarantee] = {}
    for result in sorted(results, key=lambda result: result.part):
        for told in result.guarantees:
            found[told.name] = found[told.name].merge(told) if told.name in found else told
    return tuple(found.values())


def axiom_records() -> tuple[Axiom, ...]:
    """The textbook theorems; laws of one theorem are shown together."""
    theorems: dict[str, list[LawAxiom]] = {}
    for axiom in AXIOMS:
        theorems.setdefault(axiom.id, []).append(axiom)
    return tuple(
        Axiom(
            name=name, text="; ".join(dict.fromkeys(a.text for a in group)), source=group[0].source
        )
        for name, group in theorems.items()
    )


def claim_evidence(
    claim: Claim, attacks: Sequence[str], results: Iterable[PartResult]
) -> dict[str, FormEvidence]:
    """Collect the evidence about one claim, by attack and form."""
    evidence = {attack: empty_evidence(claim, claim.forms) for attack in attacks}
    for result in results:
        if result.part.work in evidence:
            merge_evidence(evidence[result.part.work], result.evidence.get(claim.id, {}))
    return evidence


def attack_record(claim: Claim, attack: str, forms: Sequence[Evidence]) -> AttackRecord:
    """How far one attack came."""
    ratios = [e.best_ratio for e in forms if e.best_ratio is not None]
    # Forms of a claim are judged on the same systems: each counts once, by the fullest form.
    fullest = max(forms, key=lambda e: e.pairs)
    return AttackRecord(
        systems=fullest.systems, pairs=fullest.pairs, checks=sum(e.tally.total for e in forms),
        best_ratio=max(ratios, default=None), note=inapplicable_reason(claim, attack),
    )  # fmt: skip


def claim_record(
    claim: Claim,
    evidence_by_attack: Mapping[str, FormEvidence],
    forms: FormEvidence,
    results: Iterable[PartResult],
) -> ClaimRecord:
    """Everything that the parts found about one claim: what each attack saw, and all together."""
    attack_records = {
        attack: attack_record(claim, attack, list(attack_evidence.values()))
        for attack, attack_evidence in evidence_by_attack.items()
    }
    total = Evidence.empty(claim, claim.forms[0])
    for evidence in forms.values():
        total.merge(evidence)
    tightest = tightest_checks(forms.values())
    ledgers: tuple[LedgerRecord, ...] = ()
    for result in results:
        if result.part.work == PROOF and claim.id in result.part.claims:
            ledgers = result.ledgers
    variants = {v.id: v for result in results for v in result.variants.get(claim.id, ())}
    statement = claim.statement
    return ClaimRecord(
        id=claim.id, title=claim.title, source=claim.source.text, relation=statement.relation,
        latex=statement_latex(statement), mathml=statement_mathml(statement), tally=total.tally,
        systems=sum(attack.systems for attack in attack_records.values()),
        pairs=sum(attack.pairs for attack in attack_records.values()),
        checks=total.tally.total, escalated=total.escalated,
        vacuous_by_assumption=dict(sorted(total.vacuous.items())),
        attacks=attack_records, worst=tightest[0] if tightest else None, tightest=tightest,
        failing=tuple(total.failing),
        forms=tuple(
            form_record(claim, evidence, {attack: attack_evidence[name] for attack,
            attack_evidence in evidence_by_attack.items()})
            for name, evidence in forms.items()
        ),
        ledgers=ledgers, extremal=claim.extremal, works=cited_works(claim),
        place=claim_file(claim), symbols=symbol_names(claim),
        variants=tuple(variants[v.id] for v in claim.false_variants if v.id in variants),
    )  # fmt: skip


def form_record(
    claim: Claim, evidence: Evidence, evidence_by_attack: Mapping[str, Evidence]
) -> FormRecord:
    """One form as tested, how it fared, and what each attack saw of it."""
    form = claim.form(evidence.form)
    statement = form.statement
    return FormRecord(
        name=form.name, about=form.about, text=statement_text(statement),
        latex=statement_latex(statement), mathml=statement_mathml(statement),
        assumptions=tuple(a.text for a in form.assumptions),
        ids=tuple(a.id for a in form.assumptions),
        typeset=tuple(typeset(a.text) for a in form.assumptions),
        tally=evidence.tally, escalated=evidence.escalated, best_ratio=evidence.best_ratio,
        note=form.note, reached={attack: attack_evidence.best_ratio for attack,
        attack_evidence in evidence_by_attack.items()},
        cost=evidence.cost,
        nearest=tuple(evidence.nearest[states][1] for states in sorted(evidence.nearest, key=int)),
        curve=None if evidence.curve_variable is None else build_curve(evidence.curve_variable,
        evidence.curve),
    )  # fmt: skip


def symbol_names(claim: Claim) -> tuple[str, ...]:
    """The quantities in the statements and conditions of a claim's forms, in the vocabulary's
    order."""
    used = form_quantities(*claim.forms)
    return tuple(name for name in VOCABULARY if name in used)


def symbol_records(claims: Iterable[Claim]) -> tuple[Symbol, ...]:
    """The quantities that any of the claims speaks of, in the vocabulary's order."""
    used = {name for claim in claims for name in symbol_names(claim)}
    return tuple(_symbol_record(quantity) for name, quantity in VOCABULARY.items() if name in used)


def cited_works(claim: Claim) -> tuple[Work, ...]:
    """The works that a claim's source names."""
    return tuple(Work(title=entry.title, url=entry.url) for entry in cited(claim.source.text))


def claim_file(claim: Claim) -> str:
    """The file in which the first form of a claim is stated: theory/claims/…/NAME.py."""
    steps = claim.forms[0].proof.steps
    return steps[-1].location.rpartition(":")[0] if steps else ""


def _symbol_record(quantity: Quantity) -> Symbol:
    definition = quantity.definition
    return Symbol(
        name=quantity.name,
        notation=typed_notation(quantity.notation),
        mathml=xml_element("math", latex_to_mathml(quantity.notation)),
        meaning=quantity.meaning,
        typeset=typeset(quantity.meaning),
        norm=quantity.norm,
        norm_typeset=typeset(quantity.norm),
        role=quantity.role,
        definition="" if definition is None else plain_text(definition),
        definition_mathml="" if definition is None else expression_mathml(definition),
    )
