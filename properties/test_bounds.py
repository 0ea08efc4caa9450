"""Every claim, every part: its proof, its false variants, each attack on it.

Run as ``pytest properties`` in a checkout or ``pytest --pyargs properties`` anywhere;
``--bounds-report DIR`` writes the record and the page.
"""

from __future__ import annotations

import pytest

from properties.attacks.table import attacks, check_attacks
from properties.runs.parts import (
    Part,
    chosen_claims,
    encode_result,
    failures,
    parts_of,
    run_part,
)

PARTS = parts_of(chosen_claims(()), tuple(attacks()))


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_bounds(part: Part, request: pytest.FixtureRequest) -> None:
    """A claim is proved, its false variants are convicted, and no attack brings it down."""
    option = request.config.getoption
    chosen = check_attacks(option("--bounds-attacks").split(","))
    if part.work in attacks() and part.work not in chosen:
        pytest.skip(f"the {part.work} attack was not chosen")
    result = run_part(part, profile_name=option("--bounds-profile"), seed=option("--bounds-seed"))
    request.node.user_properties.append(("rnnbounds", encode_result(result).decode()))
    found = failures(result)
    assert not found, "\n".join([part.name, *found])
