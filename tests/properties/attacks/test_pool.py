"""Pools: who asks alike is shown the same, in blocks, and leaves when it has had enough."""

from dataclasses import replace

import pytest

from rnnbounds.properties.attacks.budget import PROFILES, Budget
from rnnbounds.properties.attacks.campaign import (
    BLOCK_EXAMPLES,
    attack_block_count,
    attack_pool,
    block_budget,
    claim_pools,
    empty_evidence,
    pool_for,
)
from rnnbounds.properties.judging.evidence import judge_forms
from rnnbounds.properties.judging.judge import Judgement, judge
from rnnbounds.properties.systems.batch import Batch, build_batch
from rnnbounds.properties.systems.table import kinds_about, make_spec
from rnnbounds.theory import CLAIMS, claim

QUICK = PROFILES["quick"]
FORM = claim("state-bound").form("finite")


def shown(budget: Budget, block: int = 0, most: float = 1e9, about: str = "rnn") -> list[str]:
    """The specs of a block of random systems that one who wants so many of each kind judges."""
    found: list[str] = []

    def judged(batch: Batch) -> list[Judgement]:
        found.append(batch.spec.text)
        return [judge(FORM.statement, (), batch)]

    pool = replace(pool_for([FORM], budget), kind_name=about)
    attack_pool(
        pool, "random", [FORM.statement], judged, budget=budget, seed=0, block=block, most=most
    )
    return found


def test_who_asks_alike_shares_a_pool() -> None:
    """Forms of several claims do; one that asks for smaller batches or other systems is apart."""
    pools = [
        claim_pools(claim(id), QUICK) for id in ("state-bound", "prediction", "receptive-field")
    ]
    plain, same, slow = (next(p for p in found if p.kind_name == "rnn") for found in pools)
    assert plain == same
    assert plain.name == f"rnn-{QUICK.batch}x{QUICK.sequences}"
    assert slow.name == "rnn-4x2"
    assert len({pool.name for found in pools for pool in found}) == len(
        {pool for found in pools for pool in found}
    )


def test_breadth_is_of_plain_pools_alone() -> None:
    """More sequences where few are asked of nobody, as in pools without a costly quantity."""
    entry = claim("truncation")
    sizes = {pool.kind_name: pool.example_size for pool in claim_pools(entry, QUICK)}
    assert sizes["rnn"] == (QUICK.batch, entry.sequence_factor * QUICK.sequences)
    assert sizes["cell"] == (16, 2)


@pytest.mark.slow
def test_blocks_go_on_where_the_last_one_ended(small: Budget) -> None:
    """As many examples as the budget has, each once in a block; the simplest in the first alone."""
    more = replace(small, random=2 * BLOCK_EXAMPLES)
    blocks = [shown(more, block) for block in range(2)]
    seen = [spec for block in blocks for spec in block]
    assert len(set(seen)) == len(seen)
    assert [len(block) for block in blocks] == [BLOCK_EXAMPLES] * 2
    assert shown(more, 1) == blocks[1]
    for entry in CLAIMS:
        for group in claim_pools(entry, QUICK).values():
            blocks_asked = attack_block_count("random", group, QUICK)
            block = block_budget(QUICK).random
            assert 0 <= blocks_asked * block - group.examples < block or blocks_asked == 1


def test_who_has_had_its_examples_leaves(small: Budget) -> None:
    """It is shown the first ones of those that another sees; of a family, so many of each kind."""
    assert shown(small, most=2) == shown(small)[:2]
    kinds = len(kinds_about("cell"))
    assert len(shown(small, most=1, about="cell")) == kinds


def test_what_a_form_costs_beside_the_first() -> None:
    """A bound has its price in those of the first form; a target, which is no bound, has none."""
    truncation = claim("truncation")
    (group,) = (
        one for pool, one in claim_pools(truncation, QUICK).items() if pool.kind_name == "rnn"
    )
    seen = empty_evidence(truncation, group.forms)
    spec = make_spec(n=2, T=16, K=16, lam=0.5, sequences=2, batch=2)
    judge_forms(group.forms, seen, build_batch(spec))
    assert {name: one.cost is not None for name, one in seen.items()} == {
        "finite": False, "uniform": True, "window": False, "window-finite": False, "paper": False,
    }  # fmt: skip
    assert all(one.tally.holds for one in seen.values())
