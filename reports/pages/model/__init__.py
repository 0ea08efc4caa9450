"""Pages about one model: its certificate, its measurement, its guard."""
