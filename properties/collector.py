"""Settings of the garbage collector and of the allocator for processes that run many batches."""

import gc
from contextlib import suppress
from ctypes import CDLL
from functools import cache

COLLECTION_THRESHOLD = 20_000  # objects made before a process looks for those that nothing reaches
# M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of glibc, in bytes: what is kept free, and mapped by itself.
MALLOC_OPTIONS = {-1: 2**28, -3: 2**25}


@cache
def limit_collector() -> None:
    """For a process that carries out a run, or hands it out: its collector looks at what parts make
    alone, and what is freed is kept: the pages of each batch would be lent, and cleared, anew."""
    gc.freeze()
    gc.set_threshold(COLLECTION_THRESHOLD)
    with suppress(AttributeError, OSError, TypeError):  # glibc's alone
        mallopt = CDLL(None).mallopt
        for setting, value in MALLOC_OPTIONS.items():
            mallopt(setting, value)
