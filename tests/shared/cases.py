"""Which cases of the tests are traced."""

from collections import defaultdict
from collections.abc import Iterable

CASES = 4


def few(ids: Iterable[str]) -> set[str]:
    """Of a test with many cases some from the first to the last, of others all."""
    of_test = defaultdict(list)
    for case in ids:
        of_test[case.partition("[")[0]].append(case)
    return {case for same in of_test.values() for case in same[:: -(-len(same) // CASES)]}
