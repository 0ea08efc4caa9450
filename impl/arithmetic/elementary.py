"""What numbers of all kinds share: elementary functions by name, and parts of their units."""

from abc import ABC, abstractmethod
from typing import Self


class Elementary(ABC):
    """A vector of units, of one kind of number."""

    @abstractmethod
    def function(self, name: str) -> Self:
        """The elementary function of that name, entry by entry."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many units."""

    @abstractmethod
    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""

    def chunk(self, count: int) -> tuple[Self, ...]:
        """So many equal parts of the units."""
        size = self.size // count
        return tuple(self.part(i * size, (i + 1) * size) for i in range(count))

    def sigmoid(self) -> Self:
        """1/(1 + e⁻ᵃ)."""
        return self.function("sigmoid")

    def tanh(self) -> Self:
        """tanh a."""
        return self.function("tanh")

    def exp(self) -> Self:
        """eᵃ."""
        return self.function("exp")

    def softplus(self) -> Self:
        """log(1 + eᵃ)."""
        return self.function("softplus")

    def sin(self) -> Self:
        """sin a."""
        return self.function("sin")

    def cos(self) -> Self:
        """cos a."""
        return self.function("cos")

    def reciprocal(self) -> Self:
        """1/a."""
        return self.function("reciprocal")
