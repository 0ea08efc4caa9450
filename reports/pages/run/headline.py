"""The headline of a run's page and the paragraph below it: what was proved and what was attacked.

Both speak of the claims of this run alone, and name what a proof leaves open.
"""

from collections.abc import Iterable

from rnnbounds.reports.pages import text
from rnnbounds.reports.records.basis import Standing, basis_sentence, count_bases, count_derived
from rnnbounds.reports.records.ledger import Axiom
from rnnbounds.reports.records.outcome import claim_problems
from rnnbounds.reports.records.record import ClaimRecord, Run

OTHERS: dict[Standing, str] = {
    "inclusion assumed": "from an assumed inclusion",
    "restates": "restating an assumption",
    "not proved": "not proved",
}
NO_CELL = "no-cell"  # the column of systems that are no recurrent cell, as a single matrix


def headline(run: Run, fails: bool, regressed: bool) -> str:
    """One sentence: the failing claims of a run that fails, else how much is proved and attacked.

    `regressed` says that the run is worse than a baseline.
    """
    claims = run.claims
    if fails:
        failing = sum(bool(claim_problems(claim)) for claim in claims)
        failed = (
            f" {text.count(failing)} of {text.plural(len(claims), 'claim')} failed."
            if failing
            else ""
        )
        return f"This run fails.{failed}"
    counts = count_standings(claims)
    proved = (
        f"{text.count(count_derived(counts))} of {text.plural(sum(counts.values()), 'form')} proved"
    )
    if len(claims) == 1:
        proved = f"1 claim, {claims[0].id}, {proved}"
    bases = (
        f", {text.count(counts[standing])} {words}"
        for standing, words in OTHERS.items()
        if standing in counts
    )
    statement = (
        f"{proved} from {text.plural(count_laws(run), 'law')}{''.join(bases)}; attacked on "
        f"{_attacked_systems(run)},"
        " none violated"
    )
    return f"{statement}, but something regressed." if regressed else f"{statement}."


def lead_paragraph(run: Run, fails: bool) -> str:
    """The counts behind the headline, and what the proofs take for granted."""
    claims = run.claims
    checks, pairs, variants, refuted = (
        sum(claim.tally.total - claim.tally.vacuous for claim in claims),
        sum(claim.pairs for claim in claims),
        sum(len(claim.variants) for claim in claims),
        sum(variant.convicted for claim in claims for variant in claim.variants),
    )
    tested = f"{text.plural(checks, 'check')} on {text.plural(pairs, 'pair')} of system and input"
    vacuous = sum(claim.tally.vacuous for claim in claims)
    skipped = f" {text.count(vacuous)} more are vacuous, which is no evidence." if vacuous else ""
    if fails:
        violated = sum(claim.tally.violated for claim in claims)
        undecided = sum(claim.tally.undecided for claim in claims)
        return (
            f"{basis_sentence(count_standings(claims))}. Of {tested},"
            f" {text.count(violated)} are violated and {text.count(undecided)} undecided;"
            f" {text.count(refuted)} of {text.plural(variants, 'false variant')} refuted."
        )
    return " ".join(filter(None, (
        _proof_sentence(run), f"Attack: {tested}; none is violated, none undecided.{skipped}",
        f"All {text.plural(variants, 'deliberately false variant')} of the claims were refuted."
        if variants else "",
    )))  # fmt: skip


def count_laws(run: Run) -> int:
    """How many laws the ledgers of a run use without proof."""
    return sum(theorem.laws for theorem in used_theorems(run))


def used_theorems(run: Run) -> tuple[Axiom, ...]:
    """The textbook theorems that the ledgers of a run use."""
    names = {name for claim in run.claims for ledger in claim.ledgers for name in ledger.axioms}
    return tuple(theorem for theorem in run.axioms if theorem.name in names)


def _attacked_systems(run: Run) -> str:
    """The cell types on which a check was judged; the attacks' pairs where no matrix says."""
    ids = {claim.id for claim in run.claims}
    entries = () if run.matrix is None else run.matrix.entries
    columns = {
        entry.column for entry in entries
        if entry.claim in ids and entry.tally.total > entry.tally.vacuous
    } - {NO_CELL}  # fmt: skip
    if columns:
        return text.plural(len(columns), "cell type")
    return text.plural(sum(claim.pairs for claim in run.claims), "pair") + " of system and input"


def count_standings(claims: Iterable[ClaimRecord]) -> dict[Standing, int]:
    """How many forms of the claims rest on what."""
    return count_bases(standing for claim in claims for standing in claim.standings.values())


def _proof_sentence(run: Run) -> str:
    claims = run.claims
    steps = sum(len(ledger.steps) for claim in claims for ledger in claim.ledgers)
    return (
        f"Proof: {basis_sentence(count_standings(claims))}, in {text.plural(steps, 'step')} from"
        f" {text.plural(count_laws(run), 'law')} of"
        f" {text.plural(len(used_theorems(run)), 'textbook theorem')} taken without proof."
    )
