"""Sizes of fused programs: which cells have a kernel, and how many units a program keeps."""

GATES = {"linear": 1, "rnn-tanh": 1, "rnn-relu": 1, "gru": 3, "lstm": 4}
ROWS = 16  # chunks a program
MOST_ENTRIES, _ENTRIES_OF_FOUR_WARPS = 16384, 8192


def padded(n: int) -> int:
    """The power of two, at least 16, that a program computes with."""
    return max(16, 1 << (n - 1).bit_length())


def entries(cell: str, n: int) -> int:
    """g P² for the g gates of a cell, and n padded to P."""
    return GATES[cell] * padded(n) ** 2


def warps(count: int) -> int:
    """The warps of a program with so many entries, enough that no register spills."""
    return 4 if count <= _ENTRIES_OF_FOUR_WARPS else 8
