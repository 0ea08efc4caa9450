"""Counts in words, for pages and for what is said of a run."""


def count(value: int) -> str:
    """Thousands grouped: 1,234,567."""
    return f"{value:,}"


def plural(value: int, noun: str) -> str:
    """1 step, 2 steps."""
    return f"{count(value)} {noun}" if value == 1 else f"{count(value)} {noun}s"
