"""Forms whose assumptions are met by no system at which the tests evaluate them all.

No system of one unit meets them: they need networks of two blocks of units, whose ReLU mixes them
in one, two different steps of a candidate, white inputs, or meromorphic functions. The tests have a
swap of two units for the candidate of two steps.
"""

NO_MODEL = frozenset(
    {
        "instability/divergence",
        "urnn-equivalence/theorem",
        "urnn-sigmoid/excluded",
        "urnn-sigmoid/vector",
        "urnn-tight/needed",
    }
)
