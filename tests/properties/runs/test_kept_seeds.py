"""Systems that some seed drew and that the suite once could not decide: each is kept, and holds."""

from __future__ import annotations

import pytest

from rnnbounds.properties.runs.replay import find_statement, replay

# (claim, form, spec): what a run printed for replaying.
KEPT = (
    # ELU above 0 at h, if not at h′: both sides are the root of one rational.
    (
        "cell-constants",
        "weights",
        '{"kind":"gradient","n":1,"d":1,"T":64,"seed":8604754902744,"batch":4,"sequences":2,'
        '"member":0,"sequence":1,"activation":"elu","K":32,"regime":"block","inputs":"resonant",'
        '"lam":0.9,"scale":0.0009765625,"bias":0.5,"distance":1.0,"target":0.0}',
    ),
)


@pytest.mark.parametrize(("claim", "form", "spec"), KEPT)
def test_what_was_undecided_once_holds(claim: str, form: str, spec: str) -> None:
    """Every check of the system is decided, and well; some windows may be too short to ask."""
    found = replay(spec, *find_statement(claim, form), claim, form)
    assert {check.verdict for check in found.checks} - {"VACUOUS"} == {"HOLDS"}
