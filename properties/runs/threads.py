"""One thread a process, for work that is shared among processes."""

import os

# What libraries of linear algebra ask how many threads they may start: as many processes each
# starting as many as there are cores would get in one another's way.
ASKED = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def one_each() -> None:
    """Let libraries that are not loaded yet start none, here and in processes to come."""
    os.environ |= dict.fromkeys(ASKED, "1")
