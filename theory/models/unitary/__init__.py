"""Networks and their unitary candidates: patterns, relations between units, ranks."""
