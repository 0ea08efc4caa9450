"""The quick attack of some claims, up to the first conviction: a script, run beside planted code.

    python planted_attack.py '{"claims": [...], "attacks": [...], "kinds": [...]}'

The systems are those of `rnnbounds verify CLAIM --profile quick`, seed 0, in the same order; kinds
that are not named are left out. Its last line is a JSON object: the claim, form, verdict, attack
and replay command of the first violation, or else what was seen.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rnnbounds import impl
from rnnbounds.properties.attacks import campaign, extremal, search
from rnnbounds.properties.attacks.budget import PROFILES
from rnnbounds.properties.errors import BoxError, DisagreementError
from rnnbounds.properties.judging.evidence import Evidence
from rnnbounds.properties.systems.table import kinds_about
from rnnbounds.theory import claim

VERDICTS = ("VACUOUS", "HOLDS", "UNDECIDED", "VIOLATED", "BoxError", "DisagreementError")
FINAL = VERDICTS[3:]


class Convicted(BaseException):
    """Raised at the first violation, through whatever draws systems."""


def members(kind: str) -> tuple[str, ...]:
    """The kinds that a form is about."""
    return tuple(one.name for one in kinds_about(kind))


def only(kinds: tuple[str, ...]) -> None:
    """Leave out the systems of all other kinds."""
    pools, drawn, worst = campaign.claim_pools, search.visit_random_specs, extremal.extremal_specs

    def pools_of(*asked: Any) -> dict[Any, Any]:
        found = pools(*asked).items()
        return {pool: some for pool, some in found if set(members(pool.kind_name)) & set(kinds)}

    def random_specs(kind: str, *args: Any, **options: Any) -> bool:
        return kind not in kinds or drawn(kind, *args, **options)  # type: ignore[arg-type]

    def extremal_specs(*args: Any, **options: Any) -> Iterator[Any]:
        return (spec for spec in worst(*args, **options) if spec.kind in kinds)

    campaign.claim_pools = pools_of
    search.visit_random_specs = random_specs
    extremal.extremal_specs = extremal_specs


def watched() -> None:
    """Stop at the first violation."""
    add = Evidence.add_batch

    def stop(self: Evidence, *seen: Any) -> None:
        add(self, *seen)
        if self.tally.violated:
            raise Convicted(self.form, self.failing[0].replay)

    Evidence.add_batch = stop  # type: ignore[method-assign]


def attacked(name: str, attack: str) -> dict[str, Any]:
    """What one attack on one claim found."""
    told: dict[str, Any] = {"claim": name, "attack": attack}
    try:
        seen = campaign.attack_claim(claim(name), attack, budget=PROFILES["quick"], seed=0)
    except Convicted as found:
        form, replay = found.args
        return told | {"form": form, "verdict": "VIOLATED", "replay": replay}
    except (BoxError, DisagreementError) as error:
        return told | {"form": "", "verdict": type(error).__name__, "replay": str(error)}
    undecided = [form for form, evidence in seen.items() if evidence.tally.undecided]
    holds = sum(evidence.tally.holds for evidence in seen.values())
    if undecided:
        replay = seen[undecided[0]].failing[0].replay
        return told | {"form": undecided[0], "verdict": "UNDECIDED", "replay": replay}
    return told | {"form": "", "verdict": "HOLDS" if holds else "VACUOUS", "checks": holds}


def main() -> int:
    """0 if nothing was found, 1 at a conviction."""
    asked = json.loads(sys.argv[1])
    home = str(Path(impl.__file__).resolve().parents[1])
    if home != str(Path(asked["home"]).resolve()):
        raise SystemExit(f"the attack imported the code of {home}")
    watched()
    if asked["kinds"]:
        only(tuple(asked["kinds"]))
    found: dict[str, Any] = {}
    for attack in asked["attacks"]:
        for name in asked["claims"]:
            told = attacked(name, attack)
            found = max(found or told, told, key=lambda one: VERDICTS.index(one["verdict"]))
            if found["verdict"] in FINAL:
                print(json.dumps(found))
                return 1
    print(json.dumps(found))
    return int(found["verdict"] == "UNDECIDED")


if __name__ == "__main__":
    sys.exit(main())
