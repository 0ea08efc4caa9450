"""The trust base: the norm's certificate and the rounding of a rollout."""
