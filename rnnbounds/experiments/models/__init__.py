"""Models that people train, each with an answer: how long it remembers, and what to do next."""
