"""Every claim, every part: its proof, each attack on it and on its false variants.

Run as ``pytest properties`` in a checkout or ``pytest --pyargs rnnbounds.properties`` anywhere;
``--bounds-report DIR`` writes the record and the page.
"""

from __future__ import annotations

from itertools import chain

import pytest

from rnnbounds.properties.attacks.attack import chosen_attacks
from rnnbounds.properties.attacks.budget import profile
from rnnbounds.properties.collector import limit_collector
from rnnbounds.properties.judging.judge import Verdict, judge
from rnnbounds.properties.runs.parts import (
    Part,
    chosen_claims,
    encode_result,
    failures,
    plan_parts,
    run_part,
    summarize_result,
)
from rnnbounds.properties.runs.run import heaviest_first
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.table import parse_spec
from rnnbounds.reports.records.checks import Check
from rnnbounds.theory import claim
from rnnbounds.theory.errors import MachineError


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A case for each part of the run that the options describe; workers begin with long ones."""
    option = metafunc.config.getoption
    chosen = chosen_attacks(option("--bounds-attacks").split(","))
    parts = plan_parts(chosen_claims(()), chosen, profile(option("--bounds-profile")))
    metafunc.parametrize("part", heaviest_first(parts), ids=lambda part: part.name)


def test_bounds(part: Part, request: pytest.FixtureRequest) -> None:
    """A claim is proved, its false variants are convicted, and no attack brings it down."""
    option = request.config.getoption
    limit_collector()  # as in any process that carries out a run
    try:
        result = run_part(
            part, profile_name=option("--bounds-profile"), seed=option("--bounds-seed")
        )
    except MachineError as error:  # no verdict: the plugin ends the session
        request.node.user_properties.append(("rnnbounds-machine", str(error)))
        raise
    request.node.user_properties.append(("rnnbounds", encode_result(result).decode()))
    request.node.user_properties += summarize_result(result)
    variants = list(chain.from_iterable(result.variants.values()))
    counterexamples = [variant.counterexample for variant in variants]
    unrepeated = [
        check for check in counterexamples if check is not None and not violates_again(check)
    ]
    faults = [
        *failures(result),
        *(f"{check.form}: not again by {check.replay}" for check in unrepeated),
    ]
    assert not faults, "\n".join([part.name, *faults])


def violates_again(check: Check) -> bool:
    """True if the counter-example of a false variant, rebuilt from its spec, violates it again."""
    variant = claim(check.claim).variant(check.form)
    again = build_batch(parse_spec(check.replay.split("'")[1]))
    verdicts = judge(variant.statement, variant.assumptions, again).verdicts
    return check.verdict == "VIOLATED" and bool((verdicts == Verdict.VIOLATED).any())
