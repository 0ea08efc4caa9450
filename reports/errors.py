"""The errors of this room: each is one line and ends with the remedy."""

from rnnbounds.errors import InputError as InputError


class RecordError(InputError):
    """A run record that cannot be read, or one that could not be read back."""
