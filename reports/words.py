"""Counts in words, for pages and for what is said of a run."""


def count(value: int) -> str:
    """Thousands grouped: 1,234,567."""
    return f"{value:,}"


def capitalise(sentence: str) -> str:
    """The sentence with a capital first letter, if that is one of ASCII: λ is a symbol."""
    return sentence[:1].upper() + sentence[1:] if sentence[:1].isascii() else sentence


def plural(value: int, noun: str) -> str:
    """1 step, 2 steps."""
    return f"{count(value)} {noun}" if value == 1 else f"{count(value)} {noun}s"
