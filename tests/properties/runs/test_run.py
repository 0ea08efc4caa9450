"""Runs: the same for a seed, whoever did the parts; and a part that is missing fails the run."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace
from seen import attack_claim

from rnnbounds.properties.attacks.budget import PROFILES, Budget
from rnnbounds.properties.attacks.campaign import inapplicable_reason
from rnnbounds.properties.judging.evidence import Evidence
from rnnbounds.properties.runs.parts import (
    Part,
    PartResult,
    chosen_claims,
    failures,
    plan_parts,
    run_part,
)
from rnnbounds.properties.runs.record import axiom_records, merge_record
from rnnbounds.properties.runs.run import heaviest_first, run_environment, run_parts
from rnnbounds.properties.runs.versions import installed_version
from rnnbounds.reports.records.checks import Tally
from rnnbounds.reports.records.outcome import run_problems
from rnnbounds.theory import CLAIMS, claim
from rnnbounds.theory.axioms.base import AXIOMS
from rnnbounds.theory.errors import UnknownClaimError

CHEAP = [claim("instability")]
ATTACKS = ("random", "extremal")
PARTS = plan_parts(CHEAP, ATTACKS, PROFILES["quick"])


def run(results: list[PartResult], attacks: tuple[str, ...] = ATTACKS):
    """The record of these parts."""
    return merge_record(results, claims=CHEAP, attacks=attacks, profile="quick", seed=3)


@pytest.fixture(scope="module")
def parts() -> list[PartResult]:
    """The parts of a cheap claim, done here."""
    return run_parts(PARTS, profile="quick", seed=3)


def test_the_run_passes_and_is_independent_of_order(parts: list[PartResult]) -> None:
    """Nothing speaks against the true claims, and every order of parts merges to one record."""
    whole = run(parts)
    assert run_problems(whole) == []
    assert whole.missing_parts == ()
    for order in (parts[::-1], parts[2:] + parts[:2]):
        assert run(order) == whole
    assert all(failures(result) == [] for result in parts)


def test_a_variant_of_which_nothing_is_told_is_missing(parts: list[PartResult]) -> None:
    """Though every part has reported."""
    silent = [replace(result, variants={}) for result in parts]
    assert run(silent).missing_parts == tuple(f"{entry.id}/sabotage" for entry in CHEAP)


def test_a_missing_part_fails_the_run(parts: list[PartResult]) -> None:
    """Each part in turn is missed, by the names of all that it would have told of."""
    for i, missing in enumerate(parts):
        partial = run(parts[:i] + parts[i + 1 :])
        names = tuple(f"{claim}/{work}" for claim, work in missing.part.claim_works)
        assert sorted(partial.missing_parts) == sorted(names)
        for name in names:
            assert f"the part {name!r} never reported" in run_problems(partial)


def test_a_violation_fails_the_part_and_the_run(parts: list[PartResult]) -> None:
    """A counted violation, an open check, an unproved ledger and a survivor are each reported."""
    by_work = {result.part.name: result for result in parts}
    pool = f"unstable-{PROFILES['quick'].batch}x{PROFILES['quick'].sequences}"
    attack = by_work[f"instability/random/{pool}/1"]
    evidence = attack.evidence["instability"]["no-window"]
    for tally in (Tally(holds=1, violated=1), Tally(holds=1, undecided=1)):
        bad = Evidence(evidence.claim, evidence.form, False, tally, failing=evidence.tightest[:1])
        spoiled = replace(attack, evidence={"instability": {"no-window": bad}})
        assert len(failures(spoiled)) == 2
        others = [r for r in parts if r is not attack]
        assert run_problems(run([*others, spoiled]))
    proof = by_work["instability/proof"]
    unproved = replace(proof, ledgers=tuple(replace(x, proved=False) for x in proof.ledgers))
    assert failures(unproved)[0] == "no-window: not proved"
    sabotage = by_work["instability/sabotage"]
    variant = sabotage.variants["instability"][0]
    for told, said in (
        ({"convicted": False}, "survived"),
        ({"ledger_fails": False, "why": ""}, "ledger proves"),
        ({"why": ""}, "without a reason"),
    ):
        stands = {"instability": (replace(variant, **told),)}
        (found_,) = failures(replace(sabotage, variants=stands))
        assert said in found_


def test_a_claim_without_parts_has_no_evidence() -> None:
    """An empty run names all that is missing and passes nothing."""
    empty = run([])
    assert empty.missing_parts == empty.expected_parts
    assert all(entry.worst is None and entry.tally.total == 0 for entry in empty.claims)
    assert any("never tested in earnest" in problem for problem in run_problems(empty))


def test_long_parts_go_first() -> None:
    """Proofs before ascents before random search; what many claims share before what few do; an
    unknown work last."""
    works = [("proof", 1), ("new", 1), ("random", 1), ("gradient", 1), ("random", 2)]
    parts = [Part(work, ("a", "b")[:count]) for work, count in works]
    order = [(part.work, len(part.claims)) for part in heaviest_first(parts)]
    assert order == [("proof", 1), ("gradient", 1), ("random", 2), ("random", 1), ("new", 1)]


@pytest.mark.slow
def test_a_claim_meets_the_same_systems_alone_and_among_others(small_quick: None) -> None:
    """Whoever else is judged on them, the evidence for a claim is the same."""
    both = [claim("state-bound"), claim("prediction")]
    told = []
    for claims in (both, both[1:]):
        parts = plan_parts(claims, ("random",), PROFILES["quick"])
        (part,) = (p for p in parts if p.pool.startswith("rnn-") and not p.block)
        assert part.claims == tuple(entry.id for entry in claims)
        told.append(run_part(part, profile_name="quick", seed=5))
    among, alone = (result.evidence["prediction"] for result in told)
    assert among == alone
    assert any(evidence.tally.holds for evidence in among.values())


def test_chosen_claims() -> None:
    """No ids mean all claims; some come in reading order, once; an unknown one is named."""
    assert chosen_claims(()) == list(CLAIMS)
    chosen = chosen_claims(["truncation", "state-bound", "truncation"])
    assert [entry.id for entry in chosen] == ["state-bound", "truncation"]
    with pytest.raises(UnknownClaimError, match="truncation"):
        chosen_claims(["truncatoin"])


def test_axioms_are_grouped() -> None:
    """Laws of one theorem are shown together, each with its text."""
    records = {record.name: record.text for record in axiom_records()}
    assert {*records} == {axiom.id for axiom in AXIOMS}
    assert all(axiom.text in records[axiom.id] for axiom in AXIOMS)


def test_environment(parts: list[PartResult], monkeypatch: pytest.MonkeyPatch) -> None:
    """Versions, device and settings are recorded; a package that is not there is said not to be."""
    here = run_environment("cpu", 2, datetime.now(UTC), parts)
    assert here.workers == 2
    assert here.versions["torch"]
    assert set(here.durations) == {r.part.name for r in parts}
    assert here.float_settings["subnormals"] == "kept"
    assert installed_version("no-such-package-anywhere") == "not installed"
    later = datetime.now(UTC) + timedelta(days=1)  # as a clock that is set back meanwhile leaves it
    assert run_environment("cpu", 2, later, parts).seconds == 0
    monkeypatch.setattr("torch.cuda.get_device_name", lambda: "a card")
    assert run_environment("cuda:0", 1, datetime.now(UTC), ()).device == "a card"


def test_attacks_that_do_not_apply_say_why(small: Budget) -> None:
    """The gradient has nothing to do on exact members, and the evidence is then empty."""
    exact = claim("urnn-equivalence")
    reason = inapplicable_reason(exact, "gradient")
    assert "decided in exact rationals, there is nothing to ascend" in reason
    assert inapplicable_reason(claim("truncation"), "gradient") == ""
    assert inapplicable_reason(exact, "random") == ""
    assert "has no gradient" in inapplicable_reason(claim("instability"), "gradient")
    empty = attack_claim(exact, "gradient", budget=small, seed=0)
    assert all(evidence.tally.total == 0 for evidence in empty.values())
