"""Checks counted by verdict."""

from typing import Annotated

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""How many; what is beyond a machine's integer was not counted, and cannot be drawn."""


class Tally(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Checks counted by verdict."""

    holds: Count = 0
    violated: Count = 0
    undecided: Count = 0
    vacuous: Count = 0

    @property
    def total(self) -> int:
        """All checks, VACUOUS ones included."""
        return self.holds + self.violated + self.undecided + self.vacuous

    def merge(self, other: "Tally") -> "Tally":
        """The tally of both parts together."""
        return Tally(
            holds=self.holds + other.holds,
            violated=self.violated + other.violated,
            undecided=self.undecided + other.undecided,
            vacuous=self.vacuous + other.vacuous,
        )
