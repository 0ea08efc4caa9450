"""The errors of this room: each is one line and ends with the remedy."""


def printable(text: object) -> str:
    """The text with everything that is no printable character, newlines too, as its escape: it is
    one line, and moves no cursor."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


class InputError(ValueError):
    """Input from the caller that cannot be used; the message is one printable line."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(" ".join(str(message).split())))


class RecordError(InputError):
    """A run record that cannot be read, or one that could not be read back."""
