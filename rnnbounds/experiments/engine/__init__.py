"""Engine of all experiments: one trainer, one record type, one page layout, and resuming."""
