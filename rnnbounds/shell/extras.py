"""Libraries that extras bring: what needs one that is missing says so in one line, at once."""

from __future__ import annotations

from importlib.util import find_spec

EXTRAS = {
    "theory": ("z3", "hypothesis", "matplotlib"),
    "test": ("hypothesis", "pytest"),
    "plot": ("matplotlib",),
}
"""Libraries by extra; what serves and certifies models needs none of them."""


class MissingExtraError(ImportError):
    """A library that an extra brings is not installed; the message is one line."""


def require_extra(extra: str, what: str) -> None:
    """Raise MissingExtraError unless all libraries of the extra are installed, which `what` needs.

    Nothing is imported.
    """
    for library in EXTRAS[extra]:
        if find_spec(library) is None:
            remedy = f"pip install 'rnnbounds[{extra}]'"
            raise MissingExtraError(f"{what} needs {library}; install it with: {remedy}")
