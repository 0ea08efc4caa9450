"""Networks that are decided in rationals, from their members."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.drawing.draws import Array
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.supply.parameters import FAMILY_PARAMETERS
from rnnbounds.properties.systems.supply.route import BatchParts, Route
from rnnbounds.properties.systems.unitary.exact import ExactMember, ExactNetworks, float_images
from rnnbounds.properties.systems.vanilla.route import network_parts


@dataclass(frozen=True, eq=False)
class ExactRoute(Route):
    """Batch in rationals, made from a spec and a number each."""

    member: Callable[[SystemSpec, int], ExactMember]
    rational: ClassVar[bool] = True

    def build_parts(self, spec: SystemSpec, device: str) -> BatchParts:
        """The members and their float images."""
        members = tuple(self.member(spec, i) for i in spec.members)
        found = network_parts(spec, float_images(members), device)

        def make_pair(i: int, s: int) -> ExactMember:
            return self.member(spec.select_pair(spec.members[i], s), spec.members[i])

        exact = ExactNetworks(**vars(found.systems), members=members, make_member=make_pair)
        return found._replace(systems=exact)

    def constant(self, batch: Batch, name: str) -> Array:
        """The members' own, (B, 1, 1)."""
        assert isinstance(batch.systems, ExactNetworks)
        given = [known.get(name, np.inf) for known in batch.systems.constants]
        return np.array(given).reshape(-1, 1, 1)

    def parameter(self, batch: Batch, name: str) -> Array:
        """The members' own, (B, 1, 1), beside the spec's numbers."""
        assert isinstance(batch.systems, ExactNetworks)
        if name not in FAMILY_PARAMETERS:
            return super().parameter(batch, name)
        given = [known.get(name, np.nan) for known in batch.systems.member_parameters]
        return np.array(given).reshape(-1, 1, 1)
