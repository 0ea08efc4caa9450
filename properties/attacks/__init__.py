"""The attacks, by name: each yields batches for the judge."""
