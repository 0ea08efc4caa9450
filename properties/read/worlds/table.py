"""The table of worlds: which class reads a batch."""

from __future__ import annotations

from rnnbounds.properties.read.carrier import Carrier
from rnnbounds.properties.read.reader import World
from rnnbounds.properties.read.worlds.networks import WORLDS, MemberWorld
from rnnbounds.properties.read.worlds.projected import ProjectedWorld
from rnnbounds.properties.read.worlds.recurrent import RecurrentWorld
from rnnbounds.properties.systems.batch import Batch


def make_world(batch: Batch, carrier: Carrier, pair: tuple[int, int]) -> World:
    """The world of a batch in a carrier, or of one pair where members are in rationals."""
    if batch.exact:
        i, s = pair
        member = batch.exact[i]
        return WORLDS.get(type(member), MemberWorld)(member, s, carrier)
    if batch.spec.kind == "projection":
        return ProjectedWorld(batch, carrier)
    return RecurrentWorld(batch, carrier)
