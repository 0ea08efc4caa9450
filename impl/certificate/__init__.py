"""Reading a model, certifying it, refuting it."""
