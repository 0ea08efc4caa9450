"""What all experiments share: one trainer, one kind of record, one kind of page, and resuming."""
