"""Parts of a run's page, made from its record alone."""
