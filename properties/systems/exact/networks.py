"""Networks in exact rationals: the members of a batch, and the float images that torch runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Self

import numpy as np

from rnnbounds.impl.models.rnn import RNN
from rnnbounds.properties.systems.batch import FAMILY_PARAMETERS, Batch, BatchParts
from rnnbounds.properties.systems.draws import Array
from rnnbounds.properties.systems.exact.members import ExactMember, float_images
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.vanilla.networks import Networks, network_parts


@dataclass(frozen=True, eq=False)
class ExactNetworks(Networks):
    """The float images of members in rationals, and the members, each of all chosen sequences.

    make_member: a member anew, from its number and the place of the one sequence that it has then.
    """

    members: tuple[ExactMember, ...] = field(kw_only=True)
    make_member: Callable[[int, int], ExactMember] = field(kw_only=True)

    @cached_property
    def constants(self) -> list[dict[str, float]]:
        """The certified constants of each member."""
        return [member.constants() for member in self.members]

    @cached_property
    def member_parameters(self) -> list[dict[str, float]]:
        """The parameters in which the members differ."""
        return [member.parameters() for member in self.members]

    def pair(self, i: int, s: int) -> Self:
        """One member with one sequence: it is read at its first."""
        one = super().pair(i, s)
        members = self.members[i : i + 1] if self.h.shape[2] == 1 else (self.make_member(i, s),)
        return replace(one, members=members)

    def constant(self, batch: Batch, name: str) -> Array:
        """The members' own, (B, 1, 1)."""
        given = [known.get(name, np.inf) for known in self.constants]
        return np.array(given).reshape(-1, 1, 1)

    def parameter(self, batch: Batch, name: str) -> Array | None:
        """The members' own, (B, 1, 1), beside the spec's numbers."""
        if name not in FAMILY_PARAMETERS:
            return None
        given = [known.get(name, np.nan) for known in self.member_parameters]
        return np.array(given).reshape(-1, 1, 1)


def exact_members(batch: Batch) -> tuple[ExactMember, ...]:
    """The members in rationals, of the kinds that are decided in them; none of others."""
    return batch.systems.members if isinstance(batch.systems, ExactNetworks) else ()


def is_vanilla(batch: Batch) -> bool:
    """True if the systems are vanilla networks in float64."""
    return isinstance(batch.systems.cell, RNN) and not isinstance(batch.systems, ExactNetworks)


def exact_networks(
    make_member: Callable[[SystemSpec, int], ExactMember], spec: SystemSpec, device: str = "cpu"
) -> BatchParts:
    """The members, in rationals, that a spec and a number each make, and their float images."""
    members = tuple(make_member(spec, i) for i in spec.members)

    def make_pair(i: int, s: int) -> ExactMember:
        return make_member(spec.select_pair(spec.members[i], s), spec.members[i])

    make = partial(ExactNetworks, members=members, make_member=make_pair)
    return network_parts(spec, float_images(members), device, make)
