"""Run records: what one run saw, and whether it passes."""
