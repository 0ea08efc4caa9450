"""What a batch of systems is, and what is supplied of it beside its cells' own constants."""
