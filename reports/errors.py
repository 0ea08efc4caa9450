"""The errors of this room: each is one line and ends with the remedy."""


class InputError(ValueError):
    """What the caller gave cannot be used."""


class RecordError(InputError):
    """A run record that cannot be read, or one that could not be read back."""
