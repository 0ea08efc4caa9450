"""The error of all rooms for input that cannot be used: one printable line that says what to do."""


def printable(text: object) -> str:
    """The text with everything that is no printable character, newlines too, as its escape: it is
    one line, and moves no cursor."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


class InputError(ValueError):
    """Error for unusable input; the message is one line and says what to do.

    >>> try:
    ...     rnnbounds.certify("model.safetensors", inputs=-1.0)
    ... except rnnbounds.InputError as error:
    ...     print(error)
    """

    __module__ = "rnnbounds"  # its public place, as tracebacks show it

    def __init__(self, message: str) -> None:
        super().__init__(printable(" ".join(str(message).split())))
