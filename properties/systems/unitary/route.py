"""Networks that are decided in rationals, from their members."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.drawing.regimes import Array
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.supply.parameters import OF_FAMILIES
from rnnbounds.properties.systems.supply.route import Parts, Route
from rnnbounds.properties.systems.unitary.exact import Exact, ExactNetworks, images
from rnnbounds.properties.systems.vanilla.route import networks


@dataclass(frozen=True, eq=False)
class ExactRoute(Route):
    """Batch in rationals, made from a spec and a number each."""

    member: Callable[[SystemSpec, int], Exact]
    rational: ClassVar[bool] = True

    def parts(self, spec: SystemSpec, device: str) -> Parts:
        """The members and their float images."""
        members = tuple(self.member(spec, i) for i in spec.members)
        found = networks(spec, images(members), device)

        def again(i: int, s: int) -> Exact:
            return self.member(spec.alone(spec.members[i], s), spec.members[i])

        exact = ExactNetworks(**vars(found.systems), members=members, made=again)
        return found._replace(systems=exact)

    def constant(self, batch: Batch, name: str) -> Array:
        """The members' own, (B, 1, 1)."""
        assert isinstance(batch.systems, ExactNetworks)
        given = [known.get(name, np.inf) for known in batch.systems.constants]
        return np.array(given).reshape(-1, 1, 1)

    def parameter(self, batch: Batch, name: str) -> Array:
        """The members' own, (B, 1, 1), beside the spec's numbers."""
        assert isinstance(batch.systems, ExactNetworks)
        if name not in OF_FAMILIES:
            return super().parameter(batch, name)
        given = [known.get(name, np.nan) for known in batch.systems.differing]
        return np.array(given).reshape(-1, 1, 1)
