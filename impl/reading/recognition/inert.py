"""Objects of a file that are not made, since code would have to run."""


class Inert:
    """An object that a pickle asks for by the name of code, and that is not made."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name
