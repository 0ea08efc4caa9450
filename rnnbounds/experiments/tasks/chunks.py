"""Chunks that tags O, B-TYPE and I-TYPE mark, as the shared task of CoNLL-2000 counts them."""

from collections.abc import Iterable, Iterator


def count_chunks(told: Iterable[str], true: Iterable[str]) -> tuple[int, int, int]:
    """How many chunks are right, told and true: right is one of that type, start and end."""
    mine, right = set(chunks(told)), set(chunks(true))
    return len(mine & right), len(mine), len(right)


def chunks(tags: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    """(type, first, one past the last). An I- that continues nothing of its type begins a chunk.

    Source: Tjong Kim Sang & Buchholz, Introduction to the CoNLL-2000 shared task, its conlleval.
    """
    kind, first, at = "", 0, -1
    for at, tag in enumerate(tags):
        mark, _, now = tag.partition("-")
        if kind and (mark != "I" or now != kind):
            yield kind, first, at
            kind = ""
        if mark in ("B", "I") and not kind:
            kind, first = now, at
    if kind:
        yield kind, first, at + 1
